// JPEG by libjpeg(-turbo): CMYK, scans that leave something out, arithmetic coding, damaged files.
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string>

#include <jpeglib.h>
#include <jerror.h>

#include "core/error.h"
#include "decode/jpeg.h"

namespace ps {
namespace {

// A small progressive file may claim any number of scans over a huge picture, each of which goes through all of it; no
// encoder writes more than some dozens.
int most_scans(j_decompress_ptr c) {
  const int64_t pixels = int64_t(c->image_width) * c->image_height;
  return int(std::clamp<int64_t>((int64_t(1) << 33) / std::max<int64_t>(pixels, 1), 64, 500));
}
// Columns decoded beyond the window on each side and dropped: fancy upsampling at the edge of what libjpeg is asked
// for lacks a neighbour. libjpeg rounds the left edge down to a whole MCU by itself.
constexpr int64_t kMargin = 32;

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr c) {
  auto* e = reinterpret_cast<ErrorManager*>(c->err);
  c->err->format_message(c, e->message);
  std::longjmp(e->escape, 1);
}

[[noreturn]] void give_up(j_decompress_ptr c, const char* why) {
  auto* e = reinterpret_cast<ErrorManager*>(c->err);
  std::snprintf(e->message, sizeof e->message, "%s", why);
  std::longjmp(e->escape, 1);
}

// Warnings ("corrupt data", ...) are not errors: libjpeg goes on with what it can make of the file.
void on_message(j_common_ptr, int) {}

void on_progress(j_common_ptr c) {
  auto* d = reinterpret_cast<j_decompress_ptr>(c);
  if (d->input_scan_number > most_scans(d)) give_up(d, "it has too many scans");
}

void source_nothing(j_decompress_ptr) {}

boolean source_ends(j_decompress_ptr c) { give_up(c, "the file ends too early (it is truncated)"); }

void source_skip(j_decompress_ptr c, long bytes) {
  if (bytes <= 0) return;
  if (size_t(bytes) > c->src->bytes_in_buffer) source_ends(c);
  c->src->next_input_byte += bytes;
  c->src->bytes_in_buffer -= size_t(bytes);
}

// `flip` is 0 for CMYK as Adobe's programs store it, inverted (0 is full ink), and 255 for inks as such.
void cmyk_row(const uint8_t* from, uint8_t* to, int64_t width, ImageType type, uint8_t flip) {
  for (int64_t i = 0; i < width; i++, from += 4) {
    const int black = from[3] ^ flip;
    const uint8_t r = uint8_t((from[0] ^ flip) * black / 255), g = uint8_t((from[1] ^ flip) * black / 255),
                  b = uint8_t((from[2] ^ flip) * black / 255);
    if (type == ImageType::gray) {
      *to++ = uint8_t(0.299f * r + 0.587f * g + 0.114f * b);
    } else {
      to[0] = type == ImageType::bgr ? b : r;
      to[1] = g;
      to[2] = type == ImageType::bgr ? r : b;
      to += 3;
    }
  }
}

}  // namespace

struct LibJpeg::State {
  jpeg_decompress_struct c{};
  ErrorManager error{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::vector<uint8_t> row, converted;

  void start(const uint8_t* data, size_t size, const PictureRequest& request);
  void pass_rows(const PictureRequest& request, RowSink& sink);
  void next_row() {
    JSAMPROW to = row.data();
    if (jpeg_read_scanlines(&c, &to, 1) != 1) source_ends(&c);
  }
};

LibJpeg::LibJpeg() : state_(std::make_unique<State>()) {}
LibJpeg::~LibJpeg() { jpeg_destroy_decompress(&state_->c); }

// Anew for every picture: libjpeg keeps tables, and a broken file without its own would be decoded by another's.
void LibJpeg::create() {
  State& s = *state_;
  jpeg_destroy_decompress(&s.c);   // with whatever an earlier picture, or the sink by throwing, left unfinished
  s.c.err = jpeg_std_error(&s.error.base);
  s.error.base.error_exit = on_error;
  s.error.base.emit_message = on_message;
  if (setjmp(s.error.escape)) fail(ErrorKind::internal, std::string("libjpeg: ") + s.error.message);
  jpeg_create_decompress(&s.c);
  s.source.init_source = source_nothing;
  s.source.fill_input_buffer = source_ends;
  s.source.skip_input_data = source_skip;
  s.source.resync_to_restart = jpeg_resync_to_restart;
  s.source.term_source = source_nothing;
  s.progress.progress_monitor = on_progress;
}

void LibJpeg::State::start(const uint8_t* data, size_t size, const PictureRequest& request) {
  source.next_input_byte = data;
  source.bytes_in_buffer = size;
  c.src = &source;
  c.progress = &progress;
  jpeg_read_header(&c, TRUE);
  const bool cmyk = c.jpeg_color_space == JCS_CMYK || c.jpeg_color_space == JCS_YCCK;
  if (cmyk) c.out_color_space = JCS_CMYK;
  else if (request.type == ImageType::gray) c.out_color_space = JCS_GRAYSCALE;
  else if (request.type == ImageType::bgr) c.out_color_space = JCS_EXT_BGR;
  else if (request.type == ImageType::any && c.num_components == 1) c.out_color_space = JCS_GRAYSCALE;
  else c.out_color_space = JCS_RGB;
  c.dct_method = request.fast_idct ? JDCT_IFAST : JDCT_ISLOW;
  c.do_fancy_upsampling = request.fancy_upsampling;
  jpeg_start_decompress(&c);
  if (request.window.x1 > c.output_width || request.window.y1 > c.output_height)
    give_up(&c, "the header is ambiguous");
}

// Only plain data here and above in the frames that longjmp leaves: nothing would be destroyed.
void LibJpeg::State::pass_rows(const PictureRequest& request, RowSink& sink) {
  const Window& w = request.window;
  const int64_t left = std::max<int64_t>(0, w.x0 - kMargin);
  const int64_t right = std::min<int64_t>(c.output_width, w.x1 + kMargin);
  JDIMENSION x = JDIMENSION(left), width = JDIMENSION(right - left);
  if (width < c.output_width) jpeg_crop_scanline(&c, &x, &width);

  const bool convert = c.out_color_space == JCS_CMYK && request.type != ImageType::any;
  row.resize(std::max(row.size(), size_t(c.output_width) * size_t(c.output_components) + kRowSlack));
  converted.resize(std::max(converted.size(), size_t(convert ? w.width() * 3 : 0) + kRowSlack));
  const uint8_t* wanted = row.data() + size_t(w.x0 - x) * size_t(c.output_components);

  if (w.y0 > 0 && jpeg_skip_scanlines(&c, JDIMENSION(w.y0)) != JDIMENSION(w.y0)) source_ends(&c);
  for (int64_t y = w.y0; y < w.y1; y++) {
    next_row();
    if (convert) cmyk_row(wanted, converted.data(), w.width(), request.type, c.saw_Adobe_marker ? 0 : 255);
    sink.push(y, convert ? converted.data() : wanted);
  }
}

void LibJpeg::read(const uint8_t* data, size_t size, const PictureRequest& request, RowSink& sink) {
  create();
  State& s = *state_;
  if (setjmp(s.error.escape)) fail(ErrorKind::decode, std::string("this JPEG cannot be decoded: ") + s.error.message);
  s.start(data, size, request);
  s.pass_rows(request, sink);
  jpeg_abort_decompress(&s.c);
}

}  // namespace ps
