// Frames of a video by NVIDIA's decoder. As native/video/decoder.h, whose part on the CPU it is given packets by: the
// index says with which one decoding begins, and which frames are wanted.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "cuda/decode/nvdec/engine.h"
#include "decode/video/video.h"

namespace ps::gpu {

// A frame as the decoder leaves it, in the GPU's memory: NV12, or P016 for more than 8 bits.
struct NvFrame {
  const uint8_t *luma, *chroma;
  int64_t pitch;                             // bytes, of both planes
};

// A decoder, which stays where it is between calls. `container` and `place` are for read/containers.h.
class NvVideo {
 public:
  // The index must live as long. Throws Error and Refused.
  NvVideo(std::unique_ptr<VideoBytes> bytes, const VideoIndex& index, std::shared_ptr<VideoEngine> engine);
  ~NvVideo();
  NvVideo(const NvVideo&) = delete;
  NvVideo& operator=(const NvVideo&) = delete;
  int64_t container = 0, place = 0;

  // Shows these frames, which rise, with the context current; `take` puts what reads them into the stream. When the
  // call is over, so is that work. Throws Error and Refused; nothing else may be asked of it then.
  using Take = std::function<void(int64_t frame, const NvFrame&)>;
  void decode(const int64_t* frames, int64_t count, CUstream stream, const Take& take);

 private:
  struct Shown {
    int64_t frame;
    cuvid::DisplayInfo info;
  };
  struct Mapped {
    unsigned long long address;
    EventRef read;                           // passed when nothing reads it any more
  };
  struct CloseFeed { void operator()(psv_feed* f) const; };

  const VideoPacket& packet(int64_t i) const { return index_.packets()[i]; }
  int64_t wanted() const { return wanted_ < wanted_end_ ? *wanted_ : INT64_MAX; }
  bool can_go_on_to(int64_t frame, size_t key) const;
  void start(size_t key);
  void stop();                               // of the parser
  bool go_on_to(int64_t frame);
  void send();
  int64_t time_of(int64_t number) const;
  void offer(const Shown& shown);
  void show(const Shown& shown);
  void check(int picture);
  void unmap(size_t left);

  // The parser's callbacks, which no exception must leave.
  template <class F> int guarded(F f);
  int sequence(cuvid::VideoFormat& format);
  int decode_picture(cuvid::PictureParams& params);
  int display(cuvid::DisplayInfo* info);

  std::unique_ptr<VideoBytes> bytes_;
  VideoIndex index_;
  psv_coding coding_{};
  std::shared_ptr<VideoEngine> engine_;
  std::unique_ptr<psv_feed, CloseFeed> feed_;
  std::unique_ptr<VideoDecoder> decoder_;
  cuvid::Parser parser_ = nullptr;
  int left_ = 0, top_ = 0;                   // of what is shown, in what is coded
  std::exception_ptr failure_;               // of a callback

  KeyFrames keys_;
  size_t started_ = 0;                       // with which of these this run began
  bool restarts_ = false, begins_ = false, draining_ = false;    // begins_: no picture was decoded yet
  int64_t next_ = 0;                         // the packet to be sent
  int64_t passed_ = -1;                      // frames up to this one can't be had any more without another start
  bool missed_ = false;                      // a frame that is wanted did not come
  std::deque<Shown> waiting_;                // came with others that were wanted, and are still in their surfaces
  std::set<int> unchecked_;                  // surfaces with pictures that were decoded, and may be broken

  const int64_t *wanted_ = nullptr, *wanted_end_ = nullptr;
  const Take* take_ = nullptr;
  CUstream stream_ = nullptr;
  std::deque<Mapped> mapped_;
};

}  // namespace ps::gpu
