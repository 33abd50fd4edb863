#include "decode/convert.h"

#include <string>

#include "core/error.h"
#include "device/base/full_scale.h"

namespace ps {
namespace {

template <class From, class To> void rescale_row(const void* from, void* to, int64_t values) {
  const From* f = static_cast<const From*>(from);
  To* t = static_cast<To*>(to);
  for (int64_t i = 0; i < values; i++) t[i] = device::rescale<To>(f[i]);
}

template <class From, class To> void ycbcr_row(const void* from, void* to, int64_t values) {
  const From* f = static_cast<const From*>(from);
  To* t = static_cast<To*>(to);
  for (int64_t i = 0; i < values; i += 3) device::rescale_to_ycbcr(f + i, t + i);
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
