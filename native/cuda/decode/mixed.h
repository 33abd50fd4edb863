// Decoding for device="mixed": a share of the JPEG files, or all, goes to our own kernels or to nvJPEG, as the argument
// "jpeg_engine" says; nvImageCodec takes the formats that have no decoder here, and the CPU's threads decode the rest
// into pinned memory, which is copied. Operators that decode (ops/decode) know the GPU's decoders by this alone.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/operator.h"
#include "cuda/decode/decode_counts.h"
#include "cuda/decode/decoded_views.h"
#include "cuda/decode/jpeg/jpeg.h"
#include "cuda/decode/nvimgcodec/pictures.h"
#include "cuda/decode/nvjpeg/shared.h"
#include "cuda/decode/refused_files.h"
#include "cuda/record/decoded_input.h"
#include "cuda/record/recorder.h"
#include "decode/image.h"

namespace ps::gpu {

// The arguments that have an effect with device="mixed" alone.
struct MixedOptions {
  explicit MixedOptions(const Spec& s);
  int device_id;
  std::string engine;               // "cuda" (for the exact inverse DCT), "hardware" (nvJPEG; likewise, for UINT8, and
                                    // not for YCbCr) or "cpu"
  double load;                      // of the JPEG files, in bytes: the engine's share
  BatchedJpeg::Options jpeg;        // of "hardware"
};

class MixedDecoder {
 public:
  // Begins to create what the engine needs, on the GPU.
  MixedDecoder(const MixedOptions& mixed, const DecodeOptions& options);

  // The engine that decodes a sample; in its parameters. It may change to the CPU for JPEG, when the batch is divided.
  using By = DecodedBy;
  struct Share {
    By by = By::cpu;
    const jpeg::Header* header = nullptr;   // for cuda
    const jpeg::ScanIndex* index = nullptr; // likewise; null: none
    const jpeg::ScanList* scans = nullptr;  // likewise, of a progressive file
    uint8_t* host = nullptr;        // where the CPU is to put the picture; null: another engine decodes it
  };
  struct Sample {
    const ImageInfo& info;
    Window window;                  // of the upright picture
    Share& share;
  };
  // In setup(): what the file is, and which engine could decode it. Throws as ps::peek() does.
  ImageInfo peek(const Context& c, Share& share) const;

  using SampleOf = std::function<Sample(const Context&)>;
  // Divides the batch among the engines. `decode` is for files that the GPU refuses. `input`: a fused kernel reads the
  // pictures where their decoders leave them, and the outputs have no memory.
  void record(Recorder& r, const SampleOf& sample, const DecodeOnCpu& decode,
              const DecodedInput* input = nullptr) const;
  // Of a batch: which of them our kernels may decode.
  std::vector<DecodedSample> samples(const Recorder& r, const SampleOf& sample) const;
  const DecodeCounts& counts() const { return counts_; }

 private:
  struct Jpegs {
    std::vector<Context> contexts;
    std::vector<Window> windows;
  };
  using Flight = std::shared_ptr<CudaJpeg::Flight>;
  void record_cuda(Recorder& r, std::vector<CudaJpeg::Item> items, std::vector<Context> contexts,
                   const DecodeOnCpu& decode, const std::shared_ptr<DecodedViews>& views) const;
  void decode_jpegs(Device& device, const Jpegs& jpegs, const DecodeOnCpu& decode, CUstream stream) const;
  void decode_others(Device& device, const std::vector<CodecPictures::Item>& items, const DecodeOnCpu& decode,
                     CUstream stream) const;
  // An engine has refused some of the files that it was given.
  void finish(By engine, Device& device, const std::vector<Context>& given, const std::vector<int>& refused,
              const DecodeOnCpu& decode, CUstream stream) const;
  void count(By engine, const std::vector<Context>& given, const std::vector<Context>& refused) const;

  DecodeOptions options_;
  double load_;                                   // of a batch's JPEG files that the GPU can do: its share, in bytes
  std::unique_ptr<CudaJpeg> cuda_;                // decodes JPEG,
  std::shared_ptr<SharedJpeg> jpeg_;              // or nvJPEG does; both null: the CPU
  CodecPictures codec_;
  mutable DecodeCounts counts_;
  mutable std::atomic<bool> without_codec_{false};   // nvImageCodec is not there: looked for once
};

}  // namespace ps::gpu
