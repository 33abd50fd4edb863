// WebP by libwebp: lossy, lossless, with alpha; of an animation the first frame.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <webp/decode.h>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/channels.h"
#include "decode/exif.h"
#include "decode/library.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

constexpr CodecLibrary kLibrary{
    "libwebp", "WebP", "the package libwebp7 of Debian and Ubuntu, or `pip install pillow`,", {"libwebp.so.7"}};

struct Api {
  decltype(&WebPInitDecoderConfigInternal) init = nullptr;
  decltype(&WebPGetFeaturesInternal) features = nullptr;
  decltype(&WebPDecode) decode = nullptr;
  Api() {
    void* library = kLibrary.open();
    find_symbol(library, "WebPInitDecoderConfigInternal", init);
    find_symbol(library, "WebPGetFeaturesInternal", features);
    find_symbol(library, "WebPDecode", decode);
    require(init && features && decode, kLibrary);
  }
};

const Api& api() {
  static const Api found;
  return found;
}

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// What a file of chunks says of itself; libwebp is not needed for that.
struct Contents {
  int64_t width = 0, height = 0;
  bool alpha = false, animated = false;
  int orientation = 1;
  Bytes frame;                     // of an animation: the first one's chunk
};

enum Flag : uint8_t { kAnimation = 0x02, kAlpha = 0x10 };
constexpr size_t kFileHeader = 12, kChunkHeader = 8, kFrameHeader = 16;

uint32_t le24(const uint8_t* p) { return le16(p) | uint32_t(p[2]) << 16; }
bool is(const uint8_t* chunk, std::string_view name) { return std::memcmp(chunk, name.data(), 4) == 0; }

bool sniff(const uint8_t* data, size_t size) { return size >= 16 && is(data, "RIFF") && is(data + 8, "WEBP"); }

// Calls f(chunk, its payload) until it returns false. A payload may be cut off where the file is.
template <class F> void for_chunks(Bytes in, F f) {
  for (size_t at = 0; in.size - at >= kChunkHeader;) {
    const uint8_t* chunk = in.data + at;
    const size_t length = le32(chunk + 4), left = in.size - at - kChunkHeader;
    if (!f(chunk, Bytes{chunk + kChunkHeader, std::min(length, left)})) return;
    if (left <= length) return;
    at += std::min(kChunkHeader + length + (length & 1), in.size - at);
  }
}

void read_size(const uint8_t* chunk, Bytes b, Contents& c) {
  const uint8_t* p = b.data;
  if (is(chunk, "VP8 ") && b.size >= 10) {
    c.width = le16(p + 6) & 0x3FFF;
    c.height = le16(p + 8) & 0x3FFF;
  } else if (is(chunk, "VP8L") && b.size >= 5) {
    const uint32_t bits = le32(p + 1);
    c.width = 1 + (bits & 0x3FFF);
    c.height = 1 + (bits >> 14 & 0x3FFF);
    c.alpha = bits >> 28 & 1;
  } else if (is(chunk, "VP8X") && b.size >= 10) {
    c.animated = p[0] & kAnimation;
    c.alpha = p[0] & kAlpha;
    c.width = 1 + int64_t(le24(p + 4));
    c.height = 1 + int64_t(le24(p + 7));
  }
}

Contents contents(const uint8_t* data, size_t size) {
  Contents c;
  for_chunks({data + kFileHeader, size - kFileHeader}, [&](const uint8_t* chunk, Bytes b) {
    if (c.width == 0) {
      read_size(chunk, b, c);
      return c.width > 0 && is(chunk, "VP8X");       // nothing but VP8X has other chunks behind it
    }
    if (is(chunk, "ANMF") && !c.frame.data) c.frame = b;
    if (is(chunk, "EXIF")) {
      const size_t prefix = b.size >= 6 && std::memcmp(b.data, "Exif\0\0", 6) == 0 ? 6 : 0;
      c.orientation = exif_orientation(b.data + prefix, b.size - prefix);
    }
    return true;
  });
  return c;
}

ImageInfo peek_webp(const uint8_t* data, size_t size) {
  const Contents c = contents(data, size);
  if (c.width == 0) fail(ErrorKind::decode, "broken WebP: its header is missing or truncated");
  ImageInfo info;
  info.width = c.width;
  info.height = c.height;
  info.channels = c.alpha || c.animated ? 4 : 3;
  info.orientation = c.orientation;
  return info;
}

const char* why(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: return "libwebp got no memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "it uses a feature that libwebp does not know";
    case VP8_STATUS_SUSPENDED: case VP8_STATUS_NOT_ENOUGH_DATA: return "the file ends too early (it is truncated)";
    default: return "its data is broken";
  }
}

[[noreturn]] void give_up(const char* reason) {
  fail(ErrorKind::decode, std::string("this WebP cannot be decoded: ") + reason);
}

