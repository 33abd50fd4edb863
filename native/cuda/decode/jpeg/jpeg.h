// JPEG files to pictures in device memory by kernels of our own (penstock/device/jpeg/jpeg.h): on any GPU, of any
// size, bit for bit as the CPU's decoder has them. It decodes the usual kinds of files, baseline and progressive, and
// finds out by itself which ones it must leave to others.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "cuda/driver/device.h"
#include "decode/image.h"
#include "decode/jpeg/header.h"
#include "decode/jpeg/index.h"
#include "decode/jpeg/scan_list.h"
#include "device/jpeg/jpeg.h"

namespace ps::gpu {

class JpegGroup;

class CudaJpeg {
 public:
  // Whether files with this header may be given to start(), progressive ones with their scans. Whether they are sound
  // only decoding shows.
  static bool takes(const jpeg::Header& header, size_t size);
  static bool takes(const jpeg::Header& header, const jpeg::ScanList& scans);
  // Its kernels begin to be compiled.
  CudaJpeg(Device& device, const DecodeOptions& options);

  struct Item {
    const uint8_t* data = nullptr;           // the file, in host memory until the stream has passed this; best pinned
    size_t size = 0;
    const jpeg::Header* header = nullptr;
    const jpeg::ScanIndex* index = nullptr;  // null: none. One that does not fit makes the file refused, never wrong
    const jpeg::ScanList* scans = nullptr;   // of a progressive file
    int orientation = 1;                     // EXIF
    Window window;                           // of the upright picture
    void* to = nullptr;                      // its pixels, interleaved and without gaps, in device memory,
    bool planes = false;                     // or, of UINT8, its planes of samples: no pixels are made here
  };
  // A batch under way.
  class Flight {
   public:
    // Waits until the scans are decoded, and puts what is left to do into the stream. Indices of the items that another
    // decoder has to take: nothing is written to where their pictures belong.
    const std::vector<int>& finish(CUstream stream);
    // How many of the others had an index. After finish().
    int indexed() const { return int(std::count(has_index_.begin(), has_index_.end(), true)); }
    const std::vector<int>& order() const { return order_; }         // of `pictures`: indices of the items

   private:
    friend class CudaJpeg;
    // Items that are decoded together, those from `first` on in `order_`; what they are known by comes to the host.
    struct Part {
      size_t first = 0, count = 0;
      BufferRef status, here;                // the latter in pinned memory
      EventRef known;                        // when it is there
    };
    static void copy_status(Device& device, Part& part, CUstream stream);
    void add_refused(const Part& part);
    Device* device_ = nullptr;
    std::vector<int> order_, refused_;       // order_: of the items on the GPU
    std::vector<bool> has_index_;            // items, but those refused
    Part main_, aside_;
    std::shared_ptr<JpegGroup> group_aside_;         // the pixels of which are made by finish()
    std::vector<BufferRef> memory_aside_;
  };
  // Puts the decoding of a batch into the stream, and waits for nothing. Most of what it can of progressive files goes
  // on beside the stream, and their pixels are made by finish(). Files that lie in one of the blocks, which are
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
  void start_aside(Device& device, const std::vector<Item>& items, const std::vector<Copied>& copied, CUstream stream,
                   device::JpegPicture* pictures, Flight& flight) const;
  DecodeOptions options_;
  Stream copies_, beside_;
  // For scans that have little for a GPU to do at a time, but take long: those of several batches at once.
  static constexpr int kAside = 3;
  std::vector<std::unique_ptr<Stream>> aside_;
  mutable std::atomic<unsigned> next_aside_{0};
  int64_t memory_;                           // of what is decoded at a time, about
};

}  // namespace ps::gpu
