// JPEG: the header, and the choice between the decoders of our own and libjpeg.
#include "decode/jpeg.h"

#include <cstring>
#include <string_view>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/decoded.h"
#include "decode/exif.h"
#include "decode/jpeg/decoder.h"
#include "decode/jpeg/index_file.h"
#include "decode/jpeg/lossless.h"
#include "decode/jpeg/progressive.h"
#include "decode/resume.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

enum Marker : uint8_t { kTEM = 0x01, kRST0 = 0xD0, kSOI = 0xD8, kEOI = 0xD9, kSOS = 0xDA, kAPP1 = 0xE1 };

bool is_start_of_frame(uint8_t m) { return m >= 0xC0 && m <= 0xCF && m != 0xC4 && m != 0xC8 && m != 0xCC; }

bool sniff(const uint8_t* data, size_t size) {
  return size >= 3 && data[0] == 0xFF && data[1] == kSOI && data[2] == 0xFF;
}

ImageInfo peek_jpeg(const uint8_t* data, size_t size) {
  ImageInfo info;
  size_t at = 2;
  for (;;) {
    while (at < size && data[at] != 0xFF) at++;    // libjpeg skips such bytes too
    while (at < size && data[at] == 0xFF) at++;    // fill bytes
    if (at >= size) break;
    const uint8_t marker = data[at++];
    if (marker == 0 || marker == kTEM || (marker >= kRST0 && marker <= kSOI)) continue;
    if (marker == kEOI || marker == kSOS) break;
    if (size - at < 2) break;
    const size_t length = be16(data + at);
    if (length < 2 || size - at < length) break;
    const uint8_t* body = data + at + 2;
    const size_t bytes = length - 2;
    if (is_start_of_frame(marker) && bytes >= 6 && info.width == 0) {
      info.bits = body[0];
      info.height = be16(body + 1);
      info.width = be16(body + 3);
      info.channels = body[5];
      if (info.width == 0 || info.height == 0) return info;
    } else if (marker == kAPP1 && bytes > 6 && std::memcmp(body, "Exif\0\0", 6) == 0 && info.orientation == 1) {
      info.orientation = exif_orientation(body + 6, bytes - 6);
    }
    at += length;
  }
  if (info.width == 0) fail(ErrorKind::decode, "truncated JPEG: it ends before its frame header");
  return info;
}

jpeg::Color color_of(ImageType type, const jpeg::Header& header) {
  switch (type) {
    case ImageType::gray: return jpeg::Color::GRAY;
    case ImageType::bgr: return jpeg::Color::BGR;
    case ImageType::any: return header.components == 1 ? jpeg::Color::GRAY : jpeg::Color::RGB;
    default: return jpeg::Color::RGB;
  }
}

class JpegReader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    Resume resume(sink);
    const bool parsed = jpeg::parse(data, size, header_);
    if (parsed && header_.lossless) return read_lossless(data, size, info, request, sink);
    if (parsed && !request.fast_idct && header_.width == info.width && header_.height == info.height &&
        decode(data, size, request, resume) == jpeg::Status::ok)
      return;
    library_.read(data, size, request, resume);
  }

 private:
  jpeg::Status decode(const uint8_t* data, size_t size, const PictureRequest& request, RowSink& sink) {
    const jpeg::Color color = color_of(request.type, header_);
    if (header_.supported)
      return decoder_.decode(data, size, header_, request.window, color, request.fancy_upsampling, sink,
                             find_index(data, size, request));
    if (!header_.progressive) return jpeg::Status::inconsistent;
    if (!progressive_) progressive_ = std::make_unique<jpeg::ProgressiveDecoder>();
    return progressive_->decode(data, size, header_, request.window, color, request.fancy_upsampling, sink);
  }

  // For a part of the picture.
  const jpeg::ScanIndex* find_index(const uint8_t* data, size_t size, const PictureRequest& request) {
    if (!request.jpeg_index || request.window == Window{0, 0, header_.width, header_.height}) return nullptr;
    const auto take = [this](size_t bytes) -> void* {
      index_memory_.resize((bytes + sizeof index_memory_[0] - 1) / sizeof index_memory_[0]);
      return index_memory_.data();
    };
    return request.jpeg_index->find(data, size, header_, take, index_) ? &index_ : nullptr;
  }

  void read_lossless(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
                     RowSink& sink) {
    if (!lossless_) lossless_ = std::make_unique<jpeg::LosslessDecoder>();
    lossless_->decode(data, size, request.window.y1);
    if (lossless_->width() != info.width || lossless_->components() != info.channels)
      fail(ErrorKind::decode, "this JPEG cannot be decoded: its headers contradict each other");
    const uint16_t* pixels = lossless_->pixels();
    const auto* bytes = reinterpret_cast<const uint8_t*>(pixels);
    if (info.bits <= 8) {
      bytes_.assign(pixels, pixels + info.width * request.window.y1 * info.channels);
      bytes = bytes_.data();
    }
    DecodedPixels(bytes, {0, 0, info.width, request.window.y1}, info.channels).read(data, size, info, request, sink);
  }

  jpeg::Header header_;
  jpeg::ScanIndex index_;
  std::vector<uint64_t> index_memory_;
  jpeg::Decoder decoder_;
  std::unique_ptr<jpeg::ProgressiveDecoder> progressive_;
  LibJpeg library_;
  std::unique_ptr<jpeg::LosslessDecoder> lossless_;
  std::vector<uint8_t> bytes_;
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "JPEG",
    .patterns = "*.jpg *.jpeg",
    .library = "libjpeg",
    .sniff = sniff,
    .peek = peek_jpeg,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<JpegReader>()); },
    .sample =
      "\377\330\377\340\000\020JFIF\000\001\001\000\000\001\000\001\000\000\377\333\000C\000P7<F<2PFAFZUP_x\310"
      "\202xnnx\365\257\271\221\310\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
      "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\333\000C\001UZZxix\353"
      "\202\202\353\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
      "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
      "\377\377\377\377\377\377\300\000\021\010\000\010\000\010\003\001\042\000\002\021\001\003\021\001\377\304"
      "\000\024\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\377\304\000\024\020\001"
      "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\377\304\000\024\001\001\000\000\000\000"
      "\000\000\000\000\000\000\000\000\000\000\000\003\377\304\000\024\021\001\000\000\000\000\000\000\000\000"
      "\000\000\000\000\000\000\000\000\377\332\000\014\003\001\000\002\021\003\021\000\077\000\0002\277\377"
      "\331"sv,
});

}  // namespace
}  // namespace ps
