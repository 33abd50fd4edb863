#include "video/packets.h"

namespace ps {

Packets::Packets(Input& input, const VideoIndex& index)
    : input_(input), index_(index), packet_(av_packet_alloc()) {
  check_made(packet_);
}

bool Packets::matches(const AVPacket& p, int64_t number) const {
  return p.dts == known(number).dts && p.size == int(known(number).bytes);
}

// Brings the demuxer to this packet: by its own way of seeking, if that leads before the packet, else from the start.
void Packets::seek(int64_t wanted) {
  if (index_.head().is_direct) return;
  if (demuxer_ && demuxed_ >= 0 && demuxed_ <= wanted && wanted - demuxed_ < 64) {
    while (demuxed_ < wanted && read(demuxed_)) av_packet_unref(packet_.get());
    if (demuxed_ == wanted) return;
  }
  demuxed_ = -1;
  const int64_t time = known(wanted).dts;
  if (wanted > 0 && time != AV_NOPTS_VALUE) {
    if (!demuxer_) demuxer_.emplace(input_, true);
    const int64_t back = av_rescale_q(1, {1, 1}, {index_.head().time_num, index_.head().time_den});
    for (const int64_t to : {time, time - back, time - 4 * back}) {
      if (!demuxer_->seek(to)) break;
      // Which packet this is, its size and time tell; where several are alike, the file is read from its beginning.
      if (!demuxer_->next(*packet_)) continue;
      int64_t found = -1;
      for (int64_t p = wanted; p >= 0 && found < 0; p--)
        if (matches(*packet_, p)) found = p;
      if (found < 0) continue;
      demuxed_ = found + 1;
      if (found == wanted) return;          // it waits in packet_
      while (demuxed_ <= wanted && read(demuxed_)) {}
      if (demuxed_ == wanted + 1) return;
      demuxed_ = -1;
    }
  }
  demuxer_.reset();
  demuxer_.emplace(input_, true);
  for (demuxed_ = 0; demuxed_ < wanted;)
    if (!read(demuxed_)) fail(ErrorKind::decode, "the file is another than when its index was made");
  av_packet_unref(packet_.get());
}

// Has the packet in packet_; false: it is not there.
bool Packets::read(int64_t number) {
  const VideoPacket& wanted = known(number);
  if (index_.head().is_direct) {
    if (const int e = av_new_packet(packet_.get(), int(wanted.bytes)); e < 0) fail_av("a packet", e);
    input_.read_all(wanted.offset, packet_->data, wanted.bytes);
    return true;
  }
  if (packet_->size && demuxed_ == number + 1) return true;    // seeking has read it
  do
    if (!demuxer_->next(*packet_)) return false;
  while (packet_->flags & AV_PKT_FLAG_CORRUPT);
  if (!matches(*packet_, number)) return false;
  demuxed_ = number + 1;
  return true;
}

}  // namespace ps
