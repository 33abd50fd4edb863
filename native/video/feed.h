// Packets of a video as decoders in hardware take them: each by itself, with the headers that a container keeps apart.
#pragma once

#include <cstdint>
#include <vector>

#include "video/api.h"
#include "video/packets.h"

namespace ps {

// What a video is to such a decoder, as its index says.
psv_coding coding_of(const VideoIndex& index);

class Feed {
 public:
  // The input and the index must live as long. Throws Error.
  Feed(Input& input, const VideoIndex& index);

  // The packet, which stays until the next call. `restarts`: decoding begins with it; else it follows the one that was
  // asked for last. Throws Error.
  void packet(int64_t number, bool restarts, const uint8_t** data, int64_t* bytes);

 private:
  struct FreeFilter { void operator()(AVBSFContext* f) const { av_bsf_free(&f); } };
  void make_filter(const char* name, const VideoIndex& index);

  Input& input_;
  Packets packets_;
  std::unique_ptr<AVBSFContext, FreeFilter> filter_;     // null: packets are taken as they are
  std::vector<uint8_t> headers_, joined_;
};

}  // namespace ps
