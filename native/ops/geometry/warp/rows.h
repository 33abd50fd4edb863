// Pictures and volumes read at positions that are an affine function of the output's, on the CPU: eight rows of the
// output at a time, one per SIMD lane, since positions are summed up step by step along each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/convert.h"
#include "ops/geometry/warp/source.h"

namespace ps {

inline constexpr int kWarpSteps = 64;
// After so many pixels of a row the sum is begun anew, so that its roundings do not add up. These are DALI's sums.
inline constexpr int64_t kWarpTile = 256;

// Positions of kWarpSteps pixels in kWarpRows rows, by [step][row].
template <int D> struct WarpPositions {
  alignas(64) int32_t at[D][kWarpSteps * kWarpRows];
  alignas(64) float part[D][kWarpSteps * kWarpRows];
};

// Goes along kWarpRows rows of the output, from row y of plane z on.
template <int D> class WarpWalk {
 public:
  WarpWalk(const device::AffineMatrix<D>& m, int64_t z, int64_t y, int64_t x) {
    for (int d = 0; d < D; d++) {
      step_[d] = m.at(d, 0);
      for (int r = 0; r < kWarpRows; r++) {
        float v = m.at(d, 1) * (float(y + r) + 0.5f) + (m.at(d, 0) * 0.5f + m.at(d, D));
        if constexpr (D == 3) v = m.at(d, 2) * (float(z) + 0.5f) + v;
        begin_[d][r] = v;
      }
    }
    for (; x_ + kWarpTile <= x; x_ += kWarpTile) next_tile();
    std::memcpy(now_, begin_, sizeof now_);
    for (int64_t i = x_; i < x; i++)
      for (int d = 0; d < D; d++)
        for (int r = 0; r < kWarpRows; r++) now_[d][r] += step_[d];
    within_ = x - x_;
  }

  // The positions of the next pixels, at most n, and how many there are.
  template <bool kNearest> int64_t next(int64_t n, WarpPositions<D>& p) {
    if (within_ == kWarpTile) {
      next_tile();
      x_ += kWarpTile;
      std::memcpy(now_, begin_, sizeof now_);
      within_ = 0;
    }
    n = std::min<int64_t>({n, kWarpSteps, kWarpTile - within_});
    for (int d = 0; d < D; d++) sum<kNearest>(now_[d], step_[d], n, p.at[d], p.part[d]);
    within_ += n;
    return n;
  }

 private:
  template <bool kNearest>
  static void sum(float* now, float step, int64_t n, int32_t* __restrict at, float* __restrict part) {
    using Lanes = float __attribute__((vector_size(kWarpRows * sizeof(float))));
    alignas(64) float positions[kWarpSteps * kWarpRows];
    Lanes v;
    std::memcpy(&v, now, sizeof v);
    for (int64_t i = 0; i < n; i++, v += step) std::memcpy(positions + i * kWarpRows, &v, sizeof v);
    std::memcpy(now, &v, sizeof v);
    for (int64_t i = 0; i < n * kWarpRows; i++) {
      const float from = kNearest ? positions[i] : positions[i] - 0.5f, floor = std::floor(from);
      at[i] = device::whole_position(floor);
      const float rest = from - floor;                           // not-a-number of infinite positions
      if constexpr (!kNearest) part[i] = rest >= 0 ? rest : 0;
    }
  }
  void next_tile() {
    for (int d = 0; d < D; d++)
      for (int r = 0; r < kWarpRows; r++) begin_[d][r] += step_[d] * float(kWarpTile);
  }

  float step_[D], begin_[D][kWarpRows], now_[D][kWarpRows];
  int64_t x_ = 0, within_ = 0;
};

// C: the number of channels, or 0 for any.
template <class In, class Out, bool kNearest, int D, int C> class WarpPixels {
 public:
  WarpPixels(const WarpSource& s) : s_(s) {}

  // n pixels of each of so many rows.
  void run(const WarpPositions<D>& p, int64_t n, int rows, Out* const* out) const {
    if constexpr (kNearest && C > 0 && D == 2 && std::is_same_v<In, Out>)
      if (s_.bytes <= INT32_MAX) return copy(p, n, rows, out);
    const int channels = C ? C : s_.channels;
    for (int r = 0; r < rows; r++) {
      Out* to = out[r];
      for (int64_t i = r; i < n * kWarpRows; i += kWarpRows, to += channels) {
        if constexpr (kNearest) {
          const In* from = pixel(p.at[0][i], p.at[1][i], D == 3 ? p.at[D - 1][i] : 0);
          if (from) for (int c = 0; c < channels; c++) to[c] = convert<Out>(from[c]);
          else for (int c = 0; c < channels; c++) to[c] = fill_of<Out>(c);
        } else if constexpr (D == 2) {
          Taps t(*this, p.at[0][i], p.at[1][i], 0);
          for (int c = 0; c < channels; c++) {
            const float upper = t.upper(c, p.part[0][i]), lower = t.lower(c, p.part[0][i]);
            to[c] = convert<Out>(upper + (lower - upper) * p.part[1][i]);
          }
        } else {
          Taps front(*this, p.at[0][i], p.at[1][i], p.at[D - 1][i]);
          Taps back(*this, p.at[0][i], p.at[1][i], p.at[D - 1][i] + 1);
          const float x = p.part[0][i], y = p.part[1][i], z = p.part[D - 1][i];
          for (int c = 0; c < channels; c++) {
            const float a = front.upper(c, x) * (1 - y) + front.lower(c, x) * y;
            const float b = back.upper(c, x) * (1 - y) + back.lower(c, x) * y;
            to[c] = convert<Out>(a + (b - a) * z);
          }
        }
      }
    }
  }

 private:
  struct Taps {
    const In *a, *b, *c, *d;
    Taps(const WarpPixels& w, int x, int y, int z) {
      const WarpSource& s = w.s_;
      if (uint32_t(x - s.lo[0]) < uint32_t(s.hi[0] - s.lo[0]) && uint32_t(y - s.lo[1]) < uint32_t(s.hi[1] - s.lo[1]) &&
          (D == 2 || uint32_t(z - s.lo[2]) <= uint32_t(s.hi[2] - s.lo[2]))) {
        a = w.there(x, y, z);
        b = next(a, s.pixel), c = next(a, s.row), d = next(c, s.pixel);
      } else {
        a = w.tap(x, y, z), b = w.tap(x + 1, y, z), c = w.tap(x, y + 1, z), d = w.tap(x + 1, y + 1, z);
      }
    }
    static const In* next(const In* p, int64_t bytes) {
      return reinterpret_cast<const In*>(reinterpret_cast<const uint8_t*>(p) + bytes);
    }
    float upper(int i, float part) const { return convert<float>(a[i]) * (1 - part) + convert<float>(b[i]) * part; }
    float lower(int i, float part) const { return convert<float>(c[i]) * (1 - part) + convert<float>(d[i]) * part; }
  };

  // Pixels as they are, wherever they are; then what is beyond the border.
  void copy(const WarpPositions<D>& p, int64_t n, int rows, Out* const* out) const {
    alignas(64) int32_t offset[kWarpSteps * kWarpRows];
    const WarpSource s = s_;
    const auto pixel_bytes = int32_t(s.pixel), row_bytes = int32_t(s.row);
    int32_t beyond = 0;
    for (int64_t i = 0; i < n * kWarpRows; i++) {
      const int32_t x = p.at[0][i], y = p.at[1][i];
      beyond |= x | (s.size[0] - 1 - x) | y | (s.size[1] - 1 - y);           // negative, if one is
      const int32_t dx = std::min(std::max(x, s.lo[0]), s.hi[0]) - s.lo[0];
      const int32_t dy = std::min(std::max(y, s.lo[1]), s.hi[1]) - s.lo[1];
      offset[i] = dx * pixel_bytes + dy * row_bytes;
    }
    for (int r = 0; r < rows; r++) {
      Out* to = out[r];
      for (int64_t i = r; i < n * kWarpRows; i += kWarpRows, to += C)
        std::memcpy(to, s.data + offset[i], sizeof(In) * C);
    }
    if (beyond >= 0 || s.clamp) return;
    for (int r = 0; r < rows; r++) {
      Out* to = out[r];
      for (int64_t i = r; i < n * kWarpRows; i += kWarpRows, to += C)
        if (!pixel(p.at[0][i], p.at[1][i], 0)) std::memcpy(to, s.fill, sizeof(In) * C);
    }
  }

  const In* there(int x, int y, int z) const {
    return reinterpret_cast<const In*>(s_.data + (x - s_.lo[0]) * s_.pixel + (y - s_.lo[1]) * s_.row +
                                       (D == 3 ? (z - s_.lo[2]) * s_.plane : 0));
  }
  // Null beyond the border, unless that is clamped. Inline, for that is where slanting volumes mostly are.
  [[gnu::always_inline]] const In* pixel(int x, int y, int z) const {
    const bool inside = uint32_t(x) < uint32_t(s_.size[0]) && uint32_t(y) < uint32_t(s_.size[1]) &&
                        (D == 2 || uint32_t(z) < uint32_t(s_.size[2]));
    if (!inside && !s_.clamp) return nullptr;
    return there(within(x, 0), within(y, 1), D == 3 ? within(z, 2) : 0);
  }
  [[gnu::always_inline]] int within(int v, int axis) const {
    return v < s_.lo[axis] ? s_.lo[axis] : v > s_.hi[axis] ? s_.hi[axis] : v;
  }
  [[gnu::always_inline]] const In* tap(int x, int y, int z) const {
    const In* p = pixel(x, y, z);
    return p ? p : reinterpret_cast<const In*>(s_.fill);
  }
  template <class T> T fill_of(int c) const { return reinterpret_cast<const T*>(s_.fill)[c]; }

  WarpSource s_;
};

#if defined(__AVX2__)
// Pictures of bytes with at most four channels, blended: a pixel is one 32-bit word.
template <class Out, int C> class WarpBytes {
 public:
  explicit WarpBytes(const WarpSource& s) : s_(s) {}
  // Words are read that reach a little beyond the pixel.
  static bool fits(const WarpSource& s) { return s.bytes >= 4 && s.bytes <= INT32_MAX / 2; }

  void run(const WarpPositions<2>& p, int64_t n, int rows, Out* const* out) const {
    alignas(32) Out results[kWarpSteps * kWarpRows * 4];
    for (int64_t i = 0; i < n; i++) {
      const __m256i x = load(p.at[0] + i * kWarpRows), y = load(p.at[1] + i * kWarpRows);
      const __m256 right = _mm256_load_ps(p.part[0] + i * kWarpRows), down = _mm256_load_ps(p.part[1] + i * kWarpRows);
      blend(x, y, right, down, results + i * kWarpRows * 4);
    }
    for (int r = 0; r < rows; r++) {
      const Out* from = results + r * 4;
      Out* to = out[r];
      // Four at a time, while there is room for what the next pixel overwrites.
      int64_t i = 0;
      for (; i + 1 < n; i++) std::memcpy(to + i * C, from + i * kWarpRows * 4, (C == 1 ? 1 : 4) * sizeof(Out));
      for (; i < n; i++) std::memcpy(to + i * C, from + i * kWarpRows * 4, C * sizeof(Out));
    }
  }

 private:
  static __m256i load(const int32_t* p) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(p)); }
  static __m256i all(int v) { return _mm256_set1_epi32(v); }
  static __m256i clamped(__m256i v, int lo, int hi) { return _mm256_min_epi32(_mm256_max_epi32(v, all(lo)), all(hi)); }
  // All ones where 0 <= v < n.
  static __m256i within(__m256i v, int n) {
    return _mm256_andnot_si256(_mm256_srai_epi32(v, 31), _mm256_cmpgt_epi32(all(n), v));
  }

  int fill() const {
    int word;
    std::memcpy(&word, s_.fill, sizeof word);
    return word;
  }
  // The pixels at these bytes. A word that would reach behind the memory is read a little before, and shifted.
  __m256i words(__m256i at) const {
    const __m256i last = all(int(s_.bytes) - 4), from = _mm256_min_epi32(at, last);
    const __m256i word = _mm256_i32gather_epi32(reinterpret_cast<const int*>(s_.data), from, 1);
    return _mm256_srlv_epi32(word, _mm256_slli_epi32(_mm256_sub_epi32(at, from), 3));
  }
  __m256i offset(__m256i x, __m256i y) const {
    const __m256i dx = _mm256_sub_epi32(x, all(s_.lo[0])), dy = _mm256_sub_epi32(y, all(s_.lo[1]));
    return _mm256_add_epi32(_mm256_mullo_epi32(dx, all(int(s_.pixel))), _mm256_mullo_epi32(dy, all(int(s_.row))));
  }
  __m256i picked(__m256i x, __m256i y) const {
    const __m256i word = words(offset(clamped(x, s_.lo[0], s_.hi[0]), clamped(y, s_.lo[1], s_.hi[1])));
    if (s_.clamp) return word;
    const __m256i inside = _mm256_and_si256(within(x, s_.size[0]), within(y, s_.size[1]));
    return _mm256_blendv_epi8(all(fill()), word, inside);
  }

  void blend(__m256i x, __m256i y, __m256 right, __m256 down, Out* to) const {
    const __m256i one = all(1);
    __m256i a, b, c, d;
    const __m256i dx = _mm256_sub_epi32(x, all(s_.lo[0])), dy = _mm256_sub_epi32(y, all(s_.lo[1]));
    const __m256i inner = _mm256_and_si256(within(dx, s_.hi[0] - s_.lo[0]), within(dy, s_.hi[1] - s_.lo[1]));
    const __m256i at = offset(x, y);
    const int64_t reach = s_.row + s_.pixel + 4;       // the last byte read, from a's first one
    const __m256i near = _mm256_cmpgt_epi32(all(int(std::max<int64_t>(int64_t(s_.bytes) - reach + 1, 0))), at);
    if (_mm256_movemask_epi8(_mm256_and_si256(inner, near)) == -1) {
      const auto* data = reinterpret_cast<const int*>(s_.data);
      const auto* below = reinterpret_cast<const int*>(s_.data + s_.row);
      const __m256i beside = _mm256_add_epi32(at, all(int(s_.pixel)));
      a = _mm256_i32gather_epi32(data, at, 1);
      b = C == 1 ? _mm256_srli_epi32(a, 8) : _mm256_i32gather_epi32(data, beside, 1);
      c = _mm256_i32gather_epi32(below, at, 1);
      d = C == 1 ? _mm256_srli_epi32(c, 8) : _mm256_i32gather_epi32(below, beside, 1);
    } else if (!s_.clamp && _mm256_testz_si256(within(_mm256_add_epi32(x, one), s_.size[0] + 1),
                                               within(_mm256_add_epi32(y, one), s_.size[1] + 1))) {
      a = b = c = d = all(fill());
    } else {
      const __m256i x1 = _mm256_add_epi32(x, one), y1 = _mm256_add_epi32(y, one);
      a = picked(x, y), b = picked(x1, y), c = picked(x, y1), d = picked(x1, y1);
    }
    const __m256 left = _mm256_sub_ps(_mm256_set1_ps(1), right);
    __m256i bytes = _mm256_setzero_si256();
    for (int k = 0; k < C; k++) {
      const __m256 upper = _mm256_add_ps(_mm256_mul_ps(channel(a, k), left), _mm256_mul_ps(channel(b, k), right));
      const __m256 lower = _mm256_add_ps(_mm256_mul_ps(channel(c, k), left), _mm256_mul_ps(channel(d, k), right));
      const __m256 v = _mm256_add_ps(upper, _mm256_mul_ps(_mm256_sub_ps(lower, upper), down));
      if constexpr (sizeof(Out) == 1) {
        // Between 0 and 255: as core/convert.h rounds.
        const __m256i whole = _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_set1_ps(0x1.fffffep-2f)));
        bytes = _mm256_or_si256(bytes, _mm256_slli_epi32(whole, 8 * k));
      } else {
        alignas(32) float lanes[kWarpRows];
        _mm256_store_ps(lanes, v);
        for (int r = 0; r < kWarpRows; r++) to[r * 4 + k] = lanes[r];
      }
    }
    if constexpr (sizeof(Out) == 1) _mm256_store_si256(reinterpret_cast<__m256i*>(to), bytes);
  }
  static __m256 channel(__m256i words, int k) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(words, 8 * k), all(255)));
  }

  WarpSource s_;
};
#endif

}  // namespace ps
