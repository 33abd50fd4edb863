// What the programs that measure decoders on a GPU share: files in pinned memory, pictures in device memory, and the
// CPU decoder's pixels to compare with.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cuda/decode/nvjpeg/batched.h"
#include "decode/image.h"

namespace bench {

using Bytes = std::vector<uint8_t>;

inline Bytes read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) std::perror(path.c_str()), std::exit(2);
  Bytes bytes;
  uint8_t buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
  std::fclose(file);
  return bytes;
}

// The files themselves and all *.jpg, *.jpeg and *.JPEG below the folders, in the order of their names.
inline std::vector<std::string> find_pictures(const std::vector<std::string>& places) {
  std::vector<std::string> found;
  for (const std::string& place : places) {
    if (!std::filesystem::is_directory(place)) {
      found.push_back(place);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
      const std::string end = entry.path().extension();
      if (end == ".jpg" || end == ".jpeg" || end == ".JPEG") found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Pixels of a window, interleaved RGB, by the decoder for CPUs.
inline Bytes decode_on_cpu(const uint8_t* data, size_t size, const ps::Window& window, bool fancy_upsampling) {
  struct Store : ps::RowSink {
    Bytes pixels;
    size_t row;
    int64_t y0;
    void push(int64_t y, const void* from) override {
      std::copy_n(static_cast<const uint8_t*>(from), row, pixels.begin() + long(size_t(y - y0) * row));
    }
  } store;
  store.row = size_t(window.width()) * 3;
  store.y0 = window.y0;
  store.pixels.resize(store.row * size_t(window.height()));
  thread_local ps::ImageDecoder decoder;
  ps::DecodeOptions options;
  options.adjust_orientation = false;
  options.fancy_upsampling = fancy_upsampling;
  decoder.decode(data, size, ps::peek(data, size), options, window, store);
  return store.pixels;
}

struct Difference {
  int max = 0;
  double sum = 0;
  size_t values = 0, different = 0;
  void add(const uint8_t* a, const uint8_t* b, size_t n) {
    for (size_t i = 0; i < n; i++) {
      const int d = std::abs(int(a[i]) - int(b[i]));
      max = std::max(max, d);
      sum += d;
      different += d > 0;
    }
    values += n;
  }
  std::string text() const {
    char line[80];
    const double n = double(std::max<size_t>(values, 1));
    std::snprintf(line, sizeof line, "max %3d  mean %.4f  differ %5.1f %%", max, sum / n, 100 * double(different) / n);
    return line;
  }
};

// A file as an item of a batch, and room for its pixels.
struct Picture {
  ps::gpu::JpegItem item;
  int width = 0, height = 0;
  ps::Window window;                 // the whole, or the region
  ps::BufferRef file, pixels;
  size_t pixel_bytes() const { return size_t(window.width() * window.height()) * 3; }

  Picture(ps::gpu::Device& device, const Bytes& bytes) {
    file = device.pinned()->take(bytes.size());
    std::copy(bytes.begin(), bytes.end(), file->data());
    item.data = file->data(), item.size = bytes.size();
    const ps::ImageInfo info = ps::peek(item.data, item.size);
    width = int(info.width), height = int(info.height);
    window = {0, 0, width, height};
  }
  // `planes`: Y, Cb and Cr, each with room for the whole.
  void aim(ps::gpu::Device& device, const ps::Window* region, bool planes) {
    item.region = region ? *region : ps::Window{};
    window = region ? *region : ps::Window{0, 0, width, height};
    pixels = device.memory()->take(pixel_bytes());
    const auto at = ps::gpu::CUdeviceptr(pixels->data());
    const size_t plane = size_t(width) * size_t(height);
    item.to[0] = {at, size_t(window.width()) * (planes ? 1 : 3)};
    if (planes) item.to[1] = {at + plane, size_t(width)}, item.to[2] = {at + 2 * plane, size_t(width)};
  }
  Bytes fetch(ps::gpu::CUstream stream) const {
    Bytes out(pixel_bytes());
    ps::gpu::check(ps::gpu::driver().cuMemcpyDtoHAsync_v2(out.data(), item.to[0].data, out.size(), stream), "copy");
    ps::gpu::check(ps::gpu::driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    return out;
  }
};

}  // namespace bench
