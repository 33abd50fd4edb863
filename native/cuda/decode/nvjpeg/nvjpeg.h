// nvJPEG's functions that this library uses, found when a GPU first decodes. Types and numbers are those of its C ABI,
// which versions 12 and 13 share.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cuda/driver/driver.h"

namespace ps::gpu {

using NvjpegHandle = struct nvjpegHandle*;
using NvjpegState = struct nvjpegJpegState*;
using NvjpegParams = struct nvjpegDecodeParams*;
using NvjpegStream = struct nvjpegJpegStream*;   // a parsed header

enum NvjpegStatus : int {
  kNvjpegSuccess = 0, kNvjpegInvalidParameter = 2, kNvjpegBadJpeg = 3, kNvjpegNotSupported = 4,
  kNvjpegAllocatorFailure = 5, kNvjpegNotImplemented = 9, kNvjpegIncomplete = 10,
};
enum NvjpegBackend : int { kNvjpegGpuHybrid = 2, kNvjpegHardware = 3 };
enum NvjpegFormat : int { kNvjpegYuv = 1, kNvjpegY = 2, kNvjpegRgb = 5, kNvjpegBgr = 6 };   // the last two interleaved
enum NvjpegSampling : int { kNvjpeg444 = 0 };
inline constexpr unsigned kNvjpegInterpolate = 1 << 5;   // of a handle: chroma is interpolated, not repeated

struct NvjpegImage {
  unsigned char* channel[4];
  size_t pitch[4];
};

struct NvjpegAllocator {
  int (*take)(void*, void**, size_t, CUstream);
  int (*give)(void*, void*, size_t, CUstream);
  void* context;
};

#define PS_NVJPEG_FUNCTIONS(F)                                                                                         \
  F(nvjpegGetProperty, int(int, int*))                                                                                 \
  F(nvjpegCreateExV2, int(NvjpegBackend, NvjpegAllocator*, NvjpegAllocator*, unsigned, NvjpegHandle*))                 \
  F(nvjpegCreateEx, int(NvjpegBackend, void*, void*, unsigned, NvjpegHandle*))                                         \
  F(nvjpegDestroy, int(NvjpegHandle))                                                                                  \
  F(nvjpegSetDeviceMemoryPadding, int(size_t, NvjpegHandle))                                                           \
  F(nvjpegSetPinnedMemoryPadding, int(size_t, NvjpegHandle))                                                           \
  F(nvjpegGetHardwareDecoderInfo, int(NvjpegHandle, unsigned*, unsigned*))                                             \
  F(nvjpegJpegStateCreate, int(NvjpegHandle, NvjpegState*))                                                            \
  F(nvjpegJpegStateDestroy, int(NvjpegState))                                                                          \
  F(nvjpegDecodeParamsCreate, int(NvjpegHandle, NvjpegParams*))                                                        \
  F(nvjpegDecodeParamsDestroy, int(NvjpegParams))                                                                      \
  F(nvjpegDecodeParamsSetROI, int(NvjpegParams, int, int, int, int))                                                   \
  F(nvjpegJpegStreamCreate, int(NvjpegHandle, NvjpegStream*))                                                          \
  F(nvjpegJpegStreamDestroy, int(NvjpegStream))                                                                        \
  F(nvjpegJpegStreamParseHeader, int(NvjpegHandle, const unsigned char*, size_t, NvjpegStream))                        \
  F(nvjpegDecodeBatchedSupportedEx, int(NvjpegHandle, NvjpegStream, NvjpegParams, int*))                               \
  F(nvjpegDecodeBatchedInitialize, int(NvjpegHandle, NvjpegState, int, int, NvjpegFormat))                             \
  F(nvjpegDecodeBatchedPreAllocate, int(NvjpegHandle, NvjpegState, int, int, int, NvjpegSampling, NvjpegFormat))       \
  F(nvjpegDecodeBatched, int(NvjpegHandle, NvjpegState, const unsigned char* const*, const size_t*, NvjpegImage*,      \
                             CUstream))                                                                                \
  F(nvjpegDecodeBatchedEx, int(NvjpegHandle, NvjpegState, const unsigned char* const*, const size_t*, NvjpegImage*,    \
                               NvjpegParams*, CUstream))

struct Nvjpeg {
#define PS_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  PS_NVJPEG_FUNCTIONS(PS_MEMBER)
#undef PS_MEMBER
};

// Loads the library, once. Throws Error(device) where it is missing, saying what brings it.
const Nvjpeg& nvjpeg();

// Throws Error(device), or Error(memory), unless nvJPEG's call succeeded.
void check_nvjpeg(int status, const char* call);

// Whether a status is about the file, not the device: then another decoder may succeed.
bool is_fault_of_file(int status);

}  // namespace ps::gpu
