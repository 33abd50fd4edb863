// The vertical pass of TiledResample (device/geometry/resize.h): a block blends rows of the input to rows of
// floats.
#pragma once

#include "device/base/bits.h"
#include "device/picture/picture.h"

namespace ps::device {

inline constexpr int kWord = 4;        // elements of a row that a thread blends at a time
inline constexpr int kRowLanes = 8;    // threads that share a row: few, as rows of a tile are short

#if !PS_HOST
// Which rows of the input make each row, and how much of each: weight [tap][row], kTile apart, or pairs of integers.
struct RowTaps {
  const int32_t *first, *count;
  const float* weight;

  PS_FN uint32_t pair(int row, int n) const {
    return reinterpret_cast<const uint32_t*>(weight)[n * kTile + row];
  }
  PS_FN int whole(int row, int n) const { return int(pair(row, n / 2) >> n % 2 * 16 & 0xffff); }
};

struct alignas(16) FourFloats {
  float v[kWord];
};

// A row of bytes in memory, read word by word. kAligned: it begins at a word.
template <bool kAligned> struct ByteRow;

template <> struct ByteRow<true> {
  const unsigned char* data;
  PS_FN ByteRow(const unsigned char* p, const unsigned char*) : data(p) {}
  PS_FN uint32_t word(int at) const { return *reinterpret_cast<const uint32_t*>(data + at); }
};

template <> struct ByteRow<false> {
  const unsigned char* data;           // the word that the row begins in
  uint32_t shift;
  int last;                            // where the last word is that has bytes of the picture, if that is near
  PS_FN ByteRow(const unsigned char* p, const unsigned char* end) {
    const int before = int(reinterpret_cast<uint64_t>(p) % kWord);
    data = p - before;
    shift = uint32_t(before) * 8;
    last = int(min<int64_t>(end - data - 1, 1 << 30)) / kWord * kWord;
  }
  PS_FN uint32_t word(int at) const {
    return shift_pair(*reinterpret_cast<const uint32_t*>(data + at),
                      *reinterpret_cast<const uint32_t*>(data + min(at + kWord, last)), shift);
  }
};

// Bytes in shared memory, each row of which begins at a word.
template <int N> struct SharedBytes {
  const unsigned char* data;
  int pitch;
  static constexpr int kChannels = N;
};

// Calls f(source, column) for what a fused kernel reads, which begins with that column of the picture.
template <class Up, class F> PS_FN void with_bytes(const Up& up, F f) { f(up, 0); }

// So many columns of the input, from the first one on, make so many rows of `pixel` elements for each column.
struct RowBlender {
  int column, columns, rows, pixel, height;    // height: of the input
  bool whole;                                  // in integers: bytes, with pairs of weights

  // How many elements come before the first column's, in each row: those of bytes begin where words do.
  template <class Up> PS_FN int skipped(const Up&) const { return 0; }
  template <int N> PS_FN int skipped(const Source<uint8_t, N, true>&) const { return column * N % kWord; }
  template <int N> PS_FN int skipped(const SharedBytes<N>&) const { return column * N % kWord; }

  // Any stages above: pixel by pixel.
  template <class Up> PS_FN void run(const Up& up, const RowTaps& taps, float* out, int pitch) const {
    constexpr int N = Up::kChannels;
    each_row([&](int row, int lane, int lanes) {
      const int first = taps.first[row], count = taps.count[row];
      PS_LOOP
      for (int at = lane; at < columns; at += lanes) {
        for (int c = 0; c < pixel; c += N) {
          float sum[N] = {};
          PS_LOOP
          for (int n = 0; n < count; n++) {
            const auto from = up.at(column + at, first + n, c);
            const float w = whole ? float(taps.whole(row, n)) : taps.weight[n * kTile + row];
            PS_UNROLL
            for (int i = 0; i < N; i++) sum[i] = fma(w, float(from[i]), sum[i]);
          }
          PS_UNROLL
          for (int i = 0; i < N; i++) out[row * pitch + at * pixel + c + i] = sum[i];
        }
      }
    });
  }

  template <int N> PS_FN void run(const SharedBytes<N>& up, const RowTaps& taps, float* out, int pitch) const {
    blend_bytes<true>(up.data + column * N / kWord * kWord, nullptr, up.pitch, taps, out, pitch);
  }

