// Numbers that fill part of a tensor, as elements of its type. As casts in C do it, and DALI where it fills: fractions
// are cut off, and integers that do not fit keep their lower bits.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/convert.h"

namespace ps {

template <class To> To cast_number(double v) {
  if constexpr (std::is_same_v<To, bool> || detail::is_real<To>) {
    return convert<To>(v);
  } else {
    const double whole = std::trunc(v);
    return std::abs(whole) < 0x1p63 ? To(int64_t(whole)) : convert<To>(whole);
  }
}

inline std::vector<uint8_t> cast_numbers(const std::vector<double>& numbers, DType to) {
  std::vector<uint8_t> elements(numbers.size() * size_of(to));
  visit(to, [&](auto tag) {
    using To = typename decltype(tag)::type;
    for (size_t i = 0; i < numbers.size(); i++) {
      const To v = cast_number<To>(numbers[i]);
      std::memcpy(elements.data() + i * sizeof(To), &v, sizeof v);
    }
  });
  return elements;
}

// `count` copies of the first `bytes` bytes at `to`, which it counts as one of them.
inline void repeat_bytes(uint8_t* to, size_t bytes, int64_t count) {
  const size_t total = bytes * size_t(count);
  for (size_t done = bytes, n; done < total; done += n) std::memcpy(to + done, to, n = std::min(done, total - done));
}

}  // namespace ps
