// The packets of a video by their numbers, wherever they lie: an index says where, or a demuxer is brought there.
#pragma once

#include <cstdint>
#include <optional>

#include "video/demuxer.h"
#include "video/index.h"

namespace ps {

class Packets {
 public:
  // The input and the index must live as long.
  Packets(Input& input, const VideoIndex& index);

  // The packet that is read next. Throws Error.
  void seek(int64_t number);
  // Has the packet in packet(); false: it is not there, or another one is. Those behind one another need no seek().
  bool read(int64_t number);
  AVPacket* packet() const { return packet_.get(); }

 private:
  const VideoPacket& known(int64_t i) const { return index_.packets()[i]; }
  bool matches(const AVPacket& packet, int64_t number) const;

  Input& input_;
  VideoIndex index_;
  std::optional<Demuxer> demuxer_;          // where packets do not lie in the file as they are
  int64_t demuxed_ = -1;                    // the packet that it gives next; -1: not known
  Packet packet_;
};

}  // namespace ps
