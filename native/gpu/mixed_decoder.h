// Decoding for device="mixed": JPEG files go to kernels of our own where PENSTOCK_JPEG=cuda, or else a share of them to
// nvJPEG; nvImageCodec takes the formats that have no decoder here, and the CPU's threads decode the rest into pinned
// memory, which is copied. This is all that the engine knows of decoders on the GPU.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/operator.h"
#include "decode/image.h"
#include "gpu/codec_pictures.h"
#include "gpu/cuda_jpeg.h"
#include "gpu/recorder.h"
#include "gpu/shared_jpeg.h"

namespace ps::gpu {

class MixedDecoder {
 public:
  // Begins to make nvJPEG's decoder, if it will be needed, for the GPU that the argument "device_id" names.
  MixedDecoder(const Spec& s, const DecodeOptions& options);

  // Who decodes a sample; in its parameters. For nvjpeg it may be the CPU after all, when the batch is shared out.
  enum class By : uint8_t { cpu, cuda, nvjpeg, nvimagecodec };
  struct Share {
    By by = By::cpu;
    const jpeg::Header* header = nullptr;   // for cuda
    uint8_t* host = nullptr;        // where the CPU is to put the picture; null: it does not decode it
  };
  struct Sample {
    const ImageInfo& info;
    Window window;                  // of the upright picture
    Share& share;
  };
  // In setup(): what the file is, and who could decode it. Throws as ps::peek() does.
  ImageInfo peek(const Context& c, Share& share) const;

  using Decode = std::function<void(const Context&, uint8_t*)>;
  // Decides who decodes what. `decode` is the CPU's decoder, for files that nvJPEG refuses after all.
  void record(Recorder& r, const std::function<Sample(const Context&)>& sample, const Decode& decode) const;

 private:
  struct Jpegs {
    std::vector<Context> contexts;
    std::vector<Window> windows;
  };
  using Flight = std::shared_ptr<CudaJpeg::Flight>;
  void record_cuda(Recorder& r, std::vector<CudaJpeg::Item> items, std::vector<Context> contexts,
                   const Decode& decode) const;
  void decode_jpegs(Device& device, const Jpegs& jpegs, const Decode& decode, CUstream stream) const;
  void decode_refused(Device& device, const Context& c, const Decode& decode, CUstream stream) const;

  DecodeOptions options_;
  double load_;
  std::unique_ptr<CudaJpeg> cuda_;                // null: nvJPEG decodes what it can
  std::shared_ptr<SharedJpeg> jpeg_;              // null: the CPU decodes all that it can
  CodecPictures codec_;
  mutable std::atomic<bool> without_codec_{false};   // nvImageCodec is not there: looked for once
};

}  // namespace ps::gpu
