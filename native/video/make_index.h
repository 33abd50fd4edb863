// One pass over a video's packets, and what a decoder must know of them.
#pragma once

#include <cstdint>
#include <vector>

#include "video/demuxer.h"
#include "video/index.h"

namespace ps {

// The index as index.h has it, aligned to 8 bytes. Throws Error.
std::vector<int64_t> make_video_index(Input& input, int64_t most_pixels);

// Whether the packet has a frame that is to be seen: VP8 and VP9 have some that only others refer to.
bool is_shown(AVCodecID codec, const uint8_t* data, size_t bytes);

}  // namespace ps
