// Turning pictures upright, by their EXIF orientation.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rows.h"

namespace ps {

// How an orientation maps upright coordinates to stored ones: swap the axes, then flip within the stored picture.
struct Orientation {
  bool swap, flip_x, flip_y;
  explicit Orientation(int exif)
      : swap(exif >= 5), flip_x(exif == 2 || exif == 3 || exif == 7 || exif == 8),
        flip_y(exif == 3 || exif == 4 || exif == 6 || exif == 7) {}
  bool upright() const { return !swap && !flip_x && !flip_y; }
  // Where the window of the upright picture lies in the stored one, which has `width` x `height` pixels.
  Window to_stored(const Window& w, int64_t width, int64_t height) const;
};

// Collects the stored window's rows in memory, then pushes them upright.
class Orienter : public RowSink {
 public:
  // `stored` is the window in stored coordinates, `format` of its rows.
  void begin(const Window& stored, const RowFormat& format);
  void* place(int64_t y) override { return row(y - stored_.y0); }
  void push(int64_t y, const void* data) override;
  // `upright` is the same window in upright coordinates.
  void finish(const Orientation& orientation, const Window& upright, RowSink& sink);

 private:
  uint8_t* row(int64_t y) { return memory_.data() + size_t(y) * stride_; }
  Window stored_;
  size_t pixel_ = 0, stride_ = 0;
  std::vector<uint8_t> memory_, band_;
};

}  // namespace ps
