// A picture that is normalized row by row.
#pragma once

#include "core/operator.h"
#include "ops/color/crop_mirror_normalize/normalization.h"

namespace ps {

// Writes the rows of one picture to where they belong in the output.
struct NormalizeStage : State, RowStage {
  enum class Order { planes, interleaved, other };   // of the output, where the input is interleaved

  Normalization normalization;
  NormalizedRow row;
  NormalizeRow normalize = nullptr;
  Order order = Order::other;
  Window window;                                     // of the input
  uint8_t* to = nullptr;
  size_t element = 0, row_bytes = 0;                 // of the output

  Window demand(const Window&) override { return window; }

  void push(int64_t y, const void* pixels) override {
    normalize(normalization, row, pixels, to + size_t(y - window.y0) * row_bytes);
  }

  // Planes that the input does not have.
  void pad() {
    for (int c = normalization.channels; order == Order::planes && c < normalization.out_channels; c++)
      for (int64_t y = 0; y < window.height(); y++)
        for (int64_t x = 0; x < window.width(); x++)
          std::memcpy(to + size_t(c * row.plane + x) * element + size_t(y) * row_bytes,
                      normalization.fill.data() + size_t(c) * element, element);
  }
};

}  // namespace ps
