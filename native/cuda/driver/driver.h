// The CUDA driver's functions that this library uses, found in libcuda.so.1 when a GPU is first asked for: nothing of
// CUDA is needed to build the library or to load it. Types and numbers are those of the driver's stable ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ps::gpu {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUresult = int;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUhostFn = void (*)(void*);

inline constexpr CUresult kSuccess = 0, kOutOfMemory = 2, kNotReady = 600;
inline constexpr CUresult kFirstCaptureError = 900, kLastCaptureError = 908;   // some thread is capturing a graph
inline constexpr unsigned kStreamNonBlocking = 1, kEventDisableTiming = 2, kHostAllocPortable = 1;
// The default streams that CUDA's run-time API, and other libraries' handles, name by small numbers.
inline const CUstream kLegacyStream = reinterpret_cast<CUstream>(1), kPerThreadStream = reinterpret_cast<CUstream>(2);

// Of CUdevice_attribute and CUfunction_attribute.
enum Attribute : int {
  kMaxSharedPerBlock = 8, kMultiprocessors = 16, kMajor = 75, kMinor = 76, kMaxSharedOptin = 97,
};
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kPointerDevice = 9;          // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

// CUDA_MEMCPY2D.
inline constexpr int kMemoryDevice = 2;           // CU_MEMORYTYPE_DEVICE
struct CopyRect {
  size_t src_x_bytes, src_y;
  int src_type;
  const void* src_host;
  CUdeviceptr src_device;
  void* src_array;
  size_t src_pitch;
  size_t dst_x_bytes, dst_y;
  int dst_type;
  void* dst_host;
  CUdeviceptr dst_device;
  void* dst_array;
  size_t dst_pitch;
  size_t width_bytes, height;
};

// name in the driver, type; those in the second list may be missing in older drivers.
#define PS_CUDA_FUNCTIONS(F)                                                                                        \
  F(cuInit, CUresult (*)(unsigned))                                                                                 \
  F(cuDriverGetVersion, CUresult (*)(int*))                                                                         \
  F(cuGetErrorName, CUresult (*)(CUresult, const char**))                                                           \
  F(cuGetErrorString, CUresult (*)(CUresult, const char**))                                                         \
  F(cuDeviceGetCount, CUresult (*)(int*))                                                                           \
  F(cuDeviceGet, CUresult (*)(CUdevice*, int))                                                                      \
  F(cuDeviceGetName, CUresult (*)(char*, int, CUdevice))                                                            \
  F(cuDeviceGetAttribute, CUresult (*)(int*, int, CUdevice))                                                        \
  F(cuDeviceGetPCIBusId, CUresult (*)(char*, int, CUdevice))                                                        \
  F(cuDevicePrimaryCtxRetain, CUresult (*)(CUcontext*, CUdevice))                                                   \
  F(cuDevicePrimaryCtxRelease_v2, CUresult (*)(CUdevice))                                                           \
  F(cuCtxPushCurrent_v2, CUresult (*)(CUcontext))                                                                   \
  F(cuCtxPopCurrent_v2, CUresult (*)(CUcontext*))                                                                   \
  F(cuCtxSynchronize, CUresult (*)())                                                                               \
  F(cuCtxGetStreamPriorityRange, CUresult (*)(int*, int*))                                                          \
  F(cuMemGetInfo_v2, CUresult (*)(size_t*, size_t*))                                                                \
  F(cuMemAlloc_v2, CUresult (*)(CUdeviceptr*, size_t))                                                              \
  F(cuMemFree_v2, CUresult (*)(CUdeviceptr))                                                                        \
  F(cuMemHostAlloc, CUresult (*)(void**, size_t, unsigned))                                                         \
  F(cuMemFreeHost, CUresult (*)(void*))                                                                             \
  F(cuMemcpyHtoDAsync_v2, CUresult (*)(CUdeviceptr, const void*, size_t, CUstream))                                 \
  F(cuMemcpyDtoHAsync_v2, CUresult (*)(void*, CUdeviceptr, size_t, CUstream))                                       \
  F(cuMemcpyDtoDAsync_v2, CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream))                                 \
  F(cuMemsetD8Async, CUresult (*)(CUdeviceptr, unsigned char, size_t, CUstream))                                    \
  F(cuPointerGetAttribute, CUresult (*)(void*, int, CUdeviceptr))                                                   \
  F(cuStreamCreateWithPriority, CUresult (*)(CUstream*, unsigned, int))                                             \
  F(cuStreamDestroy_v2, CUresult (*)(CUstream))                                                                     \
  F(cuStreamSynchronize, CUresult (*)(CUstream))                                                                    \
  F(cuStreamQuery, CUresult (*)(CUstream))                                                                          \
  F(cuStreamWaitEvent, CUresult (*)(CUstream, CUevent, unsigned))                                                   \
  F(cuEventCreate, CUresult (*)(CUevent*, unsigned))                                                                \
  F(cuEventDestroy_v2, CUresult (*)(CUevent))                                                                       \
  F(cuEventRecord, CUresult (*)(CUevent, CUstream))                                                                 \
  F(cuEventQuery, CUresult (*)(CUevent))                                                                            \
  F(cuEventSynchronize, CUresult (*)(CUevent))                                                                      \
  F(cuEventElapsedTime, CUresult (*)(float*, CUevent, CUevent))                                                     \
  F(cuLaunchHostFunc, CUresult (*)(CUstream, CUhostFn, void*))                                                      \
  F(cuModuleLoadData, CUresult (*)(CUmodule*, const void*))                                                         \
  F(cuModuleUnload, CUresult (*)(CUmodule))                                                                         \
  F(cuModuleGetFunction, CUresult (*)(CUfunction*, CUmodule, const char*))                                          \
  F(cuFuncSetAttribute, CUresult (*)(CUfunction, int, int))                                                         \
  F(cuLaunchKernel, CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
                                 CUstream, void**, void**))
#define PS_CUDA_OPTIONAL(F)                                                                                         \
  F(cuThreadExchangeStreamCaptureMode, CUresult (*)(int*))                                                          \
  F(cuCtxRecordEvent, CUresult (*)(CUcontext, CUevent))                                                             \
  F(cuMemcpy2DAsync_v2, CUresult (*)(const CopyRect*, CUstream))

struct Driver {
#define PS_MEMBER(name, ...) std::type_identity_t<__VA_ARGS__> name = nullptr;
  PS_CUDA_FUNCTIONS(PS_MEMBER)
  PS_CUDA_OPTIONAL(PS_MEMBER)
#undef PS_MEMBER
};

// Loads the driver and initializes it, once. Throws Error(device) where there is none, saying what is missing.
// PENSTOCK_CUDA_DRIVER names another library in its place (the tests' software GPU).
const Driver& driver();

// Throws Error(device), or Error(memory), unless the driver's call succeeded.
void check(CUresult result, const char* call);

}  // namespace ps::gpu
