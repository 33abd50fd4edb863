// cuFile, NVIDIA's library of GPUDirect Storage: the functions of libcufile.so.0 that this library uses, found when the
// first pipeline wants to read files into a GPU's memory. Types and numbers are those of its stable C ABI, declared
// here from NVIDIA's documentation: nothing of CUDA is needed to build.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cuda/driver/driver.h"

namespace ps::gpu::cufile {

using Handle = void*;

inline constexpr int kOk = 0;
inline constexpr int kDescriptor = 1;                        // CU_FILE_HANDLE_TYPE_OPAQUE_FD
inline constexpr unsigned kPeerToPeer = 1u << 4;             // of Properties::features: by the kernel's PCI P2PDMA

struct Status {
  int code;
  CUresult of_driver;
};

struct Description {
  int type;
  union {
    int descriptor;
    void* handle;
  };
  const void* operations;                                    // of file systems outside the kernel
};

struct Properties {
  unsigned major, minor;                                     // of the kernel's module nvidia-fs; 0: there is none
  size_t least_polled, most_direct;                          // in KB, as all sizes
  unsigned file_systems, control;
  unsigned features, most_cached, cached_per_buffer, most_pinned, most_in_batch, batch_timeout_ms;
  unsigned later[32];                                        // what newer versions write
};

static_assert(sizeof(Status) == 8 && sizeof(Description) == 24);
static_assert(offsetof(Properties, features) == 32 && offsetof(Properties, later) == 56);

#define PS_CUFILE_FUNCTIONS(F)                                                              \
  F(cuFileDriverOpen, Status())                                                             \
  F(cuFileDriverClose_v2, Status())                                                         \
  F(cuFileDriverGetProperties, Status(Properties*))                                         \
  F(cuFileHandleRegister, Status(Handle*, Description*))                                    \
  F(cuFileHandleDeregister, void(Handle))                                                   \
  F(cuFileBufRegister, Status(const void*, size_t, int))                                    \
  F(cuFileBufDeregister, Status(const void*))                                               \
  F(cuFileRead, ssize_t(Handle, void*, size_t, off_t, off_t))

struct Api {
#define PS_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  PS_CUFILE_FUNCTIONS(PS_MEMBER)
#undef PS_MEMBER
};

// Loads the library, once: that which Python has named ("cufile"), or the system's. Throws Error(device) where it is
// missing or too old.
const Api& api();

// What a code means: "the file system is not supported (5008)".
std::string meaning(int code);

}  // namespace ps::gpu::cufile
