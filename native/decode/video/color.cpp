#include "decode/video/color.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/simd.h"
#include "decode/jpeg/color.h"

namespace ps {
namespace {

constexpr int64_t kSlack = 64;               // samples behind a row that may be read and written
constexpr int kMostBits = 12;

#if defined(__AVX2__)
constexpr int kLanes = 16;
using Vec = __m256i;
#define PS_V(name) _mm256_##name
Vec load(const void* p) { return _mm256_loadu_si256(static_cast<const Vec*>(p)); }
void store_bytes(Vec v, uint8_t* to) {
  const Vec bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
}
#else
constexpr int kLanes = 8;
using Vec = __m128i;
#define PS_V(name) _mm_##name
Vec load(const void* p) { return _mm_loadu_si128(static_cast<const Vec*>(p)); }
void store_bytes(Vec v, uint8_t* to) { _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(v, v)); }
#endif

struct Weights { double red, blue; };

Weights weights_of(psv_matrix matrix) {
  switch (matrix) {
    case PSV_BT709: return {0.2126, 0.0722};
    case PSV_BT2020: return {0.2627, 0.0593};
    default: return {0.299, 0.114};
  }
}

int16_t fixed(double factor) { return int16_t(std::lround(factor * 8192)); }

// Where a pixel's chroma lies: between two samples, in quarters of the way from `near` to `far`.
struct Between {
  int64_t near, far;
  int share;                                 // of `far`, of 4
};

Between between(int64_t at, int shift, int64_t count) {
  if (shift == 0) return {at, at, 0};
  if (shift == 1) return {at >> 1, std::clamp<int64_t>((at >> 1) + (at & 1 ? 1 : -1), 0, count - 1), 1};
  const int64_t own = at >> shift;           // 4 pixels to a sample: at 3/8 and 1/8, rounded to quarters
  const int64_t place = at & 3;
  return {own, std::clamp<int64_t>(own + (place < 2 ? -1 : 1), 0, count - 1), place == 0 || place == 3 ? 2 : 1};
}

}  // namespace

ColorFactors color_factors(int depth, bool full_range, psv_matrix matrix) {
  const double unit = double(1 << (depth - 8)), full = ((1 << depth) - 1) / unit;
  const auto [red, blue] = weights_of(matrix);
  const double green = 1 - red - blue, chroma = full_range ? 255 / full : 255.0 / 224;
  ColorFactors f{};
  f.black = int16_t(full_range ? 0 : 16 << (depth - 8));
  f.luma = fixed(full_range ? 255 / full : 255.0 / 219);
  f.red_v = fixed(2 * (1 - red) * chroma);
  f.blue_u = fixed(2 * (1 - blue) * chroma);
  f.green_u = fixed(-2 * (1 - blue) * blue / green * chroma);
  f.green_v = fixed(-2 * (1 - red) * red / green * chroma);
  return f;
}

void FrameColors::begin(const psv_picture& picture, psv_matrix matrix) {
  picture_ = picture;
  drop_ = std::max(picture.depth - kMostBits, 0);
  depth_ = picture.depth - drop_;
  factors_ = color_factors(depth_, picture.full_range, matrix);
  chroma_width_ = -(-int64_t(picture.width) >> picture.shift_x);
  chroma_height_ = -(-int64_t(picture.height) >> picture.shift_y);
  std::fill(std::begin(mixed_y_), std::end(mixed_y_), -1);
}

void FrameColors::read(int plane, int64_t y, int64_t x0, int64_t x1, uint16_t* to) const {
  const uint8_t* row = picture_.planes[plane] + y * picture_.strides[plane];
  if (picture_.depth == 8) {
    for (int64_t x = x0; x < x1; x++) to[x - x0] = row[x];
    return;
  }
  const auto* wide = reinterpret_cast<const uint16_t*>(row);
  for (int64_t x = x0; x < x1; x++) to[x - x0] = uint16_t(wide[x] >> drop_);
}

// The chroma of a row of pixels, times 4, for each sample across.
const uint16_t* FrameColors::mixed_row(int plane, int64_t y) {
  Samples& mixed = mixed_[plane];
  if (mixed_y_[plane] == y) return mixed.data();
  mixed_y_[plane] = y;
  const auto n = size_t(chroma_width_);
  for (Samples* s : {&mixed, &near_, &far_}) s->resize(n + kSlack);
  const Between b = between(y, picture_.shift_y, chroma_height_);
  read(plane, b.near, 0, chroma_width_, near_.data());
  if (b.share) read(plane, b.far, 0, chroma_width_, far_.data());
  const uint16_t *near = near_.data(), *far = b.share ? far_.data() : near;
  uint16_t* to = mixed.data();
  const auto a = uint16_t(4 - b.share), c = uint16_t(b.share);
  for (size_t x = 0; x < n; x++) to[x] = uint16_t(near[x] * a + far[x] * c);
  return to;
}

