// Normalization on the CPU, by rows that share their terms or have one for each element.
#pragma once

#include <algorithm>

#include "core/convert.h"
#include "core/converter.h"
#include "device/tensor/normalize.h"
#include "ops/tensor/reductions/rows.h"

namespace ps::detail {

template <class T> class Normalizer {
 public:
  Normalizer(const ReducedShape& shape, const Tensor& out, Arena& scratch)
      : shape_(shape), out_(out.as<uint8_t>()), size_(int64_t(size_of(out.dtype))),
        convert_(out.dtype == DType::f32 ? nullptr : converter(DType::f32, out.dtype)),
        row_(take(scratch, kWidest)), lanes_{take(scratch, kWidest), take(scratch, kWidest), take(scratch, kWidest)} {}

  void operator()(const T* in, const device::NormalizeTerms* terms) {
    shape_.for_each_block(
        [&](int64_t i, int64_t rows, int64_t width, int64_t o) {
          if (width == 1) shared(in, i, rows, terms[o]);
          else columns(in, i, rows, width, terms + o);
        },
        [&](int64_t i, int64_t count, int64_t width, int64_t o) {
          for (int64_t k = 0; k < count; k++) shared(in, i + k * width, width, terms[o + k]);
        });
  }

 private:
  struct Terms {
    float *mean, *scale, *shift;
  };
  static float* take(Arena& scratch, int64_t n) { return static_cast<float*>(scratch.take(sizeof(float) * size_t(n))); }

  // Elements from index `i` on; f(from, to, n) computes some.
  template <class F> void pieces(const T* in, int64_t i, int64_t count, F f) {
    for (int64_t n; count > 0; i += n, count -= n) {
      n = std::min(count, kWidest);
      uint8_t* to = out_ + i * size_;
      f(in + i, convert_ ? row_ : reinterpret_cast<float*>(to), n);
      if (convert_) convert_(row_, to, size_t(n));
    }
  }

  void shared(const T* in, int64_t i, int64_t count, const device::NormalizeTerms& terms) {
    pieces(in, i, count, [t = terms](const T* __restrict from, float* __restrict to, int64_t n) {
      for (int64_t j = 0; j < n; j++) to[j] = device::normalized(convert<float>(from[j]), t);
    });
  }

  // Rows of a matrix, each of whose columns has its own terms.
  void columns(const T* in, int64_t i, int64_t rows, int64_t width, const device::NormalizeTerms* terms) {
    const bool narrow = width < kLanes;                    // many rows at a time, else parts of one
    const int64_t lanes = lanes_of(width), total = narrow ? lanes * (kWidest / 4 / lanes) : std::min(width, kWidest);
    const int64_t step = narrow ? total : width;
    for (int64_t x = 0; x < step; x += total) {
      const int64_t n = std::min(total, step - x);
      for (int64_t j = 0; j < n; j++) {
        const device::NormalizeTerms& t = terms[(x + j) % width];
        lanes_.mean[j] = t.mean;
        lanes_.scale[j] = t.scale;
        lanes_.shift[j] = t.shift;
      }
      for (int64_t at = x; at < rows * width; at += step)
        pieces(in, i + at, std::min(n, rows * width - at),
               [l = lanes_](const T* __restrict from, float* __restrict to, int64_t m) {
                 const float *__restrict mean = l.mean, *__restrict scale = l.scale, *__restrict shift = l.shift;
                 for (int64_t j = 0; j < m; j++) to[j] = (convert<float>(from[j]) - mean[j]) * scale[j] + shift[j];
               });
    }
  }

  const ReducedShape& shape_;
  uint8_t* out_;
  int64_t size_;
  Convert convert_;
  float* row_;
  Terms lanes_;
};

}  // namespace ps::detail
