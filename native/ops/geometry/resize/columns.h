// The horizontal pass of fixed-point resampling: interleaved int16 pixels to uint8, or to int16 again.
#pragma once

#include "ops/geometry/resize/fixed.h"

namespace ps {

// For 1, 3 and 4 channels.
class FixedColumns {
 public:
  // So many elements behind a row may be read: there are weights of zero for them.
  int64_t slack() const { return int64_t(fixed_.pairs + 2) * 2 * channels_ + 8; }
  static bool supports(int channels) { return channels == 1 || channels == 3 || channels == 4; }

  void build(const Taps& taps, int channels) {
    fixed_.build(taps, kColumnBits);
    channels_ = channels;
    at_.resize(size_t(taps.axis.out));
    for (int64_t x = 0; x < taps.axis.out; x++) at_[size_t(x)] = taps.first[size_t(x)] * channels;
#if defined(__AVX2__)
    spread(taps);
#endif
  }

  // Output pixels x0 <= x < x1; row points at input pixel 0 (which need not exist, if no tap reads it).
  template <class Out> void run(const int16_t* row, int64_t x0, int64_t x1, Out* out) const {
#if defined(__AVX2__)
    if (channels_ == 1) return groups<1>(row, x0, x1, out);
    if (channels_ == 3) return groups<3>(row, x0, x1, out);
    return groups<4>(row, x0, x1, out);
#else
    if (channels_ == 1) return plain<1>(row, x0, x1, out);
    if (channels_ == 3) return plain<3>(row, x0, x1, out);
    return plain<4>(row, x0, x1, out);
#endif
  }

 private:
  static constexpr int kGroup = 8;   // output pixels at a time
  FixedTaps fixed_;
  int channels_ = 0;
  std::vector<int32_t> at_;          // first input element of each output pixel

#if !defined(__AVX2__)
  template <int C, class Out> void plain(const int16_t* row, int64_t x0, int64_t x1, Out* out) const {
    const detail::Final final(fixed_.bits);
    for (int64_t x = x0; x < x1; x++, out += C) {
      const int16_t *p = row + at_[size_t(x)], *w = fixed_.at(x);
      int32_t sum[C];
      std::fill_n(sum, C, sizeof(Out) == 1 ? final.bias : 1 << (fixed_.bits - 1));
      for (int k = 0; k < fixed_.pairs * 2; k++, p += C)
        for (int c = 0; c < C; c++) sum[c] += w[k] * p[c];
      for (int c = 0; c < C; c++) {
        if constexpr (sizeof(Out) == 1) out[c] = final(sum[c]);
        else out[c] = int16_t(sum[c] >> fixed_.bits);
      }
    }
  }
#else
  // Weights as the multiplications want them, one plane per pair of taps (four taps where there is one channel):
  // for each output pixel 16 bytes (8).
  std::vector<int16_t> spread_;
  int planes_ = 0;
  int64_t plane_ = 0;

  void spread(const Taps& taps) {
    const int64_t out = taps.axis.out;
    const int n = fixed_.pairs * 2;
    const int per_plane = channels_ == 1 ? 4 : 2, words = channels_ == 1 ? 4 : 8;
    planes_ = (n + per_plane - 1) / per_plane;
    plane_ = (out + kGroup) * words;
    spread_.assign(size_t(planes_ * plane_), 0);
    for (int p = 0; p < planes_; p++) {
      for (int64_t x = 0; x < out; x++) {
        const int16_t* w = fixed_.at(x) + p * per_plane;
        int16_t* to = &spread_[size_t(p * plane_ + x * words)];
        if (channels_ == 1) std::copy_n(w, std::min(4, n - p * 4), to);
        else for (int c = 0; c < channels_; c++) std::copy_n(w, 2, to + 2 * c);
      }
    }
  }

