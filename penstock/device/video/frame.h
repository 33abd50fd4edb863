// A frame as NVIDIA's video decoder leaves it, two planes of 4:2:0 -> pixels of a sequence. The numbers are those of
// native/decode/video/color.cpp, bit for bit: all is computed in integers of 16 bits, as the CPU's instructions do it.
#pragma once

#include "device/base/base.h"

namespace ps::device {

inline constexpr int kFrameThreads = 256, kFramePixels = 4;     // pixels that a thread makes, side by side

struct VideoFrame {
  const uint8_t *luma, *chroma;        // chroma: samples of U and V side by side
  void* to;                            // bytes or floats, three to a pixel
  int64_t pitch;                       // bytes from row to row, of both planes
  int32_t width, height;               // as it is stored
  int32_t depth;                       // bits of a sample: of more than 8 it has two bytes, and lies at their top
  int32_t quarter_turns;               // clockwise, of the pixels
  int32_t black, luma_factor, red_v, green_u, green_v, blue_u;    // factors: times 8192
  float scale;                         // of floats
  int32_t is_float, ycbcr;
};

#if !PS_HOST
class FrameMaker {
 public:
  PS_FN explicit FrameMaker(const VideoFrame& frame) : f_(frame) {}

  // Pixels from x on, of row y; `to`: three bytes for each.
  PS_FN void pixels(int x, int y, int count, uint8_t (*to)[3]) const {
    for (int k = 0; k < count; k++) {
      pixel(x + k, y, to[k]);
      if (f_.ycbcr) studio(to[k]);
    }
  }

  PS_FN void store(int x, int y, int count, const uint8_t (*pixels)[3]) const {
    const int64_t at = place(x, y);
    if (f_.quarter_turns == 0 && !f_.is_float && count == kFramePixels) {
      auto* to = static_cast<uint8_t*>(f_.to) + 3 * at;
      if ((reinterpret_cast<uint64_t>(to) & 3) == 0) {
        const uint8_t* from = pixels[0];
        auto* words = reinterpret_cast<uint32_t*>(to);
        PS_UNROLL
        for (int i = 0; i < 3; i++)
          words[i] = from[4 * i] | from[4 * i + 1] << 8 | from[4 * i + 2] << 16 | uint32_t(from[4 * i + 3]) << 24;
        return;
      }
    }
    for (int k = 0; k < count; k++) {
      const int64_t one = 3 * place(x + k, y);
      for (int c = 0; c < 3; c++) {
        if (f_.is_float) static_cast<float*>(f_.to)[one + c] = float(pixels[k][c]) * f_.scale;
        else static_cast<uint8_t*>(f_.to)[one + c] = pixels[k][c];
      }
    }
  }

 private:
  PS_FN int64_t place(int x, int y) const {
    switch (f_.quarter_turns) {
      case 1: return int64_t(x) * f_.height + (f_.height - 1 - y);
      case 2: return int64_t(f_.height - 1 - y) * f_.width + (f_.width - 1 - x);
      case 3: return int64_t(f_.width - 1 - x) * f_.height + y;
      default: return int64_t(y) * f_.width + x;
    }
  }
  PS_FN uint16_t sample(const uint8_t* plane, int at, int y) const {
    const uint8_t* row = plane + int64_t(y) * f_.pitch;
    if (f_.depth == 8) return row[at];
    return uint16_t(reinterpret_cast<const uint16_t*>(row)[at] >> (16 - f_.depth));
  }
  // a * b / 32768, rounded, as the processor's pmulhrsw.
  PS_FN static int16_t times(int16_t a, int b) { return int16_t((int(a) * b + (1 << 14)) >> 15); }
  PS_FN static uint8_t byte(int v) {
    const int16_t rounded = int16_t(int16_t(v) + 16);
    return uint8_t(clamp(rounded >> 5, 0, 255));
  }
  PS_FN int16_t chroma_of(int which, int near, int far, int row, int other) const {
    const int a = 2 * near + which, b = 2 * far + which;
    const int here = 3 * sample(f_.chroma, a, row) + sample(f_.chroma, a, other);
    const int there = 3 * sample(f_.chroma, b, row) + sample(f_.chroma, b, other);
    const int up = max(11 - f_.depth, 0), down = max(f_.depth - 11, 0);
    const int16_t middle = int16_t(uint16_t(3 * here + there - (1 << (f_.depth + 3))));
    return int16_t((middle >> down) * (1 << up));
  }
  PS_FN void pixel(int x, int y, uint8_t* to) const {
    const int columns = (f_.width + 1) >> 1, rows = (f_.height + 1) >> 1;
    const int near = x >> 1, far = clamp(near + (x & 1 ? 1 : -1), 0, columns - 1);
    const int row = y >> 1, other = clamp(row + (y & 1 ? 1 : -1), 0, rows - 1);
    const int16_t u = chroma_of(0, near, far, row, other), v = chroma_of(1, near, far, row, other);
    const int16_t light = int16_t((sample(f_.luma, x, y) - f_.black) * (1 << (15 - f_.depth)));
    const int16_t l = times(light, f_.luma_factor);
    to[0] = byte(l + times(v, f_.red_v));
    to[1] = byte(int16_t(l + times(u, f_.green_u)) + times(v, f_.green_v));
    to[2] = byte(l + times(u, f_.blue_u));
  }
  // As rgb_to_studio_ycc() of native/decode/jpeg/color.cpp.
  PS_FN static void studio(uint8_t* p) {
    const float r = p[0], g = p[1], b = p[2];
    p[0] = uint8_t(int(16.0f + 0.25678824f * r + 0.50412941f * g + 0.09790588f * b + 0.5f));
    p[1] = uint8_t(int(128.0f - 0.14822290f * r - 0.29099279f * g + 0.43921569f * b + 0.5f));
    p[2] = uint8_t(int(128.0f + 0.43921569f * r - 0.36778831f * g - 0.07142737f * b + 0.5f));
  }

  const VideoFrame& f_;
};

PS_FN void make_frame(const VideoFrame& f) {
  const int across = (f.width + kFramePixels - 1) / kFramePixels;
  const int64_t all = int64_t(across) * f.height, first = int64_t(block()) * kFrameThreads;
  const FrameMaker maker(f);
  for (int64_t i = first + thread(); i < min(first + kFrameThreads, all); i += threads()) {
    const int y = int(i / across), x = int(i % across) * kFramePixels;
    const int count = min(kFramePixels, f.width - x);
    uint8_t made[kFramePixels][3];
    maker.pixels(x, y, count, made);
    maker.store(x, y, count, made);
  }
}
#define PS_VIDEO_FRAME_KERNEL() \
  PS_KERNEL kernel(ps::device::VideoFrame frame) { ps::device::make_frame(frame); }
#endif

}  // namespace ps::device
