// JPEG files to pictures in device memory by kernels of our own (penstock/device/jpeg/jpeg.h): on any GPU, of any
// size, bit for bit as the CPU's decoder has them. It decodes the usual kinds of files, and finds out by itself which
// ones it must leave to others.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "cuda/driver/device.h"
#include "decode/image.h"
#include "decode/jpeg/header.h"
#include "decode/jpeg/index.h"
#include "device/jpeg/jpeg.h"

namespace ps::gpu {

class CudaJpeg {
 public:
  // Whether files with this header may be given to start(). Whether they are sound only decoding shows.
  static bool takes(const jpeg::Header& header, size_t size);
  // Its kernels begin to be compiled.
  CudaJpeg(Device& device, const DecodeOptions& options);

  struct Item {
    const uint8_t* data = nullptr;           // the file, in host memory until the stream has passed this; best pinned
    size_t size = 0;
    const jpeg::Header* header = nullptr;
    const jpeg::ScanIndex* index = nullptr;  // null: none. One that does not fit makes the file refused, never wrong
    int orientation = 1;                     // EXIF
    Window window;                           // of the upright picture
    void* to = nullptr;                      // its pixels, interleaved and without gaps, in device memory,
    bool planes = false;                     // or, of UINT8, its planes of samples: no pixels are made here
  };
  // A batch under way.
  class Flight {
   public:
    // Waits until the scans are decoded. Indices of the items that another decoder has to take: nothing is written to
    // where their pictures belong.
    const std::vector<int>& refused();
    // How many of the others had an index. After refused().
    int indexed() const { return int(std::count(has_index_.begin(), has_index_.end(), true)); }
    const std::vector<int>& order() const { return order_; }         // of `pictures`: indices of the items

   private:
    friend class CudaJpeg;
    void copy_status(Device& device, const BufferRef& status, CUstream stream);
    std::vector<int> order_, refused_;       // order_: of the items on the GPU
    std::vector<bool> has_index_;            // items, but those refused
    BufferRef status_;                       // in pinned memory
    EventRef known_;                         // when it is there
  };
  // Puts the decoding of a batch into the stream, and waits for nothing. Files that lie in one of the blocks, which are
  // pinned, go over in one copy. Where there is no memory for some, these are refused. `pictures`: where what kernels
  // know of each item is to outlive the decoding, for those that make pixels of planes.
  std::shared_ptr<Flight> start(Device& device, const std::vector<Item>& items, const std::vector<BufferRef>& blocks,
                                CUstream stream, device::JpegPicture* pictures = nullptr) const;
  std::vector<size_t> room(const std::vector<Item>& items) const;    // bytes of each, for its planes

  static const std::vector<std::string>& sources();   // of its kernels, for UINT8

 private:
  // What is in device memory: the file, and the words of its index.
  struct Copied {
    const uint8_t* file = nullptr;
    const uint32_t* index = nullptr;
  };
  // Returns the memory of the copies, and what they are made from.
  std::vector<BufferRef> copy_files(Device& device, const std::vector<Item>& items,
                                    const std::vector<BufferRef>& blocks, std::vector<Copied>& to) const;
  DecodeOptions options_;
  Stream copies_;
  int64_t memory_;                           // of what is decoded at a time, about
};

}  // namespace ps::gpu