// Of each pixel, less its middle, in 1/128 of a step of 8 bits.
void FrameColors::chroma(int plane, int64_t y, int64_t x0, int64_t x1, int16_t* to) {
  const uint16_t* row = mixed_row(plane, y);
  const int up = std::max(11 - depth_, 0), down = std::max(depth_ - 11, 0);
  const auto middle = uint16_t(1 << (depth_ + 3));
  const auto put = [&](int64_t x, uint16_t sixteenfold) {
    to[x - x0] = int16_t(int16_t(uint16_t(sixteenfold - middle)) >> down << up);
  };
  const auto one = [&](int64_t x) {
    const Between b = between(x, picture_.shift_x, chroma_width_);
    put(x, uint16_t(row[b.near] * (4 - b.share) + row[b.far] * b.share));
  };
  if (picture_.shift_x == 0) {
    for (int64_t x = x0; x < x1; x++) put(x, uint16_t(row[x] * 4));
    return;
  }
  if (picture_.shift_x != 1) {
    for (int64_t x = x0; x < x1; x++) one(x);
    return;
  }
  // Samples with a neighbour on either side, two pixels each.
  const int64_t first = std::max<int64_t>((x0 + 1) / 2, 1), last = std::min(x1 / 2, chroma_width_ - 1);
  if (first >= last) {
    for (int64_t x = x0; x < x1; x++) one(x);
    return;
  }
  for (int64_t x = x0; x < 2 * first; x++) one(x);
  for (int64_t c = first; c < last; c++) {
    const auto three = uint16_t(3 * row[c]);
    put(2 * c, uint16_t(three + row[c - 1]));
    put(2 * c + 1, uint16_t(three + row[c + 1]));
  }
  for (int64_t x = 2 * last; x < x1; x++) one(x);
}

// R, G and B, and gray, are of full range.
uint8_t FrameColors::scaled(uint16_t sample) const {
  const int most = (1 << depth_) - 1;
  return uint8_t((sample * 255 + most / 2) / most);
}

void FrameColors::row(int64_t y, int64_t x0, int64_t x1, uint8_t* to) {
  const auto n = size_t(x1 - x0), room = n + kSlack;
  planes_.resize(3 * room);
  uint8_t *r = planes_.data(), *g = r + room, *b = g + room;
  luma_row_.resize(room);
  if (picture_.components == 1 || picture_.is_rgb) {
    for (int c = 0; c < picture_.components; c++) {
      read(c, y, x0, x1, luma_row_.data());
      for (size_t i = 0; i < n; i++) r[size_t(c) * room + i] = scaled(luma_row_[i]);
    }
    if (picture_.components == 1) g = b = r;
    return jpeg::interleave(r, g, b, int(n), to);
  }
  read(0, y, x0, x1, luma_row_.data());
  for (int c = 1; c < 3; c++) {
    chroma_row_[c].resize(room);
    chroma(c, y, x0, x1, chroma_row_[c].data());
  }
  const Vec black = PS_V(set1_epi16)(factors_.black), half = PS_V(set1_epi16)(16);
  const __m128i shift = _mm_cvtsi32_si128(15 - depth_);
  const auto times = [](Vec v, int16_t factor) { return PS_V(mulhrs_epi16)(v, PS_V(set1_epi16)(factor)); };
  const auto round = [&](Vec v) { return PS_V(srai_epi16)(PS_V(add_epi16)(v, half), 5); };
  for (size_t i = 0; i < n; i += kLanes) {
    const Vec light = PS_V(sub_epi16)(load(luma_row_.data() + i), black);
    const Vec l = times(PS_V(sll_epi16)(light, shift), factors_.luma);
    const Vec u = load(chroma_row_[1].data() + i), v = load(chroma_row_[2].data() + i);
    store_bytes(round(PS_V(add_epi16)(l, times(v, factors_.red_v))), r + i);
    const Vec without_v = PS_V(add_epi16)(l, times(u, factors_.green_u));
    store_bytes(round(PS_V(add_epi16)(without_v, times(v, factors_.green_v))), g + i);
    store_bytes(round(PS_V(add_epi16)(l, times(u, factors_.blue_u))), b + i);
  }
  jpeg::interleave(r, g, b, int(n), to);
}

}  // namespace ps
