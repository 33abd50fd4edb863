#include "ops/arguments/truncate.h"

#include "core/convert.h"

namespace ps {
namespace {

template <class T> T no_fraction(T v) { return std::trunc(v); }
inline float no_fraction(half v) { return std::trunc(float(v)); }

template <class T> T within(T v, T limit) { return v < -limit ? -limit : v > limit ? limit : v; }

template <class To, class From> To truncate(From v) {
  constexpr bool plain = std::is_same_v<From, To> || std::is_same_v<From, bool> || std::is_same_v<To, bool>;
  if constexpr (plain) return convert<To>(v);
  else if constexpr (detail::is_real<From> && std::is_integral_v<To>) return convert<To>(no_fraction(v));
  else if constexpr (std::is_same_v<To, half>) return convert<half>(within(convert<float>(v), 65504.0f));
  else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>)
    return float(within(v, double(std::numeric_limits<float>::max())));
  else return convert<To>(v);
}

}  // namespace

Convert truncating_converter(DType from, DType to) {
  return visit(from, [&](auto f) {
    return visit(to, [&](auto t) -> Convert {
      return [](const void* a, void* b, size_t n) {
        using From = typename decltype(f)::type;
        using To = typename decltype(t)::type;
        if constexpr (std::is_same_v<From, To>) {
          if (n) std::memcpy(b, a, n * sizeof(To));
          return;
        }
        const From* __restrict in = static_cast<const From*>(a);
        To* __restrict out = static_cast<To*>(b);
        for (size_t i = 0; i < n; i++) out[i] = truncate<To>(in[i]);
      };
    });
  });
}

std::vector<uint8_t> truncated(const std::vector<double>& numbers, DType to) {
  std::vector<uint8_t> elements(numbers.size() * size_of(to));
  truncating_converter(DType::f64, to)(numbers.data(), elements.data(), numbers.size());
  return elements;
}

}  // namespace ps
