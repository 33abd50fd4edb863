// nvImageCodec's functions that this library uses, found when a GPU first decodes a format that needs them. Types and
// numbers are those of the C ABI of its version 0.9: until 1.0 each minor version has another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cuda/driver/driver.h"

namespace ps::gpu::nvimgcodec {

using Instance = struct nvimgcodecInstance*;
using Decoder = struct nvimgcodecDecoder*;
using CodeStream = struct nvimgcodecCodeStream*;
using Image = struct nvimgcodecImage*;
using Future = struct nvimgcodecFuture*;

inline constexpr uint32_t kVersion = 900;         // 0.9.0, as in its properties; the last two digits may differ
inline constexpr int kOk = 0, kCpuOnly = -99999, kMaxPlanes = 32;
inline constexpr uint32_t kDone = 1;              // of an item

enum StructType : int {
  kProperties = 1, kInstanceCreateInfo = 2, kDeviceAllocator = 3, kPinnedAllocator = 4, kDecodeParams = 5,
  kOrientation = 7, kRegion = 8, kCodeStreamView = 9, kImageInfo = 11, kPlaneInfo = 12, kExecutionParams = 30,
};
enum SampleFormat : int { kUnchanged = 2, kY = 4, kRgb = 8, kBgr = 10 };   // interleaved, all of them
enum ColorSpec : int { kAsStored = 0, kSrgb = 1, kGray = 2 };
enum BufferKind : int { kDeviceBuffer = 1, kHostBuffer = 2 };

// Every structure begins with its type, its size, and a pointer to an extension.
template <class Self, StructType type>
struct Head {
  StructType struct_type = type;
  size_t struct_size = sizeof(Self);
  void* struct_next = nullptr;
};

struct Properties : Head<Properties, kProperties> {
  uint32_t version = 0, cudart_version = 0;
};

struct InstanceCreateInfo : Head<InstanceCreateInfo, kInstanceCreateInfo> {
  int load_builtin_modules = 1, load_extension_modules = 1;
  const char* extension_modules_path = nullptr;
  int create_debug_messenger = 0;
  const void* debug_messenger_desc = nullptr;
  uint32_t message_severity = 0, message_category = 0;
};

template <StructType type>
struct Allocator : Head<Allocator<type>, type> {
  int (*take)(void*, void**, size_t, CUstream) = nullptr;
  int (*give)(void*, void*, size_t, CUstream) = nullptr;
  void* context = nullptr;
  size_t padding = 0;
};

struct ExecutionParams : Head<ExecutionParams, kExecutionParams> {
  Allocator<kDeviceAllocator>* device_allocator = nullptr;
  Allocator<kPinnedAllocator>* pinned_allocator = nullptr;
  int max_num_cpu_threads = 0;
  void* executor = nullptr;
  int device_id = kCpuOnly, pre_init = 0, skip_pre_sync = 0, num_backends = 0;
  const void* backends = nullptr;
};

struct Orientation : Head<Orientation, kOrientation> {
  int rotated = 0, flip_x = 0, flip_y = 0;        // rotated first, in degrees, against the clock
};

struct PlaneInfo : Head<PlaneInfo, kPlaneInfo> {
  uint32_t width = 0, height = 0;
  size_t row_stride = 0;
  uint32_t num_channels = 0;
  int sample_type = 0;
  uint8_t precision = 0;                          // bits; 0: all
};

struct ImageInfo : Head<ImageInfo, kImageInfo> {
  char codec_name[256] = {};
  int color_spec = kAsStored, chroma_subsampling = 0, sample_format = kUnchanged;
  Orientation orientation;
  uint32_t num_planes = 0;
  PlaneInfo plane_info[kMaxPlanes];
  void* buffer = nullptr;
  int buffer_kind = 0;
  CUstream cuda_stream = nullptr;
};

struct Region : Head<Region, kRegion> {
  int ndim = 0, start[5] = {}, end[5] = {};
  int out_of_bounds_policy = 0;
  struct Sample {
    uint32_t value;
    int type;
  } out_of_bounds_samples[5] = {};
};

struct CodeStreamView : Head<CodeStreamView, kCodeStreamView> {
  size_t image_idx = 0;
  Region region;
  size_t bitstream_offset = 0;
};

struct DecodeParams : Head<DecodeParams, kDecodeParams> {
  int apply_exif_orientation = 0;
};

#define PS_NVIMGCODEC_FUNCTIONS(F)                                                                                    \
  F(nvimgcodecGetProperties, int(Properties*))                                                                        \
  F(nvimgcodecInstanceCreate, int(Instance*, const InstanceCreateInfo*))                                              \
  F(nvimgcodecDecoderCreate, int(Instance, Decoder*, const ExecutionParams*, const char*))                            \
  F(nvimgcodecDecoderDestroy, int(Decoder))                                                                           \
  F(nvimgcodecDecoderDecode, int(Decoder, const CodeStream*, const Image*, int, const DecodeParams*, Future*))        \
  F(nvimgcodecFutureWaitForAll, int(Future))                                                                          \
  F(nvimgcodecFutureGetProcessingStatus, int(Future, uint32_t*, size_t*))                                             \
  F(nvimgcodecFutureDestroy, int(Future))                                                                             \
  F(nvimgcodecImageCreate, int(Instance, Image*, const ImageInfo*))                                                   \
  F(nvimgcodecImageDestroy, int(Image))                                                                               \
  F(nvimgcodecCodeStreamCreateFromHostMem, int(Instance, CodeStream*, const unsigned char*, size_t,                   \
                                               const CodeStreamView*))                                                \
  F(nvimgcodecCodeStreamGetSubCodeStream, int(CodeStream, CodeStream*, const CodeStreamView*))                        \
  F(nvimgcodecCodeStreamGetImageInfo, int(CodeStream, ImageInfo*))                                                    \
  F(nvimgcodecCodeStreamDestroy, int(CodeStream))

struct Api {
#define PS_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  PS_NVIMGCODEC_FUNCTIONS(PS_MEMBER)
#undef PS_MEMBER
  Instance instance = nullptr;                    // the process's, with all extensions that lie beside the library
};

// Loads the library, once. Throws Error(device) where it is missing or of another version, saying what brings it.
const Api& api();
// Throws as api() does, and makes no instance.
void check_library();

// Throws Error(device), or Error(memory), unless nvImageCodec's call succeeded.
void check(int status, const char* call);
std::string text_of_item(uint32_t status);        // why an item was not decoded

}  // namespace ps::gpu::nvimgcodec
