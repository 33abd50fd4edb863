// From bytes to the type that is asked for.
#pragma once

#include "device/base/full_scale.h"
#include "device/jpeg/jpeg.h"

namespace ps::device {

inline constexpr int kJpegConverted = 3 * 4096;          // values, for a block

#if !PS_HOST
template <class To> PS_FN void jpeg_convert(const Launch& l) {
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!is_sound(p)) return;
  const int64_t all = int64_t(p.width) * p.height * p.channels, first = int64_t(b.index) * kJpegConverted;
  const auto count = int(min(all - first, int64_t(kJpegConverted)));
  const uint8_t* from = on_gpu(p.out) + first;
  To* to = on_gpu(static_cast<To*>(p.converted)) + first;
  if (p.to_ycbcr) {
    for (int i = thread() * 3; i < count; i += threads() * 3) rescale_to_ycbcr(from + i, to + i);
  } else {
    for (int i = thread(); i < count; i += threads()) to[i] = rescale<To>(from[i]);
  }
}
#endif

}  // namespace ps::device