class WebpReader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    const bool rgba = request.type == ImageType::any && info.channels == 4;
    const bool bgr = request.type == ImageType::bgr;
    channels_ = rgba ? 4 : 3;
    rows_.begin(DType::u8, channels_, bgr ? Colours::bgr : Colours::rgb, request, sink, Luma::bits15);
    const Contents c = contents(data, size);
    const WEBP_CSP_MODE mode = rgba ? MODE_RGBA : bgr ? MODE_BGR : MODE_RGB;
    if (c.animated) return first_frame(c, mode, request.window);
    decode({data, size}, info.width, info.height, mode, request.window);
    for (int64_t y = request.window.y0; y < request.window.y1; y++) rows_.push(y, pixel(request.window.x0, y));
  }

 private:
  // Decodes a window of a still picture, which must be of this size, into picture_.
  void decode(Bytes file, int64_t width, int64_t height, WEBP_CSP_MODE mode, const Window& w) {
    // Chroma is interpolated: at the edge of what libwebp is asked for its neighbours are missing.
    constexpr int64_t kMargin = 4;
    there_ = {std::max<int64_t>(0, (w.x0 & ~1) - kMargin), std::max<int64_t>(0, (w.y0 & ~1) - kMargin),
              std::min(width, w.x1 + kMargin), std::min(height, w.y1 + kMargin)};
    WebPDecoderConfig config;
    if (!api().init(&config, WEBP_DECODER_ABI_VERSION)) require(false, kLibrary);
    const VP8StatusCode known = api().features(file.data, file.size, &config.input, WEBP_DECODER_ABI_VERSION);
    if (known != VP8_STATUS_OK) give_up(why(known));
    if (config.input.width != width || config.input.height != height) give_up("its headers contradict each other");
    stride_ = size_t(there_.width() * channels_);
    const size_t bytes = stride_ * size_t(there_.height());
    if (picture_.size() < bytes) picture_.resize(bytes);
    config.options.use_cropping = there_.width() < width || there_.height() < height;
    config.options.crop_left = int(there_.x0);
    config.options.crop_top = int(there_.y0);
    config.options.crop_width = int(there_.width());
    config.options.crop_height = int(there_.height());
    config.output.colorspace = mode;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {picture_.data(), int(stride_), bytes};
    const VP8StatusCode done = api().decode(file.data, file.size, &config);
    if (done != VP8_STATUS_OK) give_up(why(done));
  }

  const uint8_t* pixel(int64_t x, int64_t y) const {
    return picture_.data() + size_t(y - there_.y0) * stride_ + size_t((x - there_.x0) * channels_);
  }

  // It lies somewhere on a transparent canvas.
  void first_frame(const Contents& c, WEBP_CSP_MODE mode, const Window& w) {
    if (c.frame.size < kFrameHeader) give_up("it has no frame");
    const uint8_t* p = c.frame.data;
    const int64_t left = 2 * int64_t(le24(p)), top = 2 * int64_t(le24(p + 3));
    const int64_t width = 1 + int64_t(le24(p + 6)), height = 1 + int64_t(le24(p + 9));
    Window part{std::max(w.x0 - left, int64_t(0)), std::max(w.y0 - top, int64_t(0)), std::min(w.x1 - left, width),
                std::min(w.y1 - top, height)};
    const bool any = part.width() > 0 && part.height() > 0;
    if (left + width > c.width || top + height > c.height) give_up("a frame reaches beyond the picture");
    if (any) {
      as_file({p + kFrameHeader, c.frame.size - kFrameHeader}, width, height);
      decode({file_.data(), file_.size()}, width, height, mode, part);
    }
    row_.resize(size_t(w.width() * channels_));
    for (int64_t y = w.y0; y < w.y1; y++) {
      std::fill(row_.begin(), row_.end(), uint8_t(0));
      if (any && y - top >= part.y0 && y - top < part.y1)
        std::memcpy(row_.data() + size_t((part.x0 + left - w.x0) * channels_), pixel(part.x0, y - top),
                    size_t(part.width() * channels_));
      rows_.push(y, row_.data());
    }
  }

  // The chunks of a frame as a file of a still picture.
  void as_file(Bytes chunks, int64_t width, int64_t height) {
    file_.assign({'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P',        // its size comes below
                  'V', 'P', '8', 'X', 10, 0, 0, 0, kAlpha, 0, 0, 0});
    const auto put = [&](uint32_t v, int bytes) {
      for (int i = 0; i < bytes; i++) file_.push_back(uint8_t(v >> 8 * i));
    };
    put(uint32_t(width - 1), 3);
    put(uint32_t(height - 1), 3);
    file_.insert(file_.end(), chunks.data, chunks.data + chunks.size);
    const uint32_t size = uint32_t(file_.size() - 8);
    for (size_t i = 0; i < 4; i++) file_[4 + i] = uint8_t(size >> 8 * i);
  }

  ChannelRows rows_;
  int channels_ = 3;
  Window there_;                 // what picture_ holds
  size_t stride_ = 0;
  std::vector<uint8_t> picture_, row_, file_;
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "WebP",
    .patterns = "*.webp",
    .library = "libwebp",
    .sniff = sniff,
    .peek = peek_webp,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<WebpReader>()); },
    .sample =
      "RIFF\036\000\000\000WEBPVP8L\021\000\000\000/\007\300\001\000\007P\262\042W\246\377\201\210\350\177\000"
      "\000"sv,
});

}  // namespace
}  // namespace ps
