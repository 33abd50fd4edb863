// From the pixels that a file holds to the colours and the type that the user wants.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rows.h"
#include "penstock.h"

namespace ps {

enum class ImageType : int {
  rgb = PS_IMAGE_TYPE_RGB, bgr = PS_IMAGE_TYPE_BGR, gray = PS_IMAGE_TYPE_GRAY, ycbcr = PS_IMAGE_TYPE_YCBCR,
  any = PS_IMAGE_TYPE_ANY_DATA,
};

// Row by row: the type (full scale to full scale), and RGB to YCbCr (ITU-R BT.601, luma 16..235, as in video).
class PixelConverter : public RowSink {
 public:
  // Pixels of type `from` (UINT8, UINT16 or FLOAT) arrive; `width` and `channels` are those of the rows.
  void begin(int64_t width, int channels, DType from, DType to, bool to_ycbcr, RowSink& sink);
  static bool needed(DType from, DType to, bool to_ycbcr) { return to_ycbcr || from != to; }
  void push(int64_t y, const void* row) override;

 private:
  using Convert = void (*)(const void* from, void* to, int64_t values);
  RowSink* sink_ = nullptr;
  Convert convert_ = nullptr;
  int64_t values_ = 0;
  std::vector<uint8_t> row_;
};

// Luma of RGB as libpng weighs it: whole numbers, so that it is the same everywhere.
inline uint8_t luma(uint8_t r, uint8_t g, uint8_t b) { return uint8_t((9797u * r + 19234u * g + 3737u * b) >> 15); }
inline uint16_t luma(uint16_t r, uint16_t g, uint16_t b) {
  return uint16_t((9797u * r + 19234u * g + 3737u * b + 16384u) >> 15);
}

}  // namespace ps
