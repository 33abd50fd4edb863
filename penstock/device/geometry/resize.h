// Separable resampling as a stage of pictures (device/picture/picture.h), in two forms that give the same bits.
//
// Resample computes each pixel from all that the filter covers: for stages below that may ask for any pixel. In
// TiledResample a block first blends the rows that its tile needs into shared memory, and pixels then blend columns of
// that. Bytes are blended down a column in integers, where no weight is negative: four at a time, in pairs of rows,
// with weights of 15 bits. All else is float, in the order of the taps, by fused multiply-adds.
#pragma once

#include "device/geometry/resize/axis.h"
#include "device/picture/blend_rows.h"
#include "device/picture/rows.h"

namespace ps::device {

// To the nearest, ties to even; what does not fit becomes the nearest that does, and not-a-number the least.
template <class T> PS_FN T nearest(float v) {
  if constexpr (is_same<T, float>) return v;
  v = min(max(float(Limits<T>::min), v), float(Limits<T>::max));
  return T(bits_of(v + 0x1.8p23f));    // where a float's last bit is one, and the integer is in the lower bits
}

struct ResampleFields {
  ResampledAxis x, y;
  int32_t channels;                    // of the input
  int32_t copies;                      // nearest neighbours along both axes
  int32_t whole;                       // columns are blended in integers
};

// In, Out: types of the input and the output.
template <class In, class Out> struct Resample : ResampleFields {
  template <class Up> PS_FN Vec<Out, Up::kChannels> at(const Up& up, int ox, int oy, int c) const {
    constexpr int N = Up::kChannels;
    Vec<Out, N> pixel;
    const AxisTaps across(x, ox), down(y, oy);
    if (copies) {
      const auto from = up.at(across.first, down.first, c);
      PS_UNROLL
      for (int i = 0; i < N; i++) pixel[i] = Out(from[i]);
      return pixel;
    }
    float sum[N] = {};
    PS_LOOP
    for (int i = across.first; i <= across.last; i++) {
      float column[N] = {};
      WholeWeights weights;
      PS_LOOP
      for (int j = down.first; j <= down.last; j++) {
        float w = down.weight(j);
        if (whole) w = float(weights.next(w, j == down.last));
        const auto from = up.at(i, j, c);
        PS_UNROLL
        for (int k = 0; k < N; k++) column[k] = fma(w, float(from[k]), column[k]);
      }
      const float w = across.weight(i) * (whole ? 1.0f / WholeWeights::kOne : 1);
      PS_UNROLL
      for (int k = 0; k < N; k++) sum[k] = fma(w, column[k], sum[k]);
    }
    PS_UNROLL
    for (int k = 0; k < N; k++) pixel[k] = nearest<Out>(sum[k]);
    return pixel;
  }
};

// Begins the shared memory of a block. The weights follow, [tap][x] and [tap][y]; then the blended rows.
struct ResampleTables {
  int32_t first_x[kTile], taps_x[kTile], first_y[kTile], taps_y[kTile];
  int32_t begin[2], end[2];            // columns of the input that the first x needs, and the last one
  int32_t begin_y[kTile], end_y[kTile];      // rows of the input that each y needs
};

// Bytes of shared memory for tiles whose rows need so many columns of the input, `step` rows at a time.
PS_FN constexpr int64_t resample_bytes(const ResampleFields& f, int64_t columns, int step) {
  const int64_t pitch = (columns * f.channels + 2 * (kWord - 1)) / kWord * kWord;
  return int64_t(sizeof(ResampleTables)) + (f.x.most + f.y.most) * kTile * 4 + pitch * step * 4;
}

template <class In, class Out> struct TiledResample : ResampleFields {};

#if !PS_HOST
template <class Up, class In, class Out> struct Fused<Up, TiledResample<In, Out>> {
  Up up;
  TiledResample<In, Out> f;
  Rect all{}, part{};                  // of the output: what the tables are for; what the blended rows are for
  int column = 0, skipped = 0, pitch = 0;    // the first column of the input; elements of each row before it; of a row
  static constexpr int kChannels = Up::kChannels;
  static constexpr bool kTiled = true;
  using Type = Out;

  PS_FN void begin(const Rect& r) {
    all = r;
    ResampleTables& t = tables();
    PS_LOOP
    for (int i = thread(); i < 2 * kTile; i += threads()) {
      const bool down = i >= kTile;
      const int k = i % kTile, from = down ? r.y0 : r.x0, count = (down ? r.y1 : r.x1) - from;
      if (k >= count) continue;
      const ResampledAxis axis = down ? f.y : f.x;
      const AxisTaps taps(axis, from + k);
      const int n = taps.last - taps.first + 1;
      (down ? t.first_y : t.first_x)[k] = taps.first;
      (down ? t.taps_y : t.taps_x)[k] = n;
      if (!down && (k == 0 || k == count - 1)) t.begin[k != 0] = taps.begin, t.end[k != 0] = taps.end + 1;
      if (!down && count == 1) t.begin[1] = taps.begin, t.end[1] = taps.end + 1;
      if (down) t.begin_y[k] = taps.begin, t.end_y[k] = taps.end + 1;
      set_weights(taps, n, k, down);
    }
  }

  PS_FN void load(const Rect& r) {
    const ResampleTables& t = tables();
    const int y = r.y0 - all.y0, last = r.y1 - 1 - all.y0;
    column = min(t.begin[0], t.begin[1]);
    const int columns = max(t.end[0], t.end[1]) - column;
    if constexpr (Up::kTiled) {
      up.load({column, min(t.begin_y[y], t.begin_y[last]), column + columns, max(t.end_y[y], t.end_y[last])});
      sync();
    }
    if (f.copies) return;
    part = r;
    const RowTaps taps{t.first_y + y, t.taps_y + y, weights_y() + y};
    with_bytes(up, [&](const auto& from, int first) {
      const RowBlender blender{column - first, columns, r.y1 - r.y0, pixel(), f.y.in, f.whole != 0};
      skipped = blender.skipped(from);
      pitch = (skipped + columns * pixel() + kWord - 1) / kWord * kWord;
      blender.run(from, taps, rows(), pitch);
    });
  }

  PS_FN Vec<Out, kChannels> at(int x, int y, int c) const {
    Vec<Out, kChannels> out;
    const ResampleTables& t = tables();
    const int k = x - all.x0;
    if (f.copies) {
      const auto from = up.at(t.first_x[k], t.first_y[y - all.y0], c);
      PS_UNROLL
      for (int i = 0; i < kChannels; i++) out[i] = Out(from[i]);
      return out;
    }
    Sum sum(*this, k, y, c);
    PS_LOOP
    for (int n = 0; n < sum.taps; n++) sum.add(n, pixel());
    return sum.rounded();
  }

  PS_FN Group<Vec<Out, kChannels>> group(int x, int y, int c) const {
    Group<Vec<Out, kChannels>> out;
    if (f.copies) {
      PS_UNROLL
      for (int i = 0; i < kGroup; i++) out.v[i] = at(x + i, y, c);
      return out;
    }
    const int k = x - all.x0;
    Sum sums[kGroup] = {{*this, k, y, c}, {*this, k + 1, y, c}, {*this, k + 2, y, c}, {*this, k + 3, y, c}};
    const int most = max(max(sums[0].taps, sums[1].taps), max(sums[2].taps, sums[3].taps));
    PS_LOOP
    for (int n = 0; n < most; n++) {
      PS_UNROLL
      for (int i = 0; i < kGroup; i++) {
        // Adding nothing is quicker than to branch; but not every number is nothing when multiplied by zero.
        if (sizeof(In) == 1 || n < sums[i].taps) sums[i].add(n, pixel());
      }
    }
    PS_UNROLL
    for (int i = 0; i < kGroup; i++) out.v[i] = sums[i].rounded();
    return out;
  }

 private:
  // Of column k of the tile.
  struct Sum {
    int taps;
    const float *from, *weight;
    float v[kChannels] = {};
    PS_FN Sum(const Fused& tile, int k, int y, int c)
        : taps(tables().taps_x[k]), from(tile.rows() + (y - tile.part.y0) * tile.pitch +
                                         (tables().first_x[k] - tile.column) * tile.pixel() + tile.skipped + c),
          weight(weights_x() + k) {}
    PS_FN void add(int n, int pixel) {
      const float w = n < taps ? weight[n * kTile] : 0;
      PS_UNROLL
      for (int i = 0; i < kChannels; i++) v[i] = fma(w, from[i], v[i]);
      if (n + 1 < taps) from += pixel;
    }
    PS_FN Vec<Out, kChannels> rounded() const {
      Vec<Out, kChannels> out;
      PS_UNROLL
      for (int i = 0; i < kChannels; i++) out[i] = nearest<Out>(v[i]);
      return out;
    }
  };

  // Elements of a pixel: of all its channels.
  PS_FN int pixel() const { return kChannels > 1 ? kChannels : f.channels; }

  static PS_FN unsigned char* memory() {
    PS_SHARED_MEMORY(shared);
    return shared;
  }
  static PS_FN ResampleTables& tables() { return *reinterpret_cast<ResampleTables*>(memory()); }
  static PS_FN float* weights_x() { return reinterpret_cast<float*>(memory() + sizeof(ResampleTables)); }
  PS_FN float* weights_y() const { return weights_x() + f.x.most * kTile; }
  PS_FN float* rows() const { return weights_y() + f.y.most * kTile; }

  // Integers two to a word: [pair][y]. What becomes of their unit is in the weights of columns.
  PS_FN void set_weights(const AxisTaps& taps, int count, int k, bool down) const {
    float* to = (down ? weights_y() : weights_x()) + k;
    const float unit = f.whole && !down ? 1.0f / WholeWeights::kOne : 1;
    WholeWeights whole;
    uint32_t before = 0;
    PS_LOOP
    for (int n = 0; n < count; n++) {
      const float w = taps.weight(taps.first + n);
      if (!f.whole || !down) {
        to[n * kTile] = w * unit;
        continue;
      }
      const uint32_t one = whole.next(w, n == count - 1);
      reinterpret_cast<uint32_t*>(to)[n / 2 * kTile] = n % 2 ? before | one << 16 : one;
      before = one;
    }
  }
};

// The pixels of a group (device/picture/rows.h): their sums in turn, which wait for one another less.
template <class Up, class In, class Out>
PS_FN auto group_at(const Fused<Up, TiledResample<In, Out>>& tile, int x, int y, int c) {
  return tile.group(x, y, c);
}
#endif

}  // namespace ps::device
