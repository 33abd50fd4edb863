// One affine warp on the CPU, of any types and size: what it reads, and rows of what it gives.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "ops/geometry/warp/source.h"

namespace ps {

struct WarpParams {
  bool nearest = false, clamp = false;
  double fill = 0;
};

// The fill as an element of the type that pixels have on the way: the output's, or the input's where they are blended.
// It is rounded to the output's before, as DALI has it.
void write_fill(const WarpParams& p, DType from, DType to, void* element);

// One picture or volume: D axes of space. Rows are given out by row(z, y, pixels).
template <int D> class Warper {
 public:
  using Fields = device::AffineMatrix<D>;

  // Extents in x, y and z of the input and the output.
  void begin(const WarpParams& p, const Fields& matrix, const int64_t* in, const int64_t* out, int channels, DType from,
             DType to);

  // Which pixels of the input, at most, are needed for those of the output from `x` to `end` (exclusive).
  void needed(const int64_t* x, const int64_t* end, int32_t* lo, int32_t* hi) const;

  // Pixels lo to hi, inclusive, are in memory; `bytes` of it can be read.
  void set_source(const void* data, int64_t row, int64_t plane, const int32_t* lo, const int32_t* hi, size_t bytes);

  void rows(const WarpPlace& place, uint8_t* const* to) const { rows_(matrix_, source_, place, to); }
  // All of the output.
  void run(void* to) const;

 private:
  Fields matrix_;
  WarpSource source_;
  int64_t out_[3] = {}, pixel_ = 0;
  int channels_ = 0;
  DType to_ = DType::u8;
  WarpRows<D> rows_ = nullptr;
  std::vector<uint8_t> fill_;
};

extern template class Warper<2>;           // warper.cpp
extern template class Warper<3>;

}  // namespace ps
