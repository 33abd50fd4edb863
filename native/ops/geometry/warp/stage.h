// An affine warp on the CPU as a stage of row pipelines.
#pragma once

#include <vector>

#include "core/rows.h"
#include "ops/geometry/warp/warper.h"

namespace ps {

// Any row may be needed for the first row of the output, so rows are kept until all are there.
class WarpStage : public RowStage {
 public:
  void begin(const WarpParams& p, const device::AffineMatrix<2>& matrix, const RowFormat& from, const RowFormat& to);

  Window demand(const Window& w) override;

  bool take(const void* picture, size_t stride) override;
  void* place(int64_t y) override;
  void push(int64_t y, const void* row) override;

 private:
  static void reserve(std::vector<uint8_t>& v, size_t bytes);

  void emit(const void* picture, size_t stride, size_t bytes);

  Warper<2> warper_;
  Window wanted_;
  int32_t lo_[2] = {}, hi_[2] = {};
  size_t stride_ = 0;
  std::vector<uint8_t> picture_, rows_;
};

}  // namespace ps
