#include "decode/image.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "decode/codec.h"

namespace ps {
namespace {

std::vector<Codec>& registered() {
  static std::vector<Codec> codecs;
  return codecs;
}

std::string known_formats() {
  std::string names;
  for (const Codec& c : codecs())
    names += (names.empty() ? "" : &c == &codecs().back() ? " or " : ", ") + std::string(c.name);
  return names;
}

std::string first_bytes(const uint8_t* data, size_t size) {
  static const char hex[] = "0123456789abcdef";
  std::string text = "'";
  for (size_t i = 0; i < size && i < 8; i++) {
    if (data[i] >= 32 && data[i] < 127 && data[i] != '\\') text += char(data[i]);
    else text += {'\\', 'x', hex[data[i] >> 4], hex[data[i] & 15]};
  }
  return text + "'";
}

}  // namespace

bool add_codec(const Codec& codec) {
  const auto behind = [&](const Codec& other) { return std::string_view(other.name) > codec.name; };
  registered().insert(std::find_if(registered().begin(), registered().end(), behind), codec);
  return true;
}

const std::vector<Codec>& codecs() { return registered(); }

ImageInfo peek(const uint8_t* data, size_t size) {
  if (size == 0) fail(ErrorKind::decode, "the file is empty");
  for (const Codec& codec : codecs()) {
    if (!codec.sniff(data, size)) continue;
    ImageInfo info = codec.peek(data, size);
    info.codec = &codec;
    if (info.width <= 0 || info.height <= 0)
      fail(ErrorKind::decode, std::string("the ") + codec.name + " header says " + std::to_string(info.width) +
           " x " + std::to_string(info.height) + " pixels");
    return info;
  }
  fail(ErrorKind::decode, "not a " + known_formats() + " picture (starts with " + first_bytes(data, size) + ")");
}

void check_size(const ImageInfo& info, int64_t max_pixels) {
  const int64_t per_pixel = std::max(1, (info.channels + 3) / 4);
  if (info.height <= max_pixels / per_pixel / info.width) return;
  fail(ErrorKind::decode, "the picture has " + std::to_string(info.width) + " x " + std::to_string(info.height) +
       " pixels" + (per_pixel > 1 ? " of " + std::to_string(info.channels) + " channels" : "") +
       ", more than the limit of " + std::to_string(max_pixels) +
       " (set by penstock.backend.set_max_decoded_pixels or PENSTOCK_MAX_PIXELS)");
}

RowFormat output_format(const ImageInfo& info, const DecodeOptions& options) {
  RowFormat f{info.width, info.height, info.channels, options.dtype};
  if (Orientation(options.orientation(info)).swap) std::swap(f.width, f.height);
  if (options.type == ImageType::gray) f.channels = 1;
  else if (options.type != ImageType::any) f.channels = 3;
  return f;
}

ImageDecoder::ImageDecoder() : readers_(codecs().size()) {}
ImageDecoder::~ImageDecoder() = default;

PictureReader& ImageDecoder::reader(const Codec& codec) {
  const auto i = size_t(&codec - codecs().data());
  if (!readers_[i]) readers_[i] = codec.make();
  return *readers_[i];
}

void ImageDecoder::decode(const uint8_t* data, size_t size, const ImageInfo& info, const DecodeOptions& options,
                          const Window& window, RowSink& sink) {
  decode(reader(*info.codec), data, size, info, options, window, sink);
}

void ImageDecoder::decode(PictureReader& codec, const uint8_t* data, size_t size, const ImageInfo& info,
                          const DecodeOptions& options, const Window& window, RowSink& sink) {
  check_size(info, options.max_pixels);
  if (window.width() <= 0 || window.height() <= 0) return;
  const Orientation orientation(options.orientation(info));
  const bool to_ycbcr = options.type == ImageType::ycbcr;
  const DType stored = info.stored_type();
  RowFormat format = output_format(info, options);
  format.dtype = stored;

  RowSink* end = &sink;
  if (PixelConverter::needed(stored, options.dtype, to_ycbcr)) {
    converter_.begin(window.width(), format.channels, stored, options.dtype, to_ycbcr, sink);
    end = &converter_;
  }
  PictureRequest request{to_ycbcr ? ImageType::rgb : options.type, window, options.fancy_upsampling,
                         options.fast_idct && orientation.upright(), options.jpeg_index.get()};
  if (orientation.upright()) {
    codec.read(data, size, info, request, *end);
    return;
  }
  request.window = orientation.to_stored(window, info.width, info.height);
  orienter_.begin(request.window, format);
  codec.read(data, size, info, request, orienter_);
  orienter_.finish(orientation, window, *end);
}

}  // namespace ps
