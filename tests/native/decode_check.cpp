// Decodes damaged pictures, in windows and to all types: whatever the bytes are, either all rows of the window come, in
// order, or an Error does. Under sanitizers it says more: files are kept in memory of exactly their size.
//
//   decode_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all well
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "core/error.h"
#include "decode/image.h"
#include "rows/memory_rows.h"

namespace {

using Bytes = std::vector<uint8_t>;
std::mt19937 random_bits;
int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_bits); }

struct Pixels {
  int width, height;
  Bytes rgb;
};

Bytes read_file(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) std::perror(path), std::exit(2);
  Bytes bytes;
  uint8_t buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
  std::fclose(file);
  return bytes;
}

// The middle of a picture: damage is tried thousands of times, on few pixels.
Pixels middle(const Bytes& file) {
  ps::ImageDecoder decoder;
  const ps::ImageInfo info = ps::peek(file.data(), file.size());
  Pixels p{int(std::min<int64_t>(info.width, 75)), int(std::min<int64_t>(info.height, 53)), {}};
  p.rgb.resize(size_t(p.width * p.height * 3));
  ps::MemorySink sink(p.rgb.data(), {p.width, p.height, 3, ps::DType::u8});
  decoder.decode(file.data(), file.size(), info, {}, {0, 0, p.width, p.height}, sink);
  return p;
}

Bytes as_jpeg(const Pixels& p) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &memory, &size);
  c.image_width = JDIMENSION(p.width);
  c.image_height = JDIMENSION(p.height);
  c.input_components = 3;
  c.in_color_space = JCS_RGB;
  jpeg_set_defaults(&c);
  if (uniform(0, 5) == 0) jpeg_set_colorspace(&c, JCS_GRAYSCALE);
  else c.comp_info[0].h_samp_factor = uniform(1, 2), c.comp_info[0].v_samp_factor = uniform(1, 2);
  jpeg_set_quality(&c, uniform(20, 98), TRUE);
  c.restart_interval = unsigned(std::max(0, uniform(-10, 5)));
  if (uniform(0, 2) == 0) jpeg_simple_progression(&c);
  jpeg_start_compress(&c, TRUE);
  const uint8_t exif[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0";
  if (uniform(0, 1)) jpeg_write_marker(&c, JPEG_APP0 + 1, exif, sizeof exif);
  while (c.next_scanline < c.image_height) {
    auto* row = const_cast<JSAMPROW>(&p.rgb[c.next_scanline * size_t(p.width) * 3]);
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  Bytes file(memory, memory + size);
  std::free(memory);
  return file;
}

// The same bytes under any colour type, depth and interlacing.
Bytes as_png(const Pixels& p) {
  constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_RGBA};
  const int type = types[uniform(0, 3)];
  const int bits = type == PNG_COLOR_TYPE_PALETTE ? 1 << uniform(0, 3)
                   : type == PNG_COLOR_TYPE_GRAY  ? 1 << uniform(0, 4)
                                                  : 8 << uniform(0, 1);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  Bytes file;
  png_set_write_fn(
      png, &file,
      [](png_structp w, png_bytep data, size_t n) {
        auto& to = *static_cast<Bytes*>(png_get_io_ptr(w));
        to.insert(to.end(), data, data + n);
      },
      nullptr);
  const int width = p.width / 4, height = p.height / 2;   // so that there are bytes enough for 8 to a pixel
  png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), bits, type,
               uniform(0, 1) ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette(size_t(1) << std::min(bits, 8), png_color{1, 2, 3});
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette.data(), int(palette.size()));
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; y++) rows.push_back(const_cast<png_bytep>(&p.rgb[size_t(y) * size_t(p.width) * 3]));
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

