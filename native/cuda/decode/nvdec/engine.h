// NVIDIA's video decoders of one GPU: what they take, and decoders that are used again for other files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/decode/nvdec/nvcuvid.h"
#include "cuda/driver/device.h"
#include "video/api.h"

namespace ps::gpu {

// The GPU's decoder does not take a video, or gives up: the CPU decodes it, or says what is wrong with it.
struct Refused {
  std::string why;
};

int nvdec_codec(int codec);                    // NVIDIA's number of one of psv_codec; -1: it has none

// What a decoder is made for.
struct DecoderKind {
  int codec = 0, depth = 8;
  unsigned width = 0, height = 0;              // coded, even
  unsigned surfaces = 0;                       // pictures that decoding needs at a time
};

// One of the GPU's decoders with its memory. The device's context must be current when it goes.
class VideoDecoder {
 public:
  VideoDecoder(const DecoderKind& kind, const cuvid::Caps& caps);        // throws Refused
  ~VideoDecoder();
  VideoDecoder(const VideoDecoder&) = delete;
  VideoDecoder& operator=(const VideoDecoder&) = delete;
  bool is(const DecoderKind& kind) const;
  // Whether it could be made one of this kind, as far as its memory goes.
  bool could_be(const DecoderKind& kind) const;
  bool become(const DecoderKind& kind);        // false: the driver refuses
  cuvid::Decoder handle() const { return handle_; }
  const DecoderKind& kind() const { return kind_; }
  int64_t bytes() const;                       // of its pictures, about

  static constexpr unsigned kOutputs = 4;      // frames that are mapped at a time

 private:
  DecoderKind kind_;
  unsigned most_width_, most_height_;
  cuvid::Decoder handle_ = nullptr;
};

class VideoEngine {
 public:
  // Of all operators that use this GPU at the same time.
  static std::shared_ptr<VideoEngine> of(Device& device);
  explicit VideoEngine(Device& device) : device_(device) {}
  ~VideoEngine();

  // Why it does not take such videos; empty: it does. Frames of this size.
  std::string problem(const psv_coding& coding, int64_t width, int64_t height);
  // With the context current. Throws Refused.
  std::unique_ptr<VideoDecoder> take(const DecoderKind& kind);
  void give_back(std::unique_ptr<VideoDecoder> decoder);
  Device& device() const { return device_; }

 private:
  // What the GPU decodes of a codec; asked once, for the driver answers nobody while it makes a decoder.
  cuvid::Caps caps(int codec, int depth);

  static constexpr int64_t kMostIdle = int64_t(1) << 30;    // bytes: to make a decoder takes long
  Device& device_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, cuvid::Caps> caps_;         // by codec and depth
  std::list<std::unique_ptr<VideoDecoder>> idle_;           // the last used at the end
};

}  // namespace ps::gpu
