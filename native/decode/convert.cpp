#include "decode/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "core/error.h"

namespace ps {
namespace {

template <class T> constexpr double full_scale() {
  if constexpr (std::is_floating_point_v<T>) return 1;
  else return double(std::numeric_limits<T>::max());
}

// What a file's float is to an integer's full scale: nothing beyond it, and not-a-number is black.
template <class T> T within_scale(T v) {
  if constexpr (std::is_floating_point_v<T>) return std::min(std::max(T(0), v), T(1));
  else return v;
}

// The nearest T to a value that is at least 0.
template <class T> T store(double v) {
  if constexpr (std::is_floating_point_v<T>) return T(v);
  else return T(std::min(std::floor(v + 0.5), full_scale<T>()));
}

template <class From, class To> To rescale(From v) {
  if constexpr (std::is_same_v<From, To>) return v;
  else if constexpr (std::is_floating_point_v<To>) return To(v) * To(1 / full_scale<From>());
  // 32-bit integers come from a float: more digits than the file's 8 or 16 bits would be made up anyway.
  else if constexpr (sizeof(To) == 4) return store<To>(double(float(within_scale(v)) * float(1 / full_scale<From>())) *
                                                       (std::is_signed_v<To> ? 0x1p31 : 0x1p32));
  else return store<To>(double(within_scale(v)) * (full_scale<To>() / full_scale<From>()));
}

template <class From, class To> void rescale_row(const void* from, void* to, int64_t values) {
  const From* f = static_cast<const From*>(from);
  To* t = static_cast<To*>(to);
  for (int64_t i = 0; i < values; i++) t[i] = rescale<From, To>(f[i]);
}

// Per channel: weights of R, G and B, and the offset as a share of 2^bits.
constexpr float kYcbcr[3][4] = {
    {float(0.299 * 219 / 255), float(0.587 * 219 / 255), float(0.114 * 219 / 255), 16 / 256.0f},
    {float(-0.299 / 1.772 * 224 / 255), float(-0.587 / 1.772 * 224 / 255), float(0.5 * 224 / 255), 128 / 256.0f},
    {float(0.5 * 224 / 255), float(-0.587 / 1.402 * 224 / 255), float(-0.114 / 1.402 * 224 / 255), 128 / 256.0f},
};

template <class From, class To> void ycbcr_row(const void* from, void* to, int64_t values) {
  constexpr bool whole = !std::is_floating_point_v<To>;
  constexpr float scale = float(full_scale<To>() / full_scale<From>()), base = whole ? float(full_scale<To>() + 1) : 1;
  const From* f = static_cast<const From*>(from);
  To* t = static_cast<To*>(to);
  for (int64_t i = 0; i < values; i += 3) {
    const auto scaled = [&](From v) { return float(whole ? within_scale(v) : v) * scale; };
    const float r = scaled(f[i]), g = scaled(f[i + 1]), b = scaled(f[i + 2]);
    for (int c = 0; c < 3; c++) {
      const float* k = kYcbcr[c];
      const float v = k[0] * r + k[1] * g + k[2] * b + k[3] * base;
      if constexpr (!whole) t[i + c] = v;
      else if constexpr (sizeof(To) == 4) t[i + c] = store<To>(double(v));
      else t[i + c] = To(int32_t(v + 0.5f));   // 16..240 of 255: never out of range
    }
  }
}

template <class From> auto pick(DType to, bool to_ycbcr) -> void (*)(const void*, void*, int64_t) {
  switch (to) {
    case DType::u8: return to_ycbcr ? ycbcr_row<From, uint8_t> : rescale_row<From, uint8_t>;
    case DType::i8: return to_ycbcr ? ycbcr_row<From, int8_t> : rescale_row<From, int8_t>;
    case DType::u16: return to_ycbcr ? ycbcr_row<From, uint16_t> : rescale_row<From, uint16_t>;
    case DType::i16: return to_ycbcr ? ycbcr_row<From, int16_t> : rescale_row<From, int16_t>;
    case DType::u32: return to_ycbcr ? ycbcr_row<From, uint32_t> : rescale_row<From, uint32_t>;
    case DType::i32: return to_ycbcr ? ycbcr_row<From, int32_t> : rescale_row<From, int32_t>;
    case DType::f32: return to_ycbcr ? ycbcr_row<From, float> : rescale_row<From, float>;
    default: fail(ErrorKind::argument, std::string("pictures are not decoded to ") + name_of(to) +
                  ": dtype must be UINT8, INT8, UINT16, INT16, UINT32, INT32 or FLOAT");
  }
}

}  // namespace

void PixelConverter::begin(int64_t width, int channels, DType from, DType to, bool to_ycbcr, RowSink& sink) {
  sink_ = &sink;
  values_ = width * channels;
  convert_ = from == DType::u8    ? pick<uint8_t>(to, to_ycbcr)
             : from == DType::u16 ? pick<uint16_t>(to, to_ycbcr)
                                  : pick<float>(to, to_ycbcr);
  const size_t bytes = size_t(values_) * size_of(to) + kRowSlack;
  if (row_.size() < bytes) row_.resize(bytes);
}

void PixelConverter::push(int64_t y, const void* row) {
  void* to = sink_->place(y);
  if (!to) to = row_.data();
  convert_(row, to, values_);
  sink_->push(y, to);
}

}  // namespace ps
