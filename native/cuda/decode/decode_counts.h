// How many files each of a mixed decoder's engines has decoded. Threads add while others read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "penstock.h"

namespace ps::gpu {

enum class DecodedBy : uint8_t {
  cpu = PS_DECODED_BY_CPU, cuda = PS_DECODED_BY_CUDA, nvjpeg = PS_DECODED_BY_NVJPEG,
  nvimagecodec = PS_DECODED_BY_NVIMAGECODEC, nvdec = PS_DECODED_BY_NVDEC,
};

struct DecodeCounts {
  struct Files {
    std::atomic<int64_t> files{0}, bytes{0};       // bytes: as they are encoded
  };
  std::array<Files, 5> by;
  std::atomic<int64_t> refused{0};                 // of the CPU's files: those that the GPU was given before
  std::atomic<int64_t> indexed{0};                 // of our kernels' files: those with an index

  void add(DecodedBy engine, int64_t files, size_t bytes) {
    Files& f = by[size_t(engine)];
    f.files.fetch_add(files, std::memory_order_relaxed);
    f.bytes.fetch_add(int64_t(bytes), std::memory_order_relaxed);
  }
};

}  // namespace ps::gpu
