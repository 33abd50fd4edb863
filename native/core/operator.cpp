#include "core/operator.h"

#include <algorithm>
#include <type_traits>

#include "core/half.h"
#include "rows/memory_rows.h"

namespace ps {
namespace {

std::map<std::string, Factory, std::less<>>& registry() {
  static std::map<std::string, Factory, std::less<>> all;
  return all;
}

// A float as a whole number: its fraction is cut off.
template <class T, class F> T truncated(F v) {
  if constexpr (std::is_integral_v<T>) {
    constexpr double limit = 9223372036854775808.0;             // 2^63; not-a-number is not less either
    if (!(double(v) >= -limit && double(v) < limit))
      fail(ErrorKind::argument, "expected a whole number, got " + std::to_string(double(v)));
  }
  return T(v);
}

template <class T> T read(const Tensor& t, int64_t i) {
  switch (t.dtype) {
    case DType::u8: case DType::boolean: return T(t.as<uint8_t>()[i]);
    case DType::u16: return T(t.as<uint16_t>()[i]);
    case DType::u32: return T(t.as<uint32_t>()[i]);
    case DType::u64: return T(t.as<uint64_t>()[i]);
    case DType::i8: return T(t.as<int8_t>()[i]);
    case DType::i16: return T(t.as<int16_t>()[i]);
    case DType::i32: return T(t.as<int32_t>()[i]);
    case DType::i64: return T(t.as<int64_t>()[i]);
    case DType::f16: return truncated<T>(float(t.as<half>()[i]));
    case DType::f32: return truncated<T>(t.as<float>()[i]);
    case DType::f64: return truncated<T>(t.as<double>()[i]);
    default: fail(ErrorKind::type, std::string("expected numbers, got ") + name_of(t.dtype));
  }
}

}  // namespace

double element(const Tensor& t, int64_t i) { return read<double>(t, i); }
int64_t element_i64(const Tensor& t, int64_t i) { return read<int64_t>(t, i); }

int64_t Spec::integer(std::string_view name, int64_t fallback) const {
  const ArgValue* v = find(name);
  if (!v || v->numbers.empty()) return fallback;
  return v->integers.size() == v->numbers.size() ? v->integers[0] : int64_t(v->numbers[0]);
}
double Spec::number(std::string_view name, double fallback) const {
  const ArgValue* v = find(name);
  return v && !v->numbers.empty() ? v->numbers[0] : fallback;
}
std::string Spec::string(std::string_view name, std::string fallback) const {
  const ArgValue* v = find(name);
  return v && !v->strings.empty() ? v->strings[0] : fallback;
}

bool add_operator(const char* name, Factory make) {
  return registry().emplace(name, make).second;
}

std::unique_ptr<Operator> make_operator(std::string_view name, const Spec& spec) {
  auto it = registry().find(name);
  if (it == registry().end()) fail(ErrorKind::internal, "no kernel is named '" + std::string(name) + "'");
  return it->second(spec);
}

RowFormat RowOperator::format(const Tensor& t) const { return picture_format(t); }

void SourceOperator::run(const Context& c) const {
  MemorySink sink(c.out(0));
  produce(c, sink.window(), sink);
}

}  // namespace ps
