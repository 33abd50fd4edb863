// PNG by libpng.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <png.h>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/codec.h"
#include "decode/exif.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

constexpr uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
enum ColorType : uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

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
  info.channels = type == kGray ? 1 : type == kGrayAlpha ? 2 : type == kRgba ? 4 : 3;
  for (size_t at = 33; size - at >= 12;) {
    const size_t length = be32(data + at);
    const uint8_t* kind = data + at + 4;
    if (size - at - 12 < length || std::memcmp(kind, "IDAT", 4) == 0) break;
    if (std::memcmp(kind, "eXIf", 4) == 0) info.orientation = exif_orientation(kind + 4, length);
    at += 12 + length;
  }
  return info;
}

template <class T> void luma_row(const void* from, void* to, int64_t width) {
  const T* f = static_cast<const T*>(from);
  T* t = static_cast<T*>(to);
  for (int64_t i = 0; i < width; i++) t[i] = luma(f[3 * i], f[3 * i + 1], f[3 * i + 2]);
}

class PngReader : public PictureReader {
 public:
  ~PngReader() override { close(); }
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    input_ = {data, size};
    struct Guard {
      PngReader& r;
      ~Guard() { r.close(); }
    } guard{*this};
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) fail(ErrorKind::memory, "libpng got no memory");
    if (setjmp(escape_)) fail(ErrorKind::decode, std::string("this PNG cannot be decoded: ") + message_);
    start(info, request);
    pass_rows(info, request, sink);
  }

 private:
  struct Input {
    const uint8_t* data;
    size_t left;
  };

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof self->message_, "%s", message);
    std::longjmp(self->escape_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void take(png_structp png, png_bytep to, size_t bytes) {
    auto* input = static_cast<Input*>(png_get_io_ptr(png));
    if (bytes > input->left) png_error(png, "the file ends too early (it is truncated)");
    std::memcpy(to, input->data, bytes);
    input->data += bytes;
    input->left -= bytes;
  }
  void close() {
    if (png_) png_destroy_read_struct(&png_, &info_, nullptr);
    png_ = nullptr;
    info_ = nullptr;
  }

  // Reads the header and sets up what libpng makes of each row: the window's type but for GRAY out of colours.
  void start(const ImageInfo& info, const PictureRequest& request);
  void pass_rows(const ImageInfo& info, const PictureRequest& request, RowSink& sink);

  Input input_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf escape_;
  char message_[256];
  int passes_ = 1, channels_ = 0;      // channels of libpng's rows
  bool luma_ = false;
  std::vector<uint8_t> row_, picture_;
};

void PngReader::start(const ImageInfo& info, const PictureRequest& request) {
  png_set_read_fn(png_, &input_, take);
  png_set_user_limits(png_, 0x7FFFFFFF, 0x7FFFFFFF);      // check_size() has its say on that
  // Texts, profiles and the like, of any length that a file claims, are neither kept nor unpacked.
  png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png_, info_);
  const int type = png_get_color_type(png_, info_);
  const bool colour = type & PNG_COLOR_MASK_COLOR, alpha = type & PNG_COLOR_MASK_ALPHA;
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
  else if (png_get_bit_depth(png_, info_) < 8) png_set_expand_gray_1_2_4_to_8(png_);
  if (info.bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(png_);
  // Transparency is dropped, not blended: only ANY_DATA shows an alpha channel, and only one that is stored.
  if (request.type != ImageType::any || !alpha) png_set_strip_alpha(png_);
  const bool three = request.type == ImageType::rgb || request.type == ImageType::bgr;
  if (three && !colour) png_set_gray_to_rgb(png_);
  if (request.type == ImageType::bgr) png_set_bgr(png_);
  passes_ = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  channels_ = png_get_channels(png_, info_);
  luma_ = request.type == ImageType::gray && colour;
}

void PngReader::pass_rows(const ImageInfo& info, const PictureRequest& request, RowSink& sink) {
  const Window& w = request.window;
  const size_t bytes = info.bits == 16 ? 2 : 1, pixel = bytes * size_t(channels_), stride = pixel * size_t(info.width);
  row_.resize(std::max(row_.size(), bytes * size_t(w.width()) + kRowSlack));
  // Deflate makes at most 1032 bytes of one: a file as short as that must not make us take memory for its picture.
  if (size_t(info.width) * size_t(info.height) / 8 / 1032 > input_.left)
    png_error(png_, "the file ends too early (it is truncated)");
  // An interlaced picture is there only when its last pass is.
  const size_t rows = passes_ > 1 ? size_t(info.height) : 1;
  picture_.resize(std::max(picture_.size(), stride * rows + kRowSlack));
  for (int pass = 1; pass < passes_; pass++)
    for (int64_t y = 0; y < info.height; y++) png_read_row(png_, picture_.data() + size_t(y) * stride, nullptr);
  for (int64_t y = 0; y < w.y1; y++) {
    uint8_t* row = picture_.data() + (passes_ > 1 ? size_t(y) * stride : 0);
    png_read_row(png_, row, nullptr);
    if (y < w.y0) continue;
    const uint8_t* wanted = row + size_t(w.x0) * pixel;
    if (luma_) {
      (bytes == 2 ? luma_row<uint16_t> : luma_row<uint8_t>)(wanted, row_.data(), w.width());
      wanted = row_.data();
    }
    sink.push(y, wanted);
  }
  // The last chunks say whether the file is whole.
  if (w.y1 == info.height) png_read_end(png_, nullptr);
}

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
