// JPEG files of all kinds that libjpeg writes, made from parts of photographs, and what libjpeg makes of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "core/rows.h"

namespace jpeg_files {

using Bytes = std::vector<uint8_t>;
inline std::mt19937 random_bits;
inline int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_bits); }

// PICTURE.jpg... [--cases N] [--seed N]
struct Arguments {
  std::vector<std::string> paths;
  int cases;

  Arguments(int argc, char** argv, int usual) : cases(usual) {
    for (int i = 1; i < argc; i++) {
      if (!std::strcmp(argv[i], "--cases") && i + 1 < argc) cases = std::atoi(argv[++i]);
      else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc) random_bits.seed(unsigned(std::atoi(argv[++i])));
      else paths.push_back(argv[i]);
    }
    if (!paths.empty()) return;
    std::fprintf(stderr, "usage: %s PICTURE.jpg... [--cases N] [--seed N]\n", argv[0]);
    std::exit(2);
  }
};

struct Picture {
  int width = 0, height = 0, channels = 3;
  Bytes pixels;
};

inline Bytes read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) std::perror(path.c_str()), std::exit(2);
  Bytes bytes;
  uint8_t buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
  std::fclose(file);
  return bytes;
}

// libjpeg's word on a file; `warnings`: what it did not accept silently.
inline Picture reference(const Bytes& file, J_COLOR_SPACE space, bool fancy, long* warnings = nullptr) {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, file.data(), file.size());
  jpeg_read_header(&d, TRUE);
  d.out_color_space = space;
  d.dct_method = JDCT_ISLOW;
  d.do_fancy_upsampling = fancy;
  jpeg_start_decompress(&d);
  Picture picture{int(d.output_width), int(d.output_height), d.output_components, {}};
  size_t row_bytes = size_t(picture.width * picture.channels);
  picture.pixels.resize(row_bytes * size_t(picture.height));
  while (d.output_scanline < d.output_height) {
    JSAMPROW row = &picture.pixels[d.output_scanline * row_bytes];
    jpeg_read_scanlines(&d, &row, 1);
  }
  if (warnings) *warnings = errors.num_warnings;
  jpeg_destroy_decompress(&d);
  return picture;
}

struct Encoding {
  int quality = 90, h = 1, v = 1, restart = 0, chroma_h = 1, chroma_v = 1;
  int cr_h = 0, cr_v = 0;          // 0: as chroma_h, chroma_v
  bool optimised = false, rgb = false, progressive = false, cmyk = false;
  std::vector<jpeg_scan_info> scans = {};   // of a progressive file; empty: the usual ones
};

inline Bytes encode(const Picture& picture, const Encoding& e) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &buffer, &size);
  c.image_width = JDIMENSION(picture.width);
  c.image_height = JDIMENSION(picture.height);
  c.input_components = picture.channels;
  c.in_color_space = picture.channels == 4 ? JCS_CMYK : picture.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&c);
  if (e.rgb) jpeg_set_colorspace(&c, JCS_RGB);
  jpeg_set_quality(&c, e.quality, TRUE);
  c.comp_info[0].h_samp_factor = e.h;
  c.comp_info[0].v_samp_factor = e.v;
  for (int i = 1; i < c.num_components; i++) {
    c.comp_info[i].h_samp_factor = e.chroma_h;
    c.comp_info[i].v_samp_factor = e.chroma_v;
  }
  if (e.cr_h) c.comp_info[2].h_samp_factor = e.cr_h, c.comp_info[2].v_samp_factor = e.cr_v;
  c.optimize_coding = e.optimised;
  if (e.progressive) jpeg_simple_progression(&c);
  if (!e.scans.empty()) c.scan_info = e.scans.data(), c.num_scans = int(e.scans.size());
  c.restart_interval = unsigned(e.restart);
  jpeg_start_compress(&c, TRUE);
  while (c.next_scanline < c.image_height) {
    auto row = const_cast<JSAMPROW>(&picture.pixels[c.next_scanline * size_t(picture.width * picture.channels)]);
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  Bytes file(buffer, buffer + size);
  std::free(buffer);
  jpeg_destroy_compress(&c);
  return file;
}

// A random part of a picture, made smaller by leaving out pixels, now and then with noise.
inline Picture excerpt(const Picture& source) {
  int step = uniform(1, 3);
  int width = uniform(0, 3) ? uniform(1, std::min(200, source.width / step)) : uniform(1, 20);
  int height = uniform(0, 3) ? uniform(1, std::min(150, source.height / step)) : uniform(1, 20);
  int x0 = uniform(0, source.width - width * step), y0 = uniform(0, source.height - height * step);
  Picture part{width, height, uniform(0, 7) ? 3 : 1, {}};
  int noise = uniform(0, 9) ? 0 : 255;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < part.channels; c++) {
        int value = source.pixels[size_t(((y0 + y * step) * source.width + x0 + x * step) * 3 + c)];
        part.pixels.push_back(uint8_t(noise ? uniform(0, noise) : value));
      }
  return part;
}

inline ps::Window random_window(int width, int height) {
  int x0 = uniform(0, width - 1), y0 = uniform(0, height - 1);
  return {x0, y0, uniform(x0 + 1, width), uniform(y0 + 1, height)};
}

struct Sampling { int h, v, chroma_h, chroma_v; };
constexpr Sampling kSamplings[] = {{1, 1, 1, 1}, {2, 1, 1, 1}, {2, 2, 1, 1}, {1, 2, 1, 1}, {4, 1, 1, 1}, {4, 2, 1, 1},
                                   {1, 4, 1, 1}, {2, 2, 2, 1}, {2, 2, 1, 2}, {4, 1, 2, 1}, {1, 1, 2, 2}};

}  // namespace jpeg_files

using namespace jpeg_files;
