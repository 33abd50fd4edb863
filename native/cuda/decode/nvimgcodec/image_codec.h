// Picture formats that have no decoder here, to device memory, by nvImageCodec: JPEG 2000, TIFF, lossless JPEG.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/memory/library_memory.h"
#include "decode/convert.h"

namespace ps::gpu {

struct CodecInfo {
  std::string format;              // nvImageCodec's name: "jpeg2k", "tiff", "jpeg"
  int64_t width = 0, height = 0;   // as stored, before any rotation
  int channels = 0;
  DType dtype = DType::u8;         // of the numbers in the file, in memory
  int bits = 8;                    // that they use of it
  int orientation = 1;             // EXIF: 1 (upright) to 8
};

struct CodecItem {
  const uint8_t* data = nullptr;   // the file, in host memory
  size_t size = 0;
  CodecInfo info;                  // what peek() said
  Window region;                   // of the stored picture; empty: the whole
  void* to = nullptr;              // interleaved, of info.dtype; without a device: host memory
  size_t pitch = 0;                // bytes from row to row
};

// For one thread at a time, but for the static functions, which any may call.
class ImageCodec {
 public:
  // By the first bytes, or the frame header of a JPEG file. Loads nothing.
  static bool knows(const uint8_t* data, size_t size);
  // Throws Error(decode) if it cannot be read, Error(device) if nvImageCodec is missing.
  static CodecInfo peek(const uint8_t* data, size_t size);

  // `threads`: of its own, for what a decoder does on the host; 0: as many as processors. No device: all is done on the
  // host, to host memory, by the decoders that can do that.
  explicit ImageCodec(DeviceRef device, int threads = 0);
  ~ImageCodec();
  ImageCodec(const ImageCodec&) = delete;
  ImageCodec& operator=(const ImageCodec&) = delete;

  struct Failure {
    Failure(int item, std::string why) : item(item), why(std::move(why)) {}
    int item;
    std::string why;
  };
  // Decodes a batch to rgb, bgr, gray or any (the channels as stored). Returns when the host's part is done and the
  // rest is in the stream, with those that failed. Values are not scaled: a file of 12 bits gives 0 to 4095. EXIF
  // orientation is left to the caller. Throws Error(device) or Error(memory) where the fault is not a file's.
  std::vector<Failure> decode(const CodecItem* items, int n, ImageType type, CUstream stream);

 private:
  struct Settings;
  DeviceRef device_;
  std::unique_ptr<Settings> settings_;
  struct nvimgcodecDecoder* decoder_ = nullptr;
};

}  // namespace ps::gpu
