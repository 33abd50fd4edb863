// JPEG files to pictures in device memory, batch by batch, by nvJPEG: on the GPU's hardware engines (A100, A30, H100
// and newer), or with CUDA kernels where there are none.
#pragma once

#include <memory>
#include <vector>

#include "core/rows.h"
#include "cuda/decode/nvjpeg/nvjpeg.h"
#include "cuda/memory/library_memory.h"
#include "decode/jpeg/header.h"

namespace ps::gpu {

// Whether BatchedJpeg may be given a file; the rest is for the CPU. It is asked for each sample, so it looks at the
// header, and for the end of the data, and decodes nothing: baseline, 8 bits, one interleaved scan, grey or YCbCr,
// chroma halved or not in each direction, 64 to 16384 pixels wide and high.
bool takes_jpeg(const uint8_t* data, size_t size, const jpeg::Header& header);
bool takes_jpeg(const uint8_t* data, size_t size);

enum class JpegBackend { hardware, hybrid };
// RGB and BGR are interleaved, grey files give three equal channels; gray is the luma plane, one channel. planes: Y,
// Cb and Cr as the file has them, chroma in its own resolution (files of one component: Y alone).
enum class JpegOutput { rgb, bgr, gray, planes };

struct JpegItem {
  const uint8_t* data = nullptr;   // the file, in host memory; best pinned
  size_t size = 0;
  Window region;                   // of the stored picture; empty: the whole. planes: only the whole
  struct Plane {
    CUdeviceptr data = 0;
    size_t pitch = 0;              // bytes from row to row
  } to[3];                         // of the region; the first alone but for planes
};

// Keeps states and memory from batch to batch. For one thread at a time.
class BatchedJpeg {
 public:
  struct Engines {
    unsigned engines = 0, cores = 0;                   // cores of each engine
  };
  // What the GPU has; none: JpegBackend::hybrid is left. Throws Error(device) if nvJPEG is missing. Any thread.
  static Engines engines(DeviceRef device);

  struct Options {
    JpegBackend backend = JpegBackend::hardware;
    bool fancy_upsampling = true;                      // chroma interpolated; false: repeated
    int width = 0, height = 0;                         // of the largest pictures: room is made for a batch
    int batches = 2;                                   // that may be under way at a time
    int host_threads = 1;                              // of nvJPEG's own, for the hybrid backend
    size_t device_padding = 0, pinned_padding = 0;     // bytes: its buffers grow by multiples of that
  };
  BatchedJpeg(DeviceRef device, const Options& options);
  ~BatchedJpeg();
  BatchedJpeg(const BatchedJpeg&) = delete;
  BatchedJpeg& operator=(const BatchedJpeg&) = delete;

  // Enqueues the decoding of a batch in the stream. Returns the indices of the items that nvJPEG refused (kinds it does
  // not know, damage that it sees), for another decoder; the memory of their pictures is undefined. Waits only where
  // `batches` others are still under way. The files' bytes must stay until the stream has passed this.
  // Throws Error(device) or Error(memory) where the fault is not a file's.
  const std::vector<int>& decode(const JpegItem* items, int n, JpegOutput output, CUstream stream);

 private:
  struct State;
  struct Copy;
  void aim(State& s, const JpegItem* items, int n, NvjpegFormat format, CUstream stream);
  int attempt(State& s, const JpegItem* items, const std::vector<int>& chosen, NvjpegFormat format, CUstream stream);
  int set_up(State& s, int n, NvjpegFormat format);
  void set_region(State& s, size_t k, const JpegItem& item);
  void separate(State& s, const JpegItem* items, NvjpegFormat format, CUstream stream, int status);
  bool accepted(State& s, const JpegItem& item);
  void copy_regions(const State& s, CUstream stream) const;

  DeviceRef device_;
  Options options_;
  LibraryMemory memory_;
  // How long nvJPEG needs these is undocumented.
  NvjpegAllocator of_device_{LibraryMemory::take, LibraryMemory::give, &memory_.of_device};
  NvjpegAllocator pinned_{LibraryMemory::take, LibraryMemory::give, &memory_.pinned};
  NvjpegHandle handle_ = nullptr;
  NvjpegStream header_ = nullptr;
  std::vector<std::unique_ptr<State>> states_;
  size_t next_ = 0;
  std::vector<int> all_, refused_;
};

}  // namespace ps::gpu
