// Times our JPEG decoder against libjpeg(-turbo) on one thread: whole pictures, and random windows as for training.
//
//   jpeg_bench PICTURE.jpg... [--rounds N] [--only ours|libjpeg]
//
// It prints ms per picture (medians of interleaved rounds) and their ratios; nothing with --only, whose instructions an
// emulator counts.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "decode/jpeg/decoder.h"

namespace {

using Bytes = std::vector<uint8_t>;

Bytes read_file(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) std::perror(path), std::exit(2);
  Bytes bytes;
  uint8_t buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
  std::fclose(file);
  return bytes;
}

// The best that libjpeg-turbo can do for a window: skip rows above, decode the MCU columns that touch it, stop below.
void decode_libjpeg(const Bytes& file, const ps::Window& w, Bytes& out) {
  jpeg_decompress_struct d;
  jpeg_error_mgr errors;
  d.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, file.data(), file.size());
  jpeg_read_header(&d, TRUE);
  d.out_color_space = JCS_RGB;
  jpeg_start_decompress(&d);
  JDIMENSION x = JDIMENSION(w.x0), width = JDIMENSION(w.width());
  if (width < d.output_width) jpeg_crop_scanline(&d, &x, &width);
  if (w.y0 > 0) jpeg_skip_scanlines(&d, JDIMENSION(w.y0));
  out.resize(std::max(out.size(), size_t(width) * 3 * size_t(w.height())));
  for (int64_t y = 0; y < w.height(); y++) {
    JSAMPROW row = &out[size_t(y) * width * 3];
    jpeg_read_scanlines(&d, &row, 1);
  }
  jpeg_abort_decompress(&d);
  jpeg_destroy_decompress(&d);
}

struct Store : ps::RowSink {
  Bytes* out;
  int64_t y0;
  size_t row_bytes;
  void* place(int64_t y) override { return out->data() + size_t(y - y0) * row_bytes; }
  void push(int64_t, const void*) override {}
};

void decode_ours(ps::jpeg::Decoder& decoder, const Bytes& file, const ps::Window& w, Bytes& out) {
  ps::jpeg::Header header;
  if (!ps::jpeg::parse(file.data(), file.size(), header) || !header.supported) std::puts("not supported"), std::exit(2);
  Store store;
  store.out = &out, store.y0 = w.y0, store.row_bytes = size_t(w.width()) * 3;
  out.resize(std::max(out.size(), store.row_bytes * size_t(w.height())));
  if (decoder.decode(file.data(), file.size(), header, w, ps::jpeg::Color::RGB, true, store) != ps::jpeg::Status::ok)
    std::puts("inconsistent"), std::exit(2);
}

// A window of 0.08 to 1 of the area, aspect ratio 3/4 to 4/3.
ps::Window random_window(int width, int height, std::mt19937& random) {
  std::uniform_real_distribution<double> area(0.08, 1.0), log_ratio(std::log(0.75), std::log(4.0 / 3.0)), place(0, 1);
  for (;;) {
    double a = area(random) * width * height, ratio = std::exp(log_ratio(random));
    int w = int(std::lround(std::sqrt(a * ratio))), h = int(std::lround(std::sqrt(a / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    int x = int(place(random) * (width - w + 1)), y = int(place(random) * (height - h + 1));
    return {x, y, x + w, y + h};
  }
}

double milliseconds(const std::function<void()>& work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + ptrdiff_t(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Bytes> files;
  int rounds = 15;
  std::string only;
  for (int i = 1; i < argc; i++)
    if (!std::strcmp(argv[i], "--rounds") && i + 1 < argc) rounds = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
    else files.push_back(read_file(argv[i]));
  if (files.empty())
    return std::fprintf(stderr, "usage: jpeg_bench PICTURE.jpg... [--rounds N] [--only ours|libjpeg]\n"), 2;
  std::mt19937 random(1);
  ps::jpeg::Decoder decoder;
  Bytes out;
  if (!only.empty()) {
    for (int round = 0; round < rounds; round++)
      for (const Bytes& file : files) {
        ps::jpeg::Header header;
        ps::jpeg::parse(file.data(), file.size(), header);
        ps::Window whole{0, 0, header.width, header.height};
        if (only == "ours") decode_ours(decoder, file, whole, out);
        else decode_libjpeg(file, whole, out);
      }
    return 0;
  }
  size_t bytes = 0;
  for (const Bytes& file : files) bytes += file.size();
  std::printf("%zu pictures, %.0f KB on average\n", files.size(), double(bytes) / double(files.size()) / 1000);
  for (bool crop : {false, true}) {
    std::vector<ps::Window> windows;
    for (const Bytes& file : files) {
      ps::jpeg::Header header;
      ps::jpeg::parse(file.data(), file.size(), header);
      windows.push_back(crop ? random_window(header.width, header.height, random)
                             : ps::Window{0, 0, header.width, header.height});
    }
    std::vector<double> theirs, ours;
    for (int round = 0; round < rounds; round++) {
      theirs.push_back(milliseconds([&] {
        for (size_t i = 0; i < files.size(); i++) decode_libjpeg(files[i], windows[i], out);
      }));
      ours.push_back(milliseconds([&] {
        for (size_t i = 0; i < files.size(); i++) decode_ours(decoder, files[i], windows[i], out);
      }));
    }
    double n = double(files.size()), a = median(theirs) / n, b = median(ours) / n;
    const char* name = crop ? "random windows" : "whole pictures";
    std::printf("%-15s libjpeg %.3f ms, ours %.3f ms: %.2fx\n", name, a, b, a / b);
  }
  return 0;
}
