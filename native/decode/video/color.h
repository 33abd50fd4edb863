// From a video's frame, as it is decoded, to rows of RGB.
#pragma once

#include <cstdint>
#include <vector>

#include "video/api.h"

namespace ps {

// What makes R, G and B of Y, U and V of so many bits: the level of black, and factors, times 8192.
struct ColorFactors {
  int16_t black, luma, red_v, green_u, green_v, blue_u;
};
ColorFactors color_factors(int depth, bool full_range, psv_matrix matrix);

// Chroma that several pixels share is interpolated between its samples, which lie in the middle of those pixels. All is
// computed in integers of 16 bits, so that each level of instructions gives the same bits, and no pixel is further than
// 1 from the exact result.
class FrameColors {
 public:
  // The frame must be there until the last row is made. `matrix`: of psv_matrix; unknown: BT.601.
  void begin(const psv_picture& picture, psv_matrix matrix);
  // Pixels x0 <= x < x1 of row y, three bytes each; not one byte more is written.
  void row(int64_t y, int64_t x0, int64_t x1, uint8_t* to);

 private:
  using Samples = std::vector<uint16_t>;
  void read(int plane, int64_t y, int64_t x0, int64_t x1, uint16_t* to) const;
  void chroma(int plane, int64_t y, int64_t x0, int64_t x1, int16_t* to);
  const uint16_t* mixed_row(int plane, int64_t y);
  uint8_t scaled(uint16_t sample) const;

  psv_picture picture_{};
  int depth_ = 8, drop_ = 0;             // bits of samples, and how many of the file's are dropped
  ColorFactors factors_{};
  int64_t chroma_width_ = 0, chroma_height_ = 0;
  int64_t mixed_y_[3] = {-1, -1, -1};    // the row that mixed_ is for
  Samples mixed_[3], near_, far_, luma_row_;
  std::vector<int16_t> chroma_row_[3];
  std::vector<uint8_t> planes_;
};

}  // namespace ps
