// Kernels that decode JPEG (penstock/device/jpeg/), run on the host, and what libjpeg makes of the same files. Units
// that include this define PS_SOFTWARE_GPU and PS_SOFTWARE_THREADS before all else.
#pragma once

#include <cstring>
#include <memory>

#include "cuda/decode/jpeg/work.h"
#include "jpeg_files.h"
#include "turns.h"

namespace {

using namespace ps;
using device::JpegPicture;

int failures = 0;

bool expect(bool holds, const char* what, const std::string& file) {
  if (!holds) std::printf("FAILED: %s of %s\n", what, file.c_str()), failures++;
  return holds;
}

// Runs blocks of so many threads, one block after the other. Memory is as large as it must be, so that a sanitizer sees
// what lies beyond.
class Blocks {
 public:
  explicit Blocks(int threads) : threads_(threads) {}
  static constexpr int kShared = 128 * 1024;

 protected:
  alignas(16) static inline unsigned char shared_[kShared];
  static inline Turns turns_;

  template <class T> void give(T*& pointer, int64_t count, int fill = 0xA5) {
    const size_t bytes = size_t(count) * sizeof(T);
    void* memory = nullptr;
    if (posix_memalign(&memory, 16, std::max(bytes, size_t(1)))) std::abort();
    std::memset(memory, fill, bytes);
    memory_.emplace_back(memory, std::free);
    pointer = static_cast<T*>(memory);
  }

  void run(void (*kernel)(const device::Launch&), int blocks, const void* job) {
    const int32_t first[] = {0, blocks};
    const device::Launch launch{static_cast<const unsigned char*>(job), first, 0, 1};
    device::thread_count = threads_;
    device::wait_for_block = Turns::wait;
    device::shared_memory = shared_;
    for (int block = 0; block < blocks; block++) {
      std::memset(shared_, 0xA5, sizeof shared_);
      device::block_index = unsigned(block);
      turns_.all(threads_, [](int index) { device::thread_index = index; }, [&] { kernel(launch); });
    }
  }

 private:
  std::vector<std::unique_ptr<void, void (*)(void*)>> memory_;
  int threads_;
};

// By EXIF's definition of orientations.
const uint8_t* upright(const Picture& stored, int orientation, int64_t x, int64_t y) {
  const int64_t w = stored.width, h = stored.height;
  const int64_t at[9][2] = {{}, {x, y}, {w - 1 - x, y}, {w - 1 - x, h - 1 - y}, {x, h - 1 - y},
                            {y, x}, {y, h - 1 - x}, {w - 1 - y, h - 1 - x}, {w - 1 - y, x}};
  return &stored.pixels[size_t((at[orientation][1] * w + at[orientation][0]) * stored.channels)];
}

bool check_pixels(const Picture& full, int orientation, const Window& w, bool bgr, const JpegPicture& p) {
  for (int64_t y = 0; y < p.height; y++)
    for (int64_t x = 0; x < p.width; x++)
      for (int c = 0; c < p.channels; c++)
        if (const uint8_t* pixel = upright(full, orientation, w.x0 + x, w.y0 + y);
            p.out[(y * p.width + x) * p.channels + c] != pixel[bgr ? 2 - c : c])
          return false;
  return true;
}

struct Case {
  gpu::CudaJpeg::Item item;
  DecodeOptions options;
};

Case random_case(const Bytes& file, const jpeg::Header& h, int window) {
  Case c;
  c.item.data = file.data(), c.item.size = file.size(), c.item.header = &h;
  c.item.orientation = window % 2 ? uniform(1, 8) : 1;
  const bool swap = c.item.orientation >= 5;
  const int width = swap ? h.height : h.width, height = swap ? h.width : h.height;
  c.item.window = window == 0 ? Window{0, 0, width, height} : random_window(width, height);
  const ImageType types[] = {ImageType::rgb, ImageType::rgb, ImageType::bgr, ImageType::gray, ImageType::any};
  c.options.type = types[uniform(0, 4)];
  c.options.fancy_upsampling = uniform(0, 2) != 0;
  c.item.planes = uniform(0, 1) != 0;
  return c;
}

// Some bytes from `from` on changed, left out, put in or cut off.
Bytes mutated(Bytes file, size_t from) {
  for (int changes = uniform(1, 3); changes-- > 0 && file.size() > from + 4;) {
    const auto at = file.begin() + uniform(int(from), int(file.size()) - 1);
    constexpr uint8_t special[] = {0x00, 0xFF, 0xD0, 0xD1, 0xD7, 0xD9, 0x7F};
    switch (uniform(0, 5)) {
      case 0: *at = uint8_t(uniform(0, 255)); break;
      case 1: *at = uint8_t(*at ^ 1 << uniform(0, 7)); break;
      case 2: *at = special[uniform(0, 6)]; break;
      case 3: file.insert(at, special[uniform(0, 6)]); break;
      case 4: file.erase(at); break;
      default: if (uniform(0, 3) == 0) file.erase(at, file.end());
    }
  }
  return file;
}

struct Rows : RowSink {
  Bytes pixels;
  void push(int64_t, const void* row) override { pixels.insert(pixels.end(), at(row), at(row) + bytes); }
  static const uint8_t* at(const void* row) { return static_cast<const uint8_t*>(row); }
  size_t bytes = 0;
};

}  // namespace
