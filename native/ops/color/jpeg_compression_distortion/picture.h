// A picture by way of JPEG, on the CPU: with vectors of eight numbers, and the decoder's own filters.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "decode/jpeg/color.h"
#include "decode/jpeg/upsample.h"
#include "device/color/jpeg_compression_distortion.h"

namespace ps {

class JpegDistortion {
 public:
  void run(const uint8_t* in, uint8_t* out, int64_t width, int64_t height, const device::JpegQuant& quant) {
    width_ = width, height_ = height;
    luma_.begin(width, height);
    cb_.begin((width + 15) / 16 * 8, (height + 1) / 2);
    cr_.begin((width + 15) / 16 * 8, (height + 1) / 2);
    for (int64_t y = 0; y < cb_.height; y++) split(in, y);
    luma_.distort(quant.luma);
    cb_.distort(quant.colour);
    cr_.distort(quant.colour);
    for (int64_t y = 0; y < height; y++) join(y, out + y * width * 3);
  }

 private:
  using Lanes = int __attribute__((vector_size(32)));
  static constexpr int64_t kSlack = 64;              // that filters may read

  // Samples with whole blocks, and room on both sides of each row.
  struct Plane {
    int64_t width = 0, height = 0, stride = 0;
    std::vector<uint8_t> samples;

    void begin(int64_t w, int64_t h) {
      width = w, height = h, stride = (w + 7) / 8 * 8 + 2 * kSlack;
      samples.resize(size_t(stride * ((h + 7) / 8 * 8)));
    }
    uint8_t* row(int64_t y) { return samples.data() + y * stride + kSlack; }

    // Beyond the border the last samples are repeated.
    void distort(const uint16_t* quant) {
      const int64_t across = (width + 7) / 8, down = (height + 7) / 8;
      for (int64_t y = 0; y < height; y++) std::memset(row(y) + width, row(y)[width - 1], size_t(across * 8 - width));
      for (int64_t y = height; y < down * 8; y++) std::memcpy(row(y), row(height - 1), size_t(across * 8));
      for (int64_t y = 0; y < down; y++)
        for (int64_t x = 0; x < across; x++) block(row(8 * y) + 8 * x, quant);
    }

    void block(uint8_t* at, const uint16_t* quant) const {
      alignas(32) int v[64];
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) v[8 * y + x] = at[y * stride + x] - 128;
      transpose(v);
      device::jpeg_forward<true>(reinterpret_cast<Lanes*>(v), 1);
      transpose(v);
      device::jpeg_forward<false>(reinterpret_cast<Lanes*>(v), 1);
      for (int i = 0; i < 64; i++) {
        // Coefficients are eight times as large. Floats divide numbers of that size well enough to be cut off.
        const int twice = quant[i] * 8, size = v[i] < 0 ? -v[i] : v[i];
        const int steps = int(float(size + twice / 2) / float(twice));
        v[i] = (v[i] < 0 ? -steps : steps) * quant[i];
      }
      device::jpeg_inverse<false>(reinterpret_cast<Lanes*>(v), 1);
      transpose(v);
      device::jpeg_inverse<true>(reinterpret_cast<Lanes*>(v), 1);
      transpose(v);
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) at[y * stride + x] = uint8_t(std::clamp(v[8 * y + x] + 128, 0, 255));
    }
    static void transpose(int* v) {
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < y; x++) std::swap(v[8 * y + x], v[8 * x + y]);
    }
  };

  // Row y of the colours, and the two rows of pixels that they are of.
  void split(const uint8_t* in, int64_t y) {
    const uint8_t* rows[2] = {in + 2 * y * width_ * 3, in + std::min(2 * y + 1, height_ - 1) * width_ * 3};
    for (int k = 0; k < 2; k++) {
      uint8_t* to = luma_.row(std::min(2 * y + k, height_ - 1));
      for (int64_t x = 0; x < width_; x++) {
        const uint8_t* p = rows[k] + 3 * x;
        to[x] = uint8_t(device::jpeg_luma(p[0], p[1], p[2]));
      }
    }
    uint8_t *cb = cb_.row(y), *cr = cr_.row(y);
    const auto sample = [&](int64_t x, int64_t left, int64_t right) {
      int b = 1 + int(x & 1), r = b;
      for (const uint8_t* row : rows)
        for (const uint8_t* p : {row + 3 * left, row + 3 * right}) {
          b += device::jpeg_cb(p[0], p[1], p[2]);
          r += device::jpeg_cr(p[0], p[1], p[2]);
        }
      cb[x] = uint8_t(b >> 2), cr[x] = uint8_t(r >> 2);
    };
    int64_t x = 0;
    for (; 2 * x + 1 < width_; x++) sample(x, 2 * x, 2 * x + 1);
    for (; x < cb_.width; x++) sample(x, std::min(2 * x, width_ - 1), width_ - 1);
  }

  void join(int64_t y, uint8_t* out) {
    const int64_t near = y / 2, far = std::clamp<int64_t>(y % 2 ? near + 1 : near - 1, 0, cb_.height - 1);
    const int64_t n = (width_ + 1) / 2;
    Plane* const colours[] = {&cb_, &cr_};
    for (int k = 0; k < 2; k++) {
      rows_[k].resize(size_t(2 * n + kSlack));
      uint8_t *near_row = colours[k]->row(near), *far_row = colours[k]->row(far);
      if (n <= 2) {
        jpeg::replicate(near_row, 2, int(n), rows_[k].data());
        continue;
      }
      for (uint8_t* row : {near_row, far_row}) row[-1] = row[0], row[n] = row[n - 1];
      jpeg::triangle_h2v2(near_row, far_row, int(n), rows_[k].data());
    }
    jpeg::ycc_to_rgb(luma_.row(y), rows_[0].data(), rows_[1].data(), int(width_), false, out);
  }

  int64_t width_ = 0, height_ = 0;
  Plane luma_, cb_, cr_;
  std::vector<uint8_t> rows_[2];
};

}  // namespace ps