  // Sums of 8 output pixels: one channel: s[0], in order; else two pixels of four lanes in each of s[0..3].
  template <int C, int kPlanes>
  void sums(const int16_t* row, const int32_t* at, int64_t x, __m256i start, __m256i* s) const {
    const int planes = kPlanes ? kPlanes : planes_;
    if constexpr (C == 1) {
      __m256i a = _mm256_setzero_si256(), b = a;
      for (int p = 0; p < planes; p++) {
        const int16_t *w = &spread_[size_t(p * plane_ + x * 4)], *q = row + 4 * p;
        const auto four = [&](int i) {
          const auto two = [&](int j) {
            const __m128i lo = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(q + at[j]));
            return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(lo), reinterpret_cast<const __m64*>(q + at[j + 1])));
          };
          return _mm256_inserti128_si256(_mm256_castsi128_si256(two(i)), two(i + 2), 1);
        };
        a = _mm256_add_epi32(a, _mm256_madd_epi16(four(0), detail::load32(w)));
        b = _mm256_add_epi32(b, _mm256_madd_epi16(four(4), detail::load32(w + 16)));
      }
      s[0] = _mm256_add_epi32(start, _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xD8));
    } else {
      // The two taps of each channel side by side.
      const __m256i pairs = _mm256_broadcastsi128_si256(
          C == 3 ? _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, 0, 1, 0, 1)
                 : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
      for (int j = 0; j < 4; j++) s[j] = start;
      for (int p = 0; p < planes; p++) {
        const int16_t *w = &spread_[size_t(p * plane_ + x * 8)], *q = row + 2 * C * p;
        for (int j = 0; j < 4; j++) {
          const __m256i v = _mm256_shuffle_epi8(detail::load16x2(q + at[2 * j], q + at[2 * j + 1]), pairs);
          s[j] = _mm256_add_epi32(s[j], _mm256_madd_epi16(v, detail::load32(w + 16 * j)));
        }
      }
    }
  }

  // Rounds and stores 8 pixels; with three channels up to 8 bytes of junk follow them.
  template <int C> static void store(const __m256i* s, __m256 scale, __m128i, uint8_t* out) {
    if constexpr (C == 1) {
      const __m256i t = detail::nearest(s[0], scale);
      const __m128i u = _mm_packs_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(u, u));
    } else {
      const __m256i t0 = _mm256_packs_epi32(detail::nearest(s[0], scale), detail::nearest(s[1], scale));
      const __m256i t1 = _mm256_packs_epi32(detail::nearest(s[2], scale), detail::nearest(s[3], scale));
      const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);   // lanes hold the even and the odd pixels
      const __m256i t = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(t0, t1), order);
      if constexpr (C == 4) return detail::store32(out, t);
      const __m256i squeeze =
          _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
      const __m256i u = _mm256_shuffle_epi8(t, squeeze);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(u));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 12), _mm256_extracti128_si256(u, 1));
    }
  }
  template <int C> static void store(const __m256i* s, __m256, __m128i shift, int16_t* out) {
    const auto round = [&](__m256i v) { return _mm256_sra_epi32(v, shift); };
    if constexpr (C == 1) {
      const __m256i t = round(s[0]);
      const __m128i u = _mm_packs_epi32(_mm256_castsi256_si128(t), _mm256_extracti128_si256(t, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), u);
    } else {
      const __m256i squeeze =
          _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, -1, -1, -1, -1));
      for (int j = 0; j < 4; j += 2) {   // even pixels in the low lane, odd ones in the high
        __m256i t = _mm256_packs_epi32(round(s[j]), round(s[j + 1]));
        t = _mm256_permute4x64_epi64(t, 0xD8);
        if constexpr (C == 3) t = _mm256_shuffle_epi8(t, squeeze);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * j * C), _mm256_castsi256_si128(t));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + (2 * j + 2) * C), _mm256_extracti128_si256(t, 1));
      }
    }
  }

  template <int C, class Out> void groups(const int16_t* row, int64_t x0, int64_t x1, Out* out) const {
    if (planes_ == 1) return groups<C, 1>(row, x0, x1, out);
    if (planes_ == 2) return groups<C, 2>(row, x0, x1, out);
    if (planes_ == 3) return groups<C, 3>(row, x0, x1, out);
    return groups<C, 0>(row, x0, x1, out);
  }

  template <int C, int kPlanes, class Out> void groups(const int16_t* row, int64_t x0, int64_t x1, Out* out) const {
    const detail::Final final(fixed_.bits);
    const __m256 scale = _mm256_set1_ps(final.scale);
    const __m256i start = _mm256_set1_epi32(sizeof(Out) == 1 ? final.bias : 1 << (fixed_.bits - 1));
    const __m128i shift = _mm_cvtsi32_si128(fixed_.bits);
    const int64_t spare = C == 3 ? 4 : 0;   // pixels that the junk behind a group may cover
    __m256i s[4];
    int64_t x = x0;
    for (; x + kGroup + spare <= x1; x += kGroup, out += kGroup * C) {
      sums<C, kPlanes>(row, &at_[size_t(x)], x, start, s);
      store<C>(s, scale, shift, out);
    }
    for (; x < x1; x += kGroup, out += kGroup * C) {
      Out last[kGroup * C + 16];
      int32_t at[kGroup];   // the window of the input may end with what pixel x1 - 1 needs
      for (int i = 0; i < kGroup; i++) at[i] = at_[size_t(std::min(x + i, x1 - 1))];
      sums<C, kPlanes>(row, at, x, start, s);
      store<C>(s, scale, shift, last);
      std::memcpy(out, last, size_t(std::min<int64_t>(kGroup, x1 - x) * C) * sizeof(Out));
    }
  }
#endif
};

}  // namespace ps