void damage(Bytes& file) {
  const int times = uniform(1, 6);
  for (int i = 0; i < times && file.size() > 4; i++) {
    const size_t at = size_t(uniform(0, int(file.size()) - 1));
    switch (uniform(0, 5)) {
      case 0: file[at] = uint8_t(uniform(0, 255)); break;
      case 1: file[at] = uint8_t(file[at] ^ (1 << uniform(0, 7))); break;
      case 2: file[at] = 0xFF; break;
      case 3: file.resize(at); break;
      case 4: file.erase(file.begin() + long(at), file.begin() + long(std::min(file.size(), at + 20))); break;
      default: file.insert(file.begin() + long(at), size_t(uniform(1, 20)), uint8_t(uniform(0, 255)));
    }
  }
}

struct Counter : ps::RowSink {
  ps::Window window;
  size_t bytes;
  int64_t next;
  uint32_t sum = 0;
  Counter(const ps::Window& w, const ps::RowFormat& f)
      : window(w), bytes(f.pixel_bytes() * size_t(w.width())), next(w.y0) {}
  void push(int64_t y, const void* row) override {
    if (y != next++) std::fprintf(stderr, "row %ld instead of %ld\n", long(y), long(next - 1)), std::exit(1);
    for (size_t i = 0; i < bytes; i++) sum += static_cast<const uint8_t*>(row)[i];
    volatile uint8_t last = static_cast<const uint8_t*>(row)[bytes + ps::kRowSlack - 1];   // may be read
    (void)last;
  }
};

// Whether it decoded.
bool attempt(ps::ImageDecoder& decoder, const Bytes& bytes) {
  const std::unique_ptr<uint8_t[]> file(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), file.get());
  constexpr ps::DType types[] = {ps::DType::u8, ps::DType::u8, ps::DType::u16, ps::DType::i8, ps::DType::f32};
  ps::DecodeOptions options;
  options.type = ps::ImageType(uniform(0, 4));
  options.dtype = types[uniform(0, 4)];
  options.fast_idct = uniform(0, 9) == 0;
  options.fancy_upsampling = uniform(0, 9) != 0;
  options.max_pixels = 1 << 20;
  try {
    const ps::ImageInfo info = ps::peek(file.get(), bytes.size());
    ps::check_size(info, options.max_pixels);
    const ps::RowFormat format = ps::output_format(info, options);
    const int x = uniform(0, int(format.width) - 1), y = uniform(0, int(format.height) - 1);
    ps::Window window{0, 0, format.width, format.height};
    if (uniform(0, 1)) window = {x, y, uniform(x + 1, int(format.width)), uniform(y + 1, int(format.height))};
    Counter counter(window, format);
    decoder.decode(file.get(), bytes.size(), info, options, window, counter);
    if (counter.next != window.y1) std::fprintf(stderr, "rows are missing\n"), std::exit(1);
    return true;
  } catch (const ps::Error& e) {
    if (e.kind == ps::ErrorKind::decode && *e.what()) return false;
    std::fprintf(stderr, "another error: %s\n", e.what());
    std::exit(1);
  }
}

}  // namespace

int main(int count, char** words) {
  int cases = 3000;
  unsigned seed = 1;
  std::vector<Pixels> pictures;
  for (int i = 1; i < count; i++) {
    if (!std::strcmp(words[i], "--cases")) cases = std::atoi(words[++i]);
    else if (!std::strcmp(words[i], "--seed")) seed = unsigned(std::atoi(words[++i]));
    else pictures.push_back(middle(read_file(words[i])));
  }
  if (pictures.empty()) return std::fprintf(stderr, "no pictures\n"), 2;
  random_bits.seed(seed);
  ps::ImageDecoder decoder;
  int decoded = 0, whole = 0;
  for (int i = 0; i < cases; i++) {
    const Pixels& p = pictures[size_t(uniform(0, int(pictures.size()) - 1))];
    Bytes file = uniform(0, 2) ? as_jpeg(p) : as_png(p);
    if (!attempt(decoder, file)) return std::fprintf(stderr, "case %d: a sound file did not decode\n", i), 1;
    whole++;
    damage(file);
    decoded += attempt(decoder, file);
  }
  std::printf("%d sound files decoded; of as many damaged ones %d did\n", whole, decoded);
  return decoded > 0 && decoded < cases ? 0 : 1;
}
