// PNG by libpng: interlaced pictures, and whatever is broken.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

#include <png.h>

#include "core/error.h"
#include "decode/channels.h"
#include "decode/png.h"

namespace ps {
namespace {

struct Input {
  const uint8_t* data = nullptr;
  size_t left = 0;
};

}  // namespace

struct LibPng::State {
  ~State() { close(); }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<State*>(png_get_error_ptr(png));
    std::snprintf(self->message, sizeof self->message, "%s", message);
    std::longjmp(self->escape, 1);
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
    if (png) png_destroy_read_struct(&png, &header, nullptr);
    png = nullptr;
    header = nullptr;
  }

  // Reads the header and sets up what libpng makes of each row: the window's type but for GRAY out of colours.
  void start(const ImageInfo& info, const PictureRequest& request, RowSink& sink);
  void pass_rows(const ImageInfo& info, const PictureRequest& request, RowSink& sink);

  Input input;
  png_structp png = nullptr;
  png_infop header = nullptr;
  std::jmp_buf escape;
  char message[256];
  int passes = 1, channels = 0;      // channels of libpng's rows
  bool luma = false;
  std::vector<uint8_t> picture;
  ChannelRows weighed;               // GRAY out of colours
};

void LibPng::State::start(const ImageInfo& info, const PictureRequest& request, RowSink& sink) {
  png_set_read_fn(png, &input, take);
  png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);      // check_size() has its say on that
  // Texts, profiles and the like, of any length that a file claims, are neither kept nor unpacked.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png, header);
  const int type = png_get_color_type(png, header);
  const bool colour = type & PNG_COLOR_MASK_COLOR, alpha = type & PNG_COLOR_MASK_ALPHA;
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  else if (png_get_bit_depth(png, header) < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (info.bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(png);
  // Transparency is dropped, not blended: only ANY_DATA shows an alpha channel, and only one that is stored.
  if (request.type != ImageType::any || !alpha) png_set_strip_alpha(png);
  const bool three = request.type == ImageType::rgb || request.type == ImageType::bgr;
  if (three && !colour) png_set_gray_to_rgb(png);
  if (request.type == ImageType::bgr) png_set_bgr(png);
  passes = png_set_interlace_handling(png);
  png_read_update_info(png, header);
  channels = png_get_channels(png, header);
  luma = request.type == ImageType::gray && colour;
  if (luma) weighed.begin(info.stored_type(), channels, Colours::rgb, request, sink, Luma::libpng);
}

void LibPng::State::pass_rows(const ImageInfo& info, const PictureRequest& request, RowSink& sink) {
  const Window& w = request.window;
  const size_t bytes = info.bits == 16 ? 2 : 1, pixel = bytes * size_t(channels), stride = pixel * size_t(info.width);
  // Deflate makes at most 1032 bytes of one: a file as short as that must not make us take memory for its picture.
  if (size_t(info.width) * size_t(info.height) / 8 / 1032 > input.left)
    png_error(png, "the file ends too early (it is truncated)");
  // An interlaced picture is there only when its last pass is.
  const size_t rows = passes > 1 ? size_t(info.height) : 1;
  picture.resize(std::max(picture.size(), stride * rows + kRowSlack));
  for (int pass = 1; pass < passes; pass++)
    for (int64_t y = 0; y < info.height; y++) png_read_row(png, picture.data() + size_t(y) * stride, nullptr);
  for (int64_t y = 0; y < w.y1; y++) {
    uint8_t* row = picture.data() + (passes > 1 ? size_t(y) * stride : 0);
    png_read_row(png, row, nullptr);
    if (y < w.y0) continue;
    const uint8_t* wanted = row + size_t(w.x0) * pixel;
    if (luma) weighed.push(y, wanted);
    else sink.push(y, wanted);
  }
  // The last chunks say whether the file is whole.
  if (w.y1 == info.height) png_read_end(png, nullptr);
}

LibPng::LibPng() : state_(std::make_unique<State>()) {}
LibPng::~LibPng() = default;

void LibPng::read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
                  RowSink& sink) {
  State& s = *state_;
  s.input = {data, size};
  struct Guard {
    State& s;
    ~Guard() { s.close(); }
  } guard{s};
  s.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, State::on_error, State::on_warning);
  s.header = s.png ? png_create_info_struct(s.png) : nullptr;
  if (!s.header) fail(ErrorKind::memory, "libpng got no memory");
  if (setjmp(s.escape)) fail(ErrorKind::decode, std::string("this PNG cannot be decoded: ") + s.message);
  s.start(info, request, sink);
  s.pass_rows(info, request, sink);
}

}  // namespace ps
