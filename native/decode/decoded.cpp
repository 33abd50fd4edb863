#include "decode/decoded.h"

#include <algorithm>
#include <vector>

namespace ps {
namespace {

template <class T> void to_full_scale(const T* __restrict from, T* __restrict to, int64_t values, uint32_t most) {
  constexpr uint32_t full = T(-1);
  for (int64_t i = 0; i < values; i++) to[i] = T((std::min<uint32_t>(from[i], most) * full + most / 2) / most);
}

template <class T>
void push(const T* pixels, const Window& there, const Window& wanted, int channels, uint32_t most, ChannelRows& rows) {
  const bool scale = most != T(-1);
  std::vector<T> scaled(scale ? size_t(wanted.width() * channels) : 0);
  for (int64_t y = wanted.y0; y < wanted.y1; y++) {
    const T* row = pixels + ((y - there.y0) * there.width() + wanted.x0 - there.x0) * channels;
    if (scale) to_full_scale(row, scaled.data(), int64_t(scaled.size()), most);
    rows.push(y, scale ? scaled.data() : row);
  }
}

}  // namespace

void DecodedPixels::read(const uint8_t*, size_t, const ImageInfo& info, const PictureRequest& request, RowSink& sink) {
  ChannelRows rows;
  rows.begin(info.stored_type(), channels_, usual_colours(channels_), request, sink);
  const uint32_t most = (1u << info.bits) - 1;
  if (info.bits > 8)
    push(reinterpret_cast<const uint16_t*>(data_), window_, request.window, channels_, most, rows);
  else
    push(data_, window_, request.window, channels_, most, rows);
}

}  // namespace ps
