#include "core/operator.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/add_operator.h"
#include "core/half.h"

namespace ps {
namespace {

struct Registered {
  Maker make;
  Count inputs, outputs;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Registered, std::less<>> all;
};

Registry& registry() {
  static Registry one;
  return one;
}

Registered find(std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.all.find(name);
  if (it == r.all.end()) fail(ErrorKind::internal, "no kernel is named '" + std::string(name) + "'");
  return it->second;
}

[[noreturn]] void refuse(ErrorKind kind, std::string_view name, const std::string& problem) {
  fail(kind, (name.empty() ? "" : std::string(name) + ": ") + problem);
}

// A float as a whole number: its fraction is cut off.
template <class T, class F> T truncated(F v, std::string_view name) {
  if constexpr (std::is_integral_v<T>) {
    constexpr double limit = 9223372036854775808.0;             // 2^63; not-a-number is not less either
    if (!(double(v) >= -limit && double(v) < limit))
      refuse(ErrorKind::argument, name, "expected a whole number, got " + std::to_string(double(v)));
  }
  return T(v);
}

void check_count(const char* what, int n, Count count) {
  if (count.has(n)) return;
  std::string wanted = std::to_string(count.least);
  if (count.most > count.least) wanted += " to " + std::to_string(count.most);
  fail(ErrorKind::argument, "it has " + std::to_string(n) + " " + what + ", expected " + wanted);
}

// Others' memory may lie anywhere.
template <class T> T load(const Tensor& t, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const T*>(t.data) + i, sizeof value);
  return value;
}

template <class T> T read(const Tensor& t, int64_t i, std::string_view name) {
  switch (t.dtype) {
    case DType::u8: case DType::boolean: return T(load<uint8_t>(t, i));
    case DType::u16: return T(load<uint16_t>(t, i));
    case DType::u32: return T(load<uint32_t>(t, i));
    case DType::u64: return T(load<uint64_t>(t, i));
    case DType::i8: return T(load<int8_t>(t, i));
    case DType::i16: return T(load<int16_t>(t, i));
    case DType::i32: return T(load<int32_t>(t, i));
    case DType::i64: return T(load<int64_t>(t, i));
    case DType::f16: return truncated<T>(float(load<half>(t, i)), name);
    case DType::f32: return truncated<T>(load<float>(t, i), name);
    case DType::f64: return truncated<T>(load<double>(t, i), name);
    default: refuse(ErrorKind::type, name, std::string("expected numbers, got ") + name_of(t.dtype));
  }
}

}  // namespace

double element(const Tensor& t, int64_t i, std::string_view name) { return read<double>(t, i, name); }
int64_t element_i64(const Tensor& t, int64_t i, std::string_view name) { return read<int64_t>(t, i, name); }

void Spec::declare(std::string name, std::optional<ArgValue> value) {
  declared_.insert_or_assign(std::move(name), Declared{std::move(value)});
}

void Spec::check_all_read(std::string_view kernel) const {
  std::string left;
  for (const auto& [name, declared] : declared_)
    if (!declared.read) left += (left.empty() ? "" : ", ") + name;
  if (!left.empty())
    fail(ErrorKind::internal, "arguments are declared for the kernel '" + std::string(kernel) +
                                  "' that it does not read: " + left);
}

const ArgValue* Spec::find(std::string_view name) const {
  const auto it = declared_.find(name);
  if (it == declared_.end())
    fail(ErrorKind::internal, "the kernel reads the argument '" + std::string(name) + "', which is not declared");
  it->second.read = true;
  return it->second.value ? &*it->second.value : nullptr;
}

const ArgValue* Spec::find(std::string_view name, Kind kind) const {
  const ArgValue* v = find(name);
  if (!v) return nullptr;
  const bool numbers = !v->numbers.empty() || v->input >= 0, text = !v->strings.empty(), table = bool(v->table);
  static constexpr const char* kNames[] = {"numbers", "a text", "a table"};
  if ((numbers && kind != Kind::numbers) || (text && kind != Kind::text) || (table && kind != Kind::table))
    fail(ErrorKind::internal, "the kernel reads the argument '" + std::string(name) + "' as " + kNames[int(kind)] +
                                  ", which it is not");
  return v;
}

const ArgValue& Spec::get(std::string_view name) const {
  const ArgValue* v = find(name, Kind::numbers);
  if (!v || v->numbers.empty()) fail_missing(std::string(name), 0);
  return *v;
}

int64_t Spec::integer(std::string_view name) const {
  const ArgValue& v = get(name);
  return v.integers.size() == v.numbers.size() ? v.integers[0] : int64_t(v.numbers[0]);
}

double Spec::number(std::string_view name) const { return get(name).numbers[0]; }

std::string Spec::string(std::string_view name) const {
  const ArgValue* v = find(name, Kind::text);
  return v && !v->strings.empty() ? v->strings[0] : "";
}

DType Spec::dtype(std::string_view name) const {
  if (!find(name, Kind::numbers)) return DType::none;
  const int64_t number = integer(name);
  const auto found = DType(number);
  if (number != int64_t(found) || (found != DType::none && !size_of(found)))
    fail(ErrorKind::type, std::string(name) + ": no tensor has the type number " + std::to_string(number));
  return found;
}

Table Spec::table(std::string_view name) const {
  const ArgValue* v = find(name, Kind::table);
  return v ? v->table : Table();
}
Table Spec::table(std::string_view name, DType dtype) const {
  const Table found = table(name);
  if (found && (found.dtype() != dtype || found.shape().ndim != 1))
    fail(ErrorKind::type, std::string(name) + ": expected a table of one axis and of " + name_of(dtype) + ", got " +
         name_of(found.dtype()) + " of the shape " + to_string(found.shape()));
  return found;
}

bool add_operator(const char* name, Factory make, Count inputs, Count outputs) {
  if (!registry().all.try_emplace(name, Registered{make, inputs, outputs}).second)
    fail(ErrorKind::internal, std::string("two kernels have the name ") + name);
  return true;
}

void put_operator(const std::string& name, Maker make, Count inputs, Count outputs) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.all.insert_or_assign(name, Registered{std::move(make), inputs, outputs});
}

std::unique_ptr<Operator> make_operator(std::string_view name, const Spec& spec) {
  const Registered found = find(name);
  check_count("inputs", spec.num_inputs, found.inputs);
  check_count("outputs", spec.num_outputs, found.outputs);
  std::unique_ptr<Operator> made = found.make(spec);
  spec.check_all_read(name);
  return made;
}

}  // namespace ps
