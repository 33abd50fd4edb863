// NVIDIA's engine for optical flow: the functions of libnvidia-opticalflow.so.1 that this library uses, found when an
// operator first wants flow on a GPU. The library comes with the driver. Types and numbers are those of version 2.0 of
// its C ABI, which newer drivers keep, declared here from NVIDIA's documentation: nothing of the SDK is needed to
// build.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/driver/driver.h"

namespace ps::gpu::nvof {

using Handle = struct NvOFHandle_st*;
using Buffer = struct NvOFGPUBufferHandle_st*;

inline constexpr uint32_t kVersion = 2 << 4 | 0;             // major and minor

enum Status : int {
  kOk, kNotAvailable, kUnsupportedDevice, kNoSuchDevice, kInvalidPointer, kInvalidParameter, kInvalidCall,
  kInvalidVersion, kNoMemory, kNotInitialized, kUnsupportedFeature, kGeneric,
};
enum Capability : int {
  kOutputGrids = 0, kHintGrids = 1, kHints = 2, kLeastWidth = 4, kLeastHeight = 5, kMostWidth = 6, kMostHeight = 7,
};
enum Level : int { kSlow = 5, kMedium = 10, kFast = 20 };
enum Usage : int { kInput = 1, kOutput = 2, kHint = 3 };
enum Format : int { kGray8 = 1, kAbgr8 = 3, kShort2 = 5 };   // kAbgr8: red has the lowest address
inline constexpr int kModeFlow = 1, kNoGrid = 0, kDevicePointer = 2;
inline constexpr float kUnit = 1.0f / 32;                    // of vectors, in pixels

struct InitParams {
  uint32_t width, height;
  int output_grid, hint_grid;                                // kNoGrid where there are no hints
  int mode, level;
  int external_hints, costs;                                 // flags
  void* reserved;
  int disparity_range, regions;
};

struct BufferParams {
  uint32_t width, height;                                    // pixels, or cells of the grid
  int usage, format;
};

struct Strides {
  struct {
    uint32_t pitch, rows;                                    // pitch: bytes from row to row
  } planes[3];
  uint32_t count;
};

struct ExecuteInput {
  Buffer input, reference, hints;                            // vectors lead from a pixel of `input` into `reference`
  int no_temporal_hints;                                     // else the last call's vectors are the search's beginning
  uint32_t padding;
  void* reserved;
  uint32_t padding_too, regions;
  void* region_data;
};

struct ExecuteOutput {
  Buffer vectors, costs;
  void* reserved;
};

static_assert(sizeof(InitParams) == 48 && sizeof(BufferParams) == 16 && sizeof(Strides) == 28);
static_assert(sizeof(ExecuteInput) == 56 && sizeof(ExecuteOutput) == 24);

// In the order in which the library fills them in.
#define PS_NVOF_FUNCTIONS(F)                                                                                          \
  F(create, int(CUcontext, Handle*))                                                                                  \
  F(init, int(Handle, const InitParams*))                                                                             \
  F(create_buffer, int(Handle, const BufferParams*, int kind, Buffer*))                                               \
  F(array_of, void*(Buffer))                                                                                          \
  F(pointer_of, CUdeviceptr(Buffer))                                                                                  \
  F(strides_of, int(Buffer, Strides*))                                                                                \
  F(set_streams, int(Handle, CUstream in, CUstream out))                                                              \
  F(execute, int(Handle, const ExecuteInput*, ExecuteOutput*))                                                        \
  F(destroy_buffer, int(Buffer))                                                                                      \
  F(destroy, int(Handle))                                                                                             \
  F(last_error, int(Handle, char*, uint32_t*))                                                                        \
  F(capabilities, int(Handle, int capability, uint32_t* values, uint32_t* count))

struct Api {
#define PS_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  PS_NVOF_FUNCTIONS(PS_MEMBER)
#undef PS_MEMBER
};
static_assert(sizeof(Api) == 12 * sizeof(void*));

using CreateInstance = int(uint32_t version, Api*);          // NvOFAPICreateInstanceCuda

// Loads the library, once: that which Python has named ("nvof"), or the system's. Throws Error(device) where it is
// missing or too old; a container has it only where NVIDIA_DRIVER_CAPABILITIES has "video".
const Api& api();

// Throws Error(memory), or Error(device) with the status and what the library says of it, unless the call succeeded.
// `handle` may be null.
void check(int status, const char* call, Handle handle);

}  // namespace ps::gpu::nvof
