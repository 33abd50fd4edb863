// sample_row() (row.h), for the units that compile it.
#pragma once

#include "core/convert.h"
#include "ops/geometry/sample/linear_bytes.h"
#include "ops/geometry/sample/row.h"

namespace ps {

namespace detail {

// C: the number of channels, or 0 for any.
template <class T, int kTaps, int C>
void sample_pixels(const device::SampleFields& fields, const void* plane, const device::Position<2>* positions,
                   int64_t n, const float* fills, void* out) {
  const device::SampleFields f = fields;             // a copy that no store can change
  const int channels = C ? C : f.step;
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < n; i++, to += channels)
    device::sample<T, kTaps>(f, static_cast<const T*>(plane), positions[i], fills, channels, to);
}

template <int C>
void sample_linear_bytes(const device::SampleFields& f, const void* plane, const device::Position<2>* positions,
                         int64_t n, const float* fills, void* out) {
  LinearBytes<C>(f).run(static_cast<const uint8_t*>(plane), positions, n, fills, static_cast<uint8_t*>(out));
}

template <class T, int kTaps, int C> SampleRow sample_row(const device::SampleFields& f) {
  if constexpr (kTaps == 2 && C > 0 && std::is_same_v<T, uint8_t>)
    if (LinearBytes<C>::fits(f)) return sample_linear_bytes<C>;
  return sample_pixels<T, kTaps, C>;
}

}  // namespace detail

template <int kTaps> SampleRow sample_row(DType type, const device::SampleFields& f) {
  return visit_sampled(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (f.step) {
      case 1: return detail::sample_row<T, kTaps, 1>(f);
      case 3: return detail::sample_row<T, kTaps, 3>(f);
      default: return detail::sample_row<T, kTaps, 0>(f);
    }
  });
}

}  // namespace ps
