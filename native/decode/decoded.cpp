#include "decode/decoded.h"

#include <algorithm>
#include <vector>

namespace ps {
namespace {

// Rounded, where libpng's luma (decode/convert.h) is cut off: no standard says which, and DALI has both, by format.
template <class T>
T rounded_luma(T r, T g, T b) {
  return T(0.299f * float(r) + 0.587f * float(g) + 0.114f * float(b) + 0.5f);
}

template <class T>
struct Row {
  ImageType type;
  int from, to;                    // channels
  uint32_t most;                   // what numbers of so many bits can be

  T full_scale(T v) const {
    constexpr uint32_t all = T(-1);
    return most == all ? v : T((std::min<uint32_t>(v, most) * all + most / 2) / most);
  }

  void convert(const T* in, T* out, int64_t width) const {
    const bool gray = from < 3;
    for (int64_t x = 0; x < width; x++, in += from, out += to) {
      if (type == ImageType::any) {
        for (int c = 0; c < to; c++) out[c] = full_scale(in[c]);
      } else if (type == ImageType::gray) {
        out[0] = full_scale(gray ? in[0] : rounded_luma(in[0], in[1], in[2]));
      } else {
        const bool bgr = type == ImageType::bgr;
        for (int c = 0; c < 3; c++) out[c] = full_scale(in[gray ? 0 : bgr ? 2 - c : c]);
      }
    }
  }
};

template <class T>
void push(const T* pixels, const Window& there, const Window& wanted, const Row<T>& row, RowSink& sink) {
  std::vector<T> buffer(size_t(wanted.width() * row.to) + kRowSlack);
  for (int64_t y = wanted.y0; y < wanted.y1; y++) {
    row.convert(pixels + ((y - there.y0) * there.width() + wanted.x0 - there.x0) * row.from, buffer.data(),
                wanted.width());
    sink.push(y, buffer.data());
  }
}

}  // namespace

void DecodedPixels::read(const uint8_t*, size_t, const ImageInfo& info, const PictureRequest& request, RowSink& sink) {
  const int to = request.type == ImageType::any ? channels_ : request.type == ImageType::gray ? 1 : 3;
  const uint32_t most = (1u << info.bits) - 1;
  if (info.bits > 8)
    push(reinterpret_cast<const uint16_t*>(data_), window_, request.window,
         Row<uint16_t>{request.type, channels_, to, most}, sink);
  else
    push(data_, window_, request.window, Row<uint8_t>{request.type, channels_, to, most}, sink);
}

}  // namespace ps
