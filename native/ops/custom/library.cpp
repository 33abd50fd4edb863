// Loads others' libraries and checks their tables.

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>

#include "core/add_operator.h"
#include "device/custom/sampler.h"
#include "ops/custom/operators.h"

namespace ps::custom {
namespace {

constexpr int kMostInputs = 64, kMostOutputs = 64, kMostChannels = 16;
constexpr uint32_t kMostParams = 1 << 16, kMostMap = sizeof(device::CustomMapBytes);

// Of all libraries. They are kept until the process ends, so pointers into them stay valid.
struct Kept {
  std::mutex mutex;
  std::deque<penstock_operator> operators;
  std::deque<penstock_argument> arguments;
  std::deque<penstock_value> values;
  std::deque<std::vector<const penstock_argument*>> lists;
  std::map<const penstock_library*, Table> tables;
};

Kept& kept() {
  static auto& one = *new Kept;
  return one;
}

[[noreturn]] void refuse(const std::string& problem) { fail(ErrorKind::argument, problem); }

// How large the structs have been at first, which is what a library must have at least. Members that come behind that
// are optional.
template <class T> inline constexpr uint32_t kFirstSize = 0;
template <> inline constexpr uint32_t kFirstSize<penstock_value> = 48;
template <> inline constexpr uint32_t kFirstSize<penstock_argument> = 40;
template <> inline constexpr uint32_t kFirstSize<penstock_operator> = 144;
template <> inline constexpr uint32_t kFirstSize<penstock_library> = 24;

// The struct as this library knows it: what it has more than the giver's is 0, and what it lacks must be 0.
template <class T> T whole(const T* given, const std::string& name) {
  static_assert(kFirstSize<T> && kFirstSize<T> <= sizeof(T));
  if (!given) refuse(name + " is null");
  uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < kFirstSize<T>)
    refuse(name + " says that it has " + std::to_string(size) + " bytes, expected " + std::to_string(kFirstSize<T>) +
           " or more: its first member must be its sizeof");
  if (size > 1 << 16) refuse(name + " says that it has " + std::to_string(size) + " bytes");
  const auto* bytes = reinterpret_cast<const uint8_t*>(given);
  for (uint32_t i = sizeof(T); i < size; i++)
    if (bytes[i]) refuse(name + " uses what a newer Penstock has: this one is too old for the library");
  T copy{};
  std::memcpy(static_cast<void*>(&copy), given, std::min<size_t>(size, sizeof copy));
  return copy;
}

bool is_word(const char* text) {
  if (!text || !(std::isalpha(uint8_t(*text)) || *text == '_')) return false;
  for (; *text; text++)
    if (!std::isalnum(uint8_t(*text)) && *text != '_') return false;
  return true;
}

bool is_name(const char* text) {                     // words with dots between
  std::string part;
  for (const char* p = text; p && (*p || p != text); p++) {
    if (*p && *p != '.') {
      part += *p;
      continue;
    }
    if (!is_word(part.c_str())) return false;
    if (!*p) return true;
    part.clear();
  }
  return false;
}

const penstock_value* checked_default(const penstock_argument& a, const std::string& name) {
  penstock_value v = whole(a.default_value, name + ": its default");
  const bool many = a.kind >= PENSTOCK_INTEGERS;
  if (v.count < 0 || v.count > 1 << 16 || (!many && v.count != 1))
    refuse(name + ": its default has " + std::to_string(v.count) + " values");
  const bool texts = a.kind == PENSTOCK_STRING || a.kind == PENSTOCK_STRINGS;
  const bool numbers = a.kind == PENSTOCK_NUMBER || a.kind == PENSTOCK_NUMBERS;
  if (v.count && !(texts ? v.strings != nullptr : numbers ? v.numbers != nullptr : v.integers != nullptr))
    refuse(name + ": its default is not of its kind");
  for (int64_t k = 0; texts && k < v.count; k++)
    if (!v.strings[k]) refuse(name + ": its default is null");
  Kept& all = kept();
  all.values.push_back(v);
  return &all.values.back();
}

const penstock_argument* checked(const penstock_argument* given, const std::string& of) {
  penstock_argument a = whole(given, of + ": an argument");
  if (!is_word(a.name))
    refuse(of + ": an argument is called '" + (a.name ? a.name : "") + "': expected a name of Python's");
  const std::string name = of + ": argument '" + a.name + "'";
  if (!a.doc) refuse(name + " has no doc");
  if (a.kind < PENSTOCK_BOOLEAN || a.kind > PENSTOCK_STRINGS) refuse(name + " is of no kind " + std::to_string(a.kind));
  if (a.flags & ~uint32_t(PENSTOCK_REQUIRED | PENSTOCK_PER_SAMPLE))
    refuse(name + " has flags that are not known: " + std::to_string(a.flags));
  const bool texts = a.kind == PENSTOCK_STRING || a.kind == PENSTOCK_STRINGS || a.kind == PENSTOCK_DTYPE;
  if (texts && a.flags & PENSTOCK_PER_SAMPLE) refuse(name + ": only booleans and numbers can be given per sample");
  if (a.default_value && a.flags & PENSTOCK_REQUIRED) refuse(name + " is required, and has a default");
  if (a.default_value) a.default_value = checked_default(a, name);
  Kept& all = kept();
  all.arguments.push_back(a);
  return &all.arguments.back();
}

void check_general(const penstock_operator& op, const std::string& name) {
  if (!op.setup) refuse(name + " has no setup()");
  if (!op.run && !op.run_gpu) refuse(name + " has neither run() nor run_gpu()");
  if (op.run_gpu && op.setup_reads & ~op.cpu_inputs)
    refuse(name + ": what its setup_reads names must be among its cpu_inputs");
}

void check_pixel(const penstock_operator& op, const std::string& name) {
  if (op.least_inputs != 1 || op.most_inputs != 1 || op.num_outputs != 1)
    refuse(name + ": an operator on pixels has one input and one output");
  const bool sampler = op.kind == PENSTOCK_SAMPLER;
  if (sampler && !op.positions) refuse(name + " has no positions()");
  if (!sampler && !op.row) refuse(name + " has no row()");
  if (op.run || op.run_gpu) refuse(name + ": an operator on pixels has row(), not run() or run_gpu()");
  if (op.setup_reads || op.cpu_inputs) refuse(name + ": of an operator on pixels setup_reads and cpu_inputs are 0");
  if (op.channels && (sampler || op.channels < 2 || op.channels > kMostChannels))
    refuse(name + ": channels=" + std::to_string(op.channels) + ": expected 0, or 2 to 16");
  if (sampler && op.params_bytes > kMostMap)
    refuse(name + ": params_bytes=" + std::to_string(op.params_bytes) + ": at most " + std::to_string(kMostMap));
  const uint32_t align = op.params_align;
  if (!op.params_bytes || !align || align & (align - 1) || align > 16 || op.params_bytes % align)
    refuse(name + ": no struct has " + std::to_string(op.params_bytes) + " bytes and is aligned to " +
           std::to_string(align) + ", or to 16 at most");
  if (!op.device_source != !op.device_type || (op.device_type && !is_word(op.device_type)))
    refuse(name + ": device_source goes with device_type, the name of a struct in it");
}

const penstock_operator* checked(const penstock_operator* given, int number) {
  std::string name = "operator " + std::to_string(number);
  penstock_operator op = whole(given, name);
  if (!is_name(op.name))
    refuse(name + " is called '" + (op.name ? op.name : "") + "': expected a name such as 'sepia' or 'mine.sepia'");
  name += " ('" + std::string(op.name) + "')";
  if (!op.doc) refuse(name + " has no doc");
  if (op.kind < PENSTOCK_GENERAL || op.kind > PENSTOCK_SAMPLER)
    refuse(name + " is of no kind " + std::to_string(op.kind));
  if (op.flags & ~uint32_t(PENSTOCK_RANDOM))
    refuse(name + " has flags that are not known: " + std::to_string(op.flags));
  if (op.least_inputs < 0 || op.most_inputs < op.least_inputs || op.most_inputs > kMostInputs)
    refuse(name + " takes " + std::to_string(op.least_inputs) + " to " + std::to_string(op.most_inputs) +
           " inputs: 0 to " + std::to_string(kMostInputs) + " can be");
  if (op.num_outputs < 1 || op.num_outputs > kMostOutputs)
    refuse(name + " has " + std::to_string(op.num_outputs) +
           " outputs: 1 to " + std::to_string(kMostOutputs) + " can be");
  if (op.params_bytes > kMostParams)
    refuse(name + ": params_bytes=" + std::to_string(op.params_bytes) + ": at most " + std::to_string(kMostParams));
  if (op.num_arguments < 0 || op.num_arguments > 1024 || (op.num_arguments && !op.arguments))
    refuse(name + " has " + std::to_string(op.num_arguments) + " arguments, or none at all");
  op.kind == PENSTOCK_GENERAL ? check_general(op, name) : check_pixel(op, name);
  std::vector<const penstock_argument*> arguments;
  std::set<std::string> names;
  for (int i = 0; i < op.num_arguments; i++) {
    arguments.push_back(checked(op.arguments[i], name));
    if (!names.insert(arguments.back()->name).second)
      refuse(name + " has two arguments '" + arguments.back()->name + "'");
  }
  Kept& all = kept();
  all.lists.push_back(std::move(arguments));
  op.arguments = all.lists.back().data();
  all.operators.push_back(op);
  return &all.operators.back();
}

Table checked(const penstock_library& given) {
  if (given.abi != PENSTOCK_OPERATOR_ABI)
    refuse("it was compiled for version " + std::to_string(given.abi) +
           " of operator.h, and this Penstock knows version " + std::to_string(PENSTOCK_OPERATOR_ABI) +
           ": compile it again");
  if (given.size < kFirstSize<penstock_library>)
    refuse("its table says that it has " + std::to_string(given.size) + " bytes");
  if (given.num_operators < 1 || given.num_operators > 4096 || !given.operators)
    refuse("its table has " + std::to_string(given.num_operators) + " operators");
  Table table;
  std::set<std::string> names;
  for (int i = 0; i < given.num_operators; i++) {
    table.push_back(checked(given.operators[i], i));
    if (!names.insert(table.back()->name).second)
      refuse("it has two operators '" + std::string(table.back()->name) + "'");
  }
  return table;
}

}  // namespace

