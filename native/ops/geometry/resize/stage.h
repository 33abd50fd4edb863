// Separable resampling as a stage of a row pipeline. Rows of the input are blended vertically as soon as those that an
// output row needs are there, and the result horizontally; or the other way round where that is less work. Mirroring
// (a region with lo > hi) costs nothing horizontally; vertically it needs the picture in memory: resample().
#pragma once

#include <cstdint>
#include <vector>

#include "core/rows.h"
#include "ops/geometry/resize/columns.h"
#include "ops/geometry/resize/fixed.h"
#include "ops/geometry/resize/taps.h"

namespace ps {

struct ResizeParams {
  ResampleAxis x, y;   // their `in` is the size of the stage's input
};

class ResizeStage final : public RowStage {
 public:
  // For uint8, int16, uint16 and float; the output's type is the same or float.
  void begin(const ResizeParams& params, const RowFormat& input, DType output);
  // False where the region is flipped vertically: rows from top to bottom are of no use then.
  bool takes_rows() const { return !rows_.axis.flipped(); }

  Window demand(const Window& output) override;
  void* place(int64_t y) override;
  void push(int64_t y, const void* row) override;
  // The window demanded, of a picture in memory whose rows are `stride` bytes apart.
  void resample(const void* picture, int64_t stride);

 private:
  enum class Method { copy, integers, floats };
  // What a method does, for its types of elements: one row of the input to one that the columns have been blended of,
  // or the rows of one output row to one row.
  using Columns = void (*)(ResizeStage&, const void* row, void* out);
  using Rows = void (*)(ResizeStage&, int64_t y, const void* const* rows, void* out);
  template <class In, class Out> void choose();
  template <class In, class Out> void choose_integers();
  void choose_copy();

  const void* source_row(int64_t y);
  void* slot(int64_t y) { return ring_.data() + size_t(y % capacity_) * slot_bytes_; }
  void emit(int64_t y);
  int64_t last_row(int64_t y) const { return rows_.first[size_t(y)] + rows_.n[size_t(y)] - 1; }

  Method method_ = Method::copy;
  bool rows_first_ = true;
  Taps columns_, rows_;
  FixedTaps fixed_rows_;
  FixedColumns fixed_columns_;
  int fixed_channels_ = 0, fixed_rows_bits_ = 0;   // what the two were built for; 0: not for the present taps
  Columns blend_columns_ = nullptr;
  Rows blend_rows_ = nullptr;

  Window wanted_, needed_;
  int64_t next_row_ = 0;
  const uint8_t* picture_ = nullptr;     // in resample()
  int64_t stride_ = 0;
  std::vector<const void*> sources_;     // the rows that one output row is made of
  std::vector<uint8_t> ring_, between_, blended_, row_;
  std::vector<int64_t> in_slot_;         // which row a slot of the ring holds
  int64_t capacity_ = 1;
  size_t slot_bytes_ = 0;
};

}  // namespace ps
