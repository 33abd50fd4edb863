// Pictures read at any positions, pixel (0, 0) at (0, 0), as OpenCV reads them.
#pragma once

#include "device/base/border.h"
#include "device/base/divisor.h"
#include "device/geometry/warp.h"

namespace ps::device {

// What the host writes: how many pixels are read along an axis.
enum SampleTaps : int32_t { kSampleNearest = 1, kSampleLinear = 2, kSampleCubic = 4, kSampleLanczos = 6 };

struct SampleFields {
  const void* in;
  void* out;
  const float* fills;                  // one for each channel
  int32_t border, height, width, step;               // of the input; step: channels of a plane
  Divisor channels, columns, rows, per_frame;        // of the output's planes; planes of a frame
};

PS_FN void cubic_weights(float t, float* w) {            // a = -3/4
  constexpr float a = -0.75f;
  w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
  w[3] = 1 - w[0] - w[1] - w[2];
}

// sin(pi x) for x in [0, 1]: sums and products alone, which a GPU rounds as a CPU does.
PS_FN float sin_pi(float x) {
  const float v = x > 0.5f ? 1 - x : x, z = v * v;
  return v * (3.14159265f + z * (-5.16771278f + z * (2.55016404f + z * (-0.599264529f + z * (8.21458866e-2f +
         z * (-7.37043094e-3f + z * 4.66302806e-4f))))));
}

// sinc(x) sinc(x / 3), scaled so that their sum is 1.
PS_FN void lanczos_weights(float t, float* w) {
  constexpr float scale = 3 / (3.14159265f * 3.14159265f);
  const float sine = sin_pi(t);
  float sum = 0;
  for (int i = 0; i < 6; i++) {
    const float x = t + 2 - float(i), size = x < 0 ? -x : x;
    const bool second = i == 1 || i == 4;                // where sin(pi x) has the other sign
    w[i] = size < 1e-5f ? 1.0f : (second ? -scale : scale) * sine * sin_pi(size / 3) / (size * size);
    sum += w[i];
  }
  for (int i = 0; i < 6; i++) w[i] /= sum;
}

// n channels of a plane at a position; `fills` are theirs.
template <class T, int kTaps>
PS_FN void sample(const SampleFields& f, const T* plane, const Position<2>& p, const float* fills, int n, T* out) {
  if constexpr (kTaps == 2) {                            // most pixels have all of their neighbours
    const float left = floorf(p.v[0]), top = floorf(p.v[1]);
    const int x = whole_position(left), y = whole_position(top);
    if (x >= 0 && y >= 0 && x < f.width - 1 && y < f.height - 1) {
      const float part_x = p.v[0] - left, part_y = p.v[1] - top;
      const T* upper = plane + (int64_t(y) * f.width + x) * f.step;
      const T* lower = upper + int64_t(f.width) * f.step;
      for (int c = 0; c < n; c++) {
        const float a = convert<float>(upper[c]), b = convert<float>(lower[c]);
        const float above = a + part_x * (convert<float>(upper[c + f.step]) - a);
        const float below = b + part_x * (convert<float>(lower[c + f.step]) - b);
        const float between = above + part_y * (below - above);
        if constexpr (is_real<T>) out[c] = between;
        else out[c] = T(int(even_half(between)));        // it is no more than the neighbours are
      }
      return;
    }
  }
  int64_t row[kTaps] = {}, column[kTaps] = {};           // -1: beyond the border
  float part[2];
  for (int axis = 0; axis < 2; axis++) {
    const float v = p.v[axis], base = kTaps == 1 ? even_half(v) : floorf(v), rest = v - base;
    part[axis] = rest >= 0 ? rest : 0;                   // not-a-number of infinite positions
    const int64_t first = whole_position(base) - (kTaps / 2 - (kTaps > 1));
    for (int i = 0; i < kTaps; i++) {
      const int64_t place = border_place(f.border, first + i, axis ? f.height : f.width);
      (axis ? row : column)[i] = place < 0 ? -1 : place * (axis ? int64_t(f.width) * f.step : f.step);
    }
  }
  float across[kTaps], down[kTaps];
  if constexpr (kTaps == 4) cubic_weights(part[0], across), cubic_weights(part[1], down);
  if constexpr (kTaps == 6) lanczos_weights(part[0], across), lanczos_weights(part[1], down);
  for (int c = 0; c < n; c++) {
    const auto tap = [&](int y, int x) {
      return row[y] < 0 || column[x] < 0 ? fills[c] : convert<float>(plane[row[y] + column[x] + c]);
    };
    if constexpr (kTaps == 1) {
      out[c] = even_rounded<T>(tap(0, 0));
    } else if constexpr (kTaps == 2) {
      const float upper = tap(0, 0) + part[0] * (tap(0, 1) - tap(0, 0));
      const float lower = tap(1, 0) + part[0] * (tap(1, 1) - tap(1, 0));
      out[c] = even_rounded<T>(upper + part[1] * (lower - upper));
    } else {
      float sum = 0;
      for (int y = 0; y < kTaps; y++) {
        float line = 0;
        for (int x = 0; x < kTaps; x++) line += across[x] * tap(y, x);
        sum += down[y] * line;
      }
      out[c] = even_rounded<T>(sum);
    }
  }
}

// Channel by channel. `Map` says where a pixel of a frame is: position(frame, x, y).
template <class Map> struct SampledFields {
  SampleFields sampled;
  Map map;
};
template <class Map, class T, int kTaps> struct Sampled : SampledFields<Map> {
  PS_FN void element(int64_t i) const {
    const SampleFields& f = this->sampled;
    const auto pixel = f.channels.quotient(uint64_t(i)), line = f.columns.quotient(pixel);
    const auto plane = f.rows.quotient(line);
    const auto c = int64_t(uint64_t(i) - pixel * f.channels.number()), frame = int64_t(f.per_frame.quotient(plane));
    const auto x = int(pixel - line * f.columns.number()), y = int(line - plane * f.rows.number());
    const float* fills = f.fills + (int64_t(plane) - frame * int64_t(f.per_frame.number())) * f.step + c;
    const T* from = static_cast<const T*>(f.in) + int64_t(plane) * f.height * f.width * f.step + c;
    sample<T, kTaps>(f, from, this->map.position(frame, x, y), fills, 1, static_cast<T*>(f.out) + i);
  }
};

}  // namespace ps::device