const Table& load_library(const std::string& path, bool global_symbols) {
  void* library = dlopen(path.c_str(), RTLD_NOW | (global_symbols ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!library) {
    const char* reason = dlerror();
    refuse(reason ? reason : "it cannot be loaded");
  }
  using Entry = const penstock_library* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "penstock_operators"));
  if (!entry)
    refuse("it exports no function penstock_operators(), so it is no library of operators: see "
           "docs/custom-operators.md");
  const penstock_library* given = nullptr;
  try {
    given = entry();
  } catch (const std::exception& e) {
    refuse(std::string("an exception comes out of its penstock_operators(): ") + e.what());
  } catch (...) {
    refuse("an exception comes out of its penstock_operators()");
  }
  if (!given) refuse("its penstock_operators() gives null");
  return take_library(given);
}

const Table& take_library(const penstock_library* given) {
  Kept& all = kept();
  std::lock_guard lock(all.mutex);
  const auto known = all.tables.find(given);
  return known != all.tables.end() ? known->second : all.tables.emplace(given, checked(*given)).first->second;
}

void add(const penstock_operator& op, const std::string& name) {
  const auto make = op.kind == PENSTOCK_PIXEL ? make_pixel : op.kind == PENSTOCK_SAMPLER ? make_sampler : make_general;
  put_operator(name, [&op, make](const Spec& spec) { return make(op, spec); }, {op.least_inputs, op.most_inputs},
               {op.num_outputs, op.num_outputs});
}

}  // namespace ps::custom
