// What the kernels of penstock/kernels/device/jpeg.h are told of a picture.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/cuda_jpeg.h"
#include "kernels/device/jpeg.h"

namespace ps::gpu {

// The Huffman tables of a batch, each once.
class JpegTablePool {
 public:
  int number(const jpeg::HuffmanSpec& spec, bool is_dc);
  const std::vector<device::JpegCodes>& codes() const { return codes_; }

 private:
  std::map<std::string, int> known_;
  std::vector<device::JpegCodes> codes_;
};

struct JpegPlan {
  device::JpegPicture picture{};             // without addresses
  std::vector<int> tables;                   // their numbers in the pool
  int64_t coefficients = 0;                  // bytes
  int64_t dc[3] = {}, plane[3] = {};         // bytes
  int64_t data = 0;                          // bytes, with what may be read behind them
  int tiles = 0;                             // of 8x8 blocks

  int64_t bytes() const;                     // of all its memory, roughly
  int sequences() const;
};

JpegPlan plan_jpeg(const CudaJpeg::Item& item, const DecodeOptions& options, JpegTablePool& tables);

// Pieces of one block of memory: first their offsets, then, when the block is there, their addresses.
class MemoryLayout {
 public:
  template <class T> void add(T*& pointer, int64_t count) {
    places_.push_back({reinterpret_cast<void**>(const_cast<std::remove_const_t<T>**>(&pointer)), bytes_});
    bytes_ += (count * int64_t(sizeof(T)) + 255) / 256 * 256;
  }
  int64_t bytes() const { return bytes_; }
  void put(void* memory) const {
    for (const Place& p : places_) *p.pointer = static_cast<uint8_t*>(memory) + p.offset;
  }

 private:
  struct Place {
    void** pointer;
    int64_t offset;
  };
  std::vector<Place> places_;
  int64_t bytes_ = 0;
};

}  // namespace ps::gpu
