// Frames of a video, wherever they are: what to read and decode for a frame, its index says.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "video/packets.h"

namespace ps {

class Decoder {
 public:
  // The input and the index must live as long.
  Decoder(Input& input, const VideoIndex& index, int64_t most_pixels);

  // Shows these frames, which rise, in their order. False: `take` has stopped it. Throws Error; the decoder is of no
  // use then.
  bool decode(const int64_t* frames, int64_t count, psv_take take, void* user);

  // Decodes everything, and tells the packets of the frames in the order in which they come.
  std::vector<int32_t> order();

 private:
  bool go_on_to(int64_t frame);
  void start(size_t key);
  void send();
  bool receive();
  void drain();
  bool is_skipped(int64_t packet) const;
  bool is_sent(int64_t frame) const;
  std::string what_is_broken(int64_t frame) const;
  psv_picture picture(int64_t frame) const;

  const VideoPacket& packet(int64_t i) const { return index_.packets()[i]; }

  Input& input_;
  VideoIndex index_;
  Packets packets_;
  CodecContext codec_;
  Frame frame_;

  bool running_ = false, draining_ = false;
  KeyFrames keys_;
  size_t started_ = 0;                      // with which of these this run began
  int64_t next_ = 0;                        // the packet to be sent
  int64_t shown_ = -1;                      // the last frame that came out
  int64_t end_ = -1;                        // behind this frame decoding begins anew elsewhere; -1: behind none
  std::unordered_set<int64_t> skipped_;     // packets that were sent though none of their frames was wanted
  std::vector<int64_t> broken_;             // packets of this run that could not be decoded
  const int64_t* wanted_ = nullptr;
  const int64_t* wanted_end_ = nullptr;
};

}  // namespace ps
