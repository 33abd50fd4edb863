// PNG: the header, and the choice between the decoder of our own and libpng.
#include "decode/png.h"

#include <cstring>
#include <string_view>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/exif.h"
#include "decode/png/decoder.h"
#include "decode/resume.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

constexpr uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

bool sniff(const uint8_t* data, size_t size) { return size >= 8 && std::memcmp(data, kSignature, 8) == 0; }

// Up to the first IDAT: the header, and the orientation where an eXIf chunk stands before the pixels.
ImageInfo peek_png(const uint8_t* data, size_t size) {
  if (size < 33 || std::memcmp(data + 12, "IHDR", 4) != 0 || be32(data + 8) != 13)
    fail(ErrorKind::decode, "broken PNG: its header is missing or truncated");
  ImageInfo info;
  info.width = be32(data + 16);
  info.height = be32(data + 20);
  const uint8_t depth = data[24], type = data[25];
  info.bits = depth == 16 ? 16 : 8;
  info.channels = type == png::kGray ? 1 : type == png::kGrayAlpha ? 2 : type == png::kRgba ? 4 : 3;
  for (size_t at = 33; size - at >= 12;) {
    const size_t length = be32(data + at);
    const uint8_t* kind = data + at + 4;
    if (size - at - 12 < length || std::memcmp(kind, "IDAT", 4) == 0) break;
    if (std::memcmp(kind, "eXIf", 4) == 0) info.orientation = exif_orientation(kind + 4, length);
    at += 12 + length;
  }
  return info;
}

class PngReader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    Resume resume(sink);
    if (!decoder_.decode(data, size, request, resume)) library_.read(data, size, info, request, resume);
  }

 private:
  png::Decoder decoder_;
  LibPng library_;
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "PNG",
    .patterns = "*.png",
    .library = "libpng",
    .sniff = sniff,
    .peek = peek_png,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<PngReader>()); },
    .sample =
      "\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\010\000\000\000\010\010\002\000\000\000Km)\334"
      "\000\000\000\024IDATx\234c<\221b\304\200\0150a\025\035\264\022\000\026a\001n @{\332\000\000\000\000IEND"
      "\256B`\202"sv,
});

}  // namespace
}  // namespace ps
