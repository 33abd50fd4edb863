// Reductions on the CPU. All is done by adding rows to a row of partial results, which the compiler vectorises,
// whatever is being reduced; in which order elements are joined depends on the shape alone.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/convert.h"
#include "device/tensor/reductions.h"
#include "ops/tensor/reductions/reduce.h"

namespace ps::detail {

constexpr int64_t kLanes = 64;         // elements of a row that is long enough
constexpr int64_t kMostRows = 1 << 15; // that a row of partial results can take
constexpr int64_t kWidest = 4096;      // row of partial results, so that it stays in the first cache

// What partial results are: sums of small integers take 32 bits, for as many rows as kMostRows.
template <class Fold, class T> struct Partial { using type = typename Fold::Result; };
template <class T> constexpr bool is_small = sizeof(T) <= 2 && !device::is_real<T>;
template <class T> using int_sum = std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>;
template <class T> struct Partial<device::SumFold<T>, T> {
  using type = std::conditional_t<is_small<T>, int_sum<T>, typename device::SumFold<T>::Result>;
};
template <class T> struct Partial<device::SquareFold<T>, T> {
  using type = std::conditional_t<sizeof(T) == 1, int_sum<T>, typename device::SquareFold<T>::Result>;
};

// Copies of a few neighbours, so many that they fill a row of at least kLanes: that is the row's width.
inline int64_t lanes_of(int64_t width) {
  int64_t copies = width < kLanes ? 16 : 1;
  while (copies * width < kLanes) copies *= 2;
  return copies * width;
}

template <template <class> class FoldOf, class T> class Reducer {
  using Fold = FoldOf<T>;
  using P = typename Partial<Fold, T>::type;
  using E = std::conditional_t<std::is_same_v<T, half>, float, T>;   // what loops work on
  static constexpr bool kMean = std::is_same_v<Fold, device::DeviationFold<T>>;

 public:
  using Result = typename Fold::Result;

  // `mean`: one for each output, for deviations.
  Reducer(const ReducedShape& shape, Arena& scratch, const double* mean)
      : shape_(shape), mean_(mean), part_(take<P>(scratch, kWidest)), row_(take<E>(scratch, kWidest)),
        means_(take<double>(scratch, kWidest)) {}

  void operator()(const T* in, Result* out) {
    if constexpr (Fold::kExtreme) {
      if (shape_.count == 1) {                       // each element by itself
        for (int64_t i = 0; i < shape_.outputs; i++) out[i] = Fold::template term<Result>(in[i], 0);
        return;
      }
    }
    std::fill_n(out, shape_.outputs, Fold::template none<Result>());
    shape_.for_each_block(
        [&](int64_t i, int64_t rows, int64_t width, int64_t o) { columns(in + i, rows, width, out + o, at(mean_, o)); },
        [&](int64_t i, int64_t count, int64_t width, int64_t o) {
          for (int64_t k = 0; k < count; k++, i += width, o++) {
            if (width >= kLanes) columns(in + i, width, 1, out + o, at(mean_, o));
            else out[o] = Fold::join(out[o], few(in + i, width, at(mean_, o)));
          }
        });
  }

 private:
  template <class A> static A* take(Arena& scratch, int64_t n) {
    return static_cast<A*>(scratch.take(sizeof(A) * size_t(n)));
  }

  static const double* at(const double* mean, int64_t i) { return kMean ? mean + i : nullptr; }

  static Result few(const T* in, int64_t n, const double* mean) {
    Result r = Fold::template none<Result>();
    for (int64_t i = 0; i < n; i++) r = Fold::join(r, Fold::template term<Result>(in[i], kMean ? *mean : 0));
    return r;
  }

  // Each column of a matrix into one output.
  void columns(const T* in, int64_t rows, int64_t width, Result* out, const double* mean) {
    if (rows == 1) {
      for (int64_t j = 0; j < width; j++)
        out[j] = Fold::join(out[j], Fold::template term<Result>(in[j], kMean ? mean[j] : 0));
      return;
    }
    if (width < kLanes) return lanes(in, rows * width, width, out, mean);
    for (int64_t j = 0; j < width; j += kWidest) {
      const int64_t n = std::min(kWidest, width - j);
      for (int64_t y = 0; y < rows; y += kMostRows) {
        std::fill_n(part_, n, Fold::template none<P>());
        add_rows(in + y * width + j, std::min(kMostRows, rows - y), n, width, at(mean, j));
        for (int64_t i = 0; i < n; i++) out[j + i] = Fold::join(out[j + i], Result(part_[i]));
      }
    }
  }

  // The same for narrow ones: several rows of the matrix are one.
  void lanes(const T* in, int64_t count, int64_t width, Result* out, const double* mean) {
    const int64_t n = lanes_of(width);
    if (kMean)
      for (int64_t i = 0; i < n; i++) means_[i] = mean[i % width];
    while (count > 0) {
      const int64_t rows = std::min(count / n, kMostRows), rest = rows ? 0 : count;
      std::fill_n(part_, n, Fold::template none<P>());
      add_rows(in, rows, n, n, means_);
      add_rows(in, rest > 0, rest, n, means_);
      for (int64_t i = 0, j = 0; i < (rows ? n : rest); i++, j = j + 1 < width ? j + 1 : 0)
        out[j] = Fold::join(out[j], Result(part_[i]));
      in += rows * n + rest;
      count -= rows * n + rest;
    }
  }

  void add_rows(const T* in, int64_t rows, int64_t width, int64_t stride, const double* __restrict mean) {
    P* __restrict part = part_;
    for (int64_t y = 0; y < rows; y++, in += stride) {
      const E* __restrict row;
      if constexpr (std::is_same_v<T, half>) {
        convert_n(in, row_, size_t(width));
        row = row_;
      } else {
        row = in;
      }
      for (int64_t i = 0; i < width; i++)
        part[i] = FoldOf<E>::join(part[i], FoldOf<E>::template term<P>(row[i], kMean ? mean[i] : 0));
    }
  }

  const ReducedShape& shape_;
  const double* mean_;
  P* part_;
  E* row_;
  double* means_;
};

}  // namespace ps::detail

namespace ps {

template <template <class> class Fold>
void reduce(DType type, const ReducedShape& shape, Arena& scratch, const double* mean, const void* in, void* results) {
  visit(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Reducer = detail::Reducer<Fold, T>;
    Reducer(shape, scratch, mean)(static_cast<const T*>(in), static_cast<typename Reducer::Result*>(results));
  });
}

}  // namespace ps