  // Bytes in memory.
  template <int N>
  PS_FN void run(const Source<uint8_t, N, true>& up, const RowTaps& taps, float* out, int pitch) const {
    const int64_t stride = up.stride.y;
    const unsigned char *begin = up.data + column * N / kWord * kWord, *end = up.data + stride * height;
    if ((reinterpret_cast<uint64_t>(begin) | uint64_t(stride)) % kWord)
      blend_bytes<false>(begin, end, stride, taps, out, pitch);
    else
      blend_bytes<true>(begin, end, stride, taps, out, pitch);
  }

 private:
  // Calls f(row, lane, lanes) for this thread's rows, each of which so many threads share.
  template <class F> PS_FN void each_row(F f) const {
    const int lanes = min(threads(), kRowLanes), groups = threads() / lanes, group = thread() / lanes;
    if (group >= groups) return;
    PS_LOOP
    for (int row = group; row < rows; row += groups) f(row, thread() - group * lanes, lanes);
  }

  template <bool kAligned>
  PS_FN void blend_bytes(const unsigned char* begin, const unsigned char* end, int64_t stride, const RowTaps& taps,
                         float* out, int pitch) const {
    each_row([&](int row, int lane, int lanes) {
      const unsigned char* p = begin + taps.first[row] * stride;
      const int count = taps.count[row];
      float* to = out + row * pitch;
      const auto word = [&](int at, int n) { return ByteRow<kAligned>(p + n * stride, end).word(at); };
      if (whole && count <= 2) return blend_pairs<1, kAligned>(p, end, stride, taps, row, to, pitch, lane, lanes);
      if (whole && count <= 4) return blend_pairs<2, kAligned>(p, end, stride, taps, row, to, pitch, lane, lanes);
      PS_LOOP
      for (int at = lane * kWord; at < pitch; at += lanes * kWord) {
        FourFloats sum{};
        if (whole) {
          uint32_t total[kWord] = {};
          PS_LOOP
          for (int n = 0; n < count; n += 2)
            add_pair(word(at, n), word(at, min(n + 1, count - 1)), taps.pair(row, n / 2), total);
          PS_UNROLL
          for (int i = 0; i < kWord; i++) sum.v[i] = float(int(total[i]));
        } else {
          PS_LOOP
          for (int n = 0; n < count; n++) {
            const uint32_t a = word(at, n);
            const float w = taps.weight[n * kTile + row];
            PS_UNROLL
            for (int i = 0; i < kWord; i++) sum.v[i] = fma(w, float(int(a >> 8 * i & 0xff)), sum.v[i]);
          }
        }
        *reinterpret_cast<FourFloats*>(to + at) = sum;
      }
    });
  }

  // Few rows: their addresses and weights stay in registers.
  template <int kPairs, bool kAligned>
  static PS_FN void blend_pairs(const unsigned char* p, const unsigned char* end, int64_t stride, const RowTaps& taps,
                                int row, float* to, int pitch, int lane, int lanes) {
    const int last = taps.count[row] - 1;
    const ByteRow<kAligned> first[] = {{p, end}, {p + min(1, last) * stride, end}};
    const ByteRow<kAligned> second[] = {{p + min(2, last) * stride, end}, {p + min(3, last) * stride, end}};
    const uint32_t first_pair = taps.pair(row, 0), second_pair = kPairs > 1 ? taps.pair(row, 1) : 0;
    PS_LOOP
    for (int at = lane * kWord; at < pitch; at += lanes * kWord) {
      uint32_t total[kWord] = {};
      add_pair(first[0].word(at), first[1].word(at), first_pair, total);
      if (kPairs > 1) add_pair(second[0].word(at), second[1].word(at), second_pair, total);
      FourFloats sum;
      PS_UNROLL
      for (int i = 0; i < kWord; i++) sum.v[i] = float(int(total[i]));
      *reinterpret_cast<FourFloats*>(to + at) = sum;
    }
  }

  // Of the bytes of two rows, with the weight of each.
  static PS_FN void add_pair(uint32_t a, uint32_t b, uint32_t weights, uint32_t* total) {
    const uint32_t low = pick_bytes(a, b, 0x5140), high = pick_bytes(a, b, 0x7362);
    total[0] = dot_lower(weights, low, total[0]);
    total[1] = dot_upper(weights, low, total[1]);
    total[2] = dot_lower(weights, high, total[2]);
    total[3] = dot_upper(weights, high, total[3]);
  }
};
#endif

}  // namespace ps::device
