// What the software NVRTC makes in place of a cubin: a shared library behind this header.
#pragma once

#include <cstdint>

namespace software_gpu {

struct ImageHeader {
  char magic[8];
  uint64_t bytes;                                  // of the library
};

inline constexpr char kImageMagic[8] = {'s', 'o', 'f', 't', 'g', 'p', 'u', '1'};

// The library's entries, behind its kernel:
//   const unsigned software_argument_bytes               the size of the kernel's one argument
//   void software_launch(argument, block, shared)        runs one block
using SoftwareLaunch = void (*)(const void* argument, unsigned block, unsigned char* shared);

}  // namespace software_gpu
