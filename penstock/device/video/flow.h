// What goes into NVIDIA's engine for optical flow, and comes out of it: frames, vectors and hints, between tensors,
// whose rows lie one behind the other, and the engine's buffers, whose rows begin `pitch` bytes apart.
#pragma once

#include "device/base/base.h"

namespace ps::device {

inline constexpr int kFlowThreads = 256, kFlowPixels = 4;       // pixels that a thread copies, side by side

// A frame of UINT8, of three channels or one -> four bytes to a pixel (red, green, blue, 255), or one.
struct FlowFrame {
  const uint8_t* from;
  uint8_t* to;
  int64_t pitch;
  int32_t width, height;
  int32_t channels, bgr;
};

// The engine's vectors, in steps of 1/32 pixel -> FLOAT.
struct FlowVectors {
  const int16_t* from;
  float* to;
  int64_t pitch;
  int32_t width, height;               // cells
};

// And back.
struct FlowHints {
  const float* from;
  int16_t* to;
  int64_t pitch;
  int32_t width, height;
};

#if !PS_HOST
// Calls f(x, y) for each piece of `step` columns of what this block has to do.
template <class F> PS_FN void flow_pieces(int width, int height, int step, F f) {
  const int across = (width + step - 1) / step;
  const int64_t all = int64_t(across) * height, first = int64_t(block()) * kFlowThreads;
  for (int64_t i = first + thread(); i < min(first + kFlowThreads, all); i += threads()) {
    const int y = int(i / across);
    f(int(i - int64_t(y) * across) * step, y);
  }
}

PS_FN void run_flow(const FlowFrame& f) {
  flow_pieces(f.width, f.height, kFlowPixels, [&](int x, int y) {
    const uint8_t* from = f.from + (int64_t(y) * f.width + x) * f.channels;
    uint8_t* to = f.to + int64_t(y) * f.pitch + int64_t(x) * (f.channels == 1 ? 1 : 4);
    const int count = min(kFlowPixels, f.width - x);
    if (f.channels == 1) {
      for (int k = 0; k < count; k++) to[k] = from[k];
      return;
    }
    uint32_t made[kFlowPixels];
    const int red = f.bgr ? 2 : 0, blue = 2 - red;
    if (count == kFlowPixels && (reinterpret_cast<uint64_t>(from) & 3) == 0) {
      const auto* words = reinterpret_cast<const uint32_t*>(from);
      const uint32_t a = words[0], b = words[1], c = words[2];
      const uint32_t pixels[kFlowPixels] = {a, a >> 24 | b << 8, b >> 16 | c << 16, c >> 8};
      PS_UNROLL
      for (int k = 0; k < kFlowPixels; k++) {
        const uint32_t p = pixels[k];
        made[k] = (f.bgr ? (p & 0xff) << 16 | (p & 0xff00) | (p >> 16 & 0xff) : p & 0xffffff) | 0xff000000u;
      }
    } else {
      for (int k = 0; k < count; k++)
        made[k] = from[3 * k + red] | uint32_t(from[3 * k + 1]) << 8 | uint32_t(from[3 * k + blue]) << 16 | 0xff000000u;
    }
    auto* words = reinterpret_cast<uint32_t*>(to);         // rows begin at multiples of 4 bytes
    for (int k = 0; k < count; k++) words[k] = made[k];
  });
}

PS_FN void run_flow(const FlowVectors& f) {
  flow_pieces(f.width, f.height, 1, [&](int x, int y) {
    const int16_t* from = f.from + int64_t(y) * (f.pitch / 2) + 2 * x;
    float* to = f.to + 2 * (int64_t(y) * f.width + x);
    for (int k = 0; k < 2; k++) to[k] = float(from[k]) * (1.0f / 32);
  });
}

PS_FN int16_t flow_step(float pixels) {
  if (!(pixels == pixels)) return 0;                       // no number
  const float steps = clamp(pixels * 32, -32768.0f, 32767.0f);
  return int16_t(int(steps + (steps < 0 ? -0.5f : 0.5f)));
}

PS_FN void run_flow(const FlowHints& f) {
  flow_pieces(f.width, f.height, 1, [&](int x, int y) {
    const float* from = f.from + 2 * (int64_t(y) * f.width + x);
    int16_t* to = f.to + int64_t(y) * (f.pitch / 2) + 2 * x;
    for (int k = 0; k < 2; k++) to[k] = flow_step(from[k]);
  });
}
#define PS_FLOW_KERNEL(type) \
  PS_KERNEL kernel(ps::device::type job) { ps::device::run_flow(job); }
#endif

}  // namespace ps::device
