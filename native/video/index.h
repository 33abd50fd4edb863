// The index of a video: what is known of it after one pass over its packets, without decoding. It is one block of
// memory, which is kept in files and handed about as it is.
//
//   VideoHead | extradata, filled up to 8 bytes | VideoPacket, in the order of decoding
//     | int32, by frame: its packet; filled up to 8 bytes
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ps {

struct VideoHead {
  static constexpr char kMagic[9] = "psvideo1";
  char magic[8];
  int64_t bytes;                     // of the index
  int64_t file_bytes;                // of the video
  int64_t extradata_bytes, packets, frames;
  int32_t codec, codec_tag, profile, level, format, bits;      // as FFmpeg's AVCodecParameters have them
  int32_t color_range, color_space, field_order, delay;
  int32_t ffmpeg;                    // the version of libavcodec, whose numbers these are
  int32_t stream;                    // its number in the file
  int32_t width, height;
  int32_t quarter_turns;             // clockwise, to be shown upright
  int32_t time_num, time_den;        // seconds of a tick of time stamps
  int32_t rate_num, rate_den;        // frames a second, as the file says; 0: it does not
  int32_t is_direct;                 // whether packets lie in the file as they are
};

struct VideoPacket {
  int64_t offset;                    // in the file; -1: not known
  int64_t pts, dts;                  // time stamps
  uint32_t bytes : 31, is_key : 1;
  int32_t frame;                     // in the order of presentation; -1: it is not shown
};

class VideoIndex {
 public:
  VideoIndex() = default;
  explicit VideoIndex(const void* data) : data_(static_cast<const uint8_t*>(data)) {}
  explicit operator bool() const { return data_; }
  const void* data() const { return data_; }
  const VideoHead& head() const { return *reinterpret_cast<const VideoHead*>(data_); }
  const uint8_t* extradata() const { return data_ + sizeof(VideoHead); }
  const VideoPacket* packets() const {
    return reinterpret_cast<const VideoPacket*>(extradata() + padded(head().extradata_bytes));
  }
  const int32_t* order() const { return reinterpret_cast<const int32_t*>(packets() + head().packets); }
  const VideoPacket& of_frame(int64_t frame) const { return packets()[order()[frame]]; }
  int64_t frames() const { return head().frames; }
  double seconds(int64_t frame) const {
    return double(of_frame(frame).pts) * head().time_num / head().time_den;
  }

  static int64_t padded(int64_t bytes) { return (bytes + 7) & ~int64_t(7); }
  static int64_t size_of(int64_t extradata, int64_t packets, int64_t frames) {
    return int64_t(sizeof(VideoHead)) + padded(extradata) + packets * int64_t(sizeof(VideoPacket)) + padded(frames * 4);
  }

  // Whether all of it lies within these bytes, and each number leads somewhere.
  static bool is_sound(const void* data, size_t bytes) {
    if (bytes < sizeof(VideoHead)) return false;
    const VideoIndex index(data);
    const VideoHead& h = index.head();
    constexpr int64_t most = int64_t(1) << 31;
    if (std::memcmp(h.magic, VideoHead::kMagic, sizeof h.magic) || h.bytes != int64_t(bytes)) return false;
    for (int64_t n : {h.extradata_bytes, h.packets, h.frames})
      if (n < 0 || n >= most) return false;
    if (h.width <= 0 || h.height <= 0 || h.time_num <= 0 || h.time_den <= 0 || h.file_bytes < 0) return false;
    if (size_of(h.extradata_bytes, h.packets, h.frames) != h.bytes) return false;
    for (int64_t i = 0; i < h.packets; i++) {
      const VideoPacket& p = index.packets()[i];
      if (p.frame < -1 || p.frame >= h.frames) return false;
      if (h.is_direct && (p.offset < 0 || p.offset > h.file_bytes - p.bytes)) return false;
      if (p.frame >= 0 && index.order()[p.frame] != i) return false;
    }
    for (int64_t f = 0; f < h.frames; f++) {
      const int32_t p = index.order()[f];
      if (p < 0 || p >= h.packets || index.packets()[p].frame != f) return false;
    }
    return true;
  }

 private:
  const uint8_t* data_ = nullptr;
};

// The packets that decoding may begin with: the first one, and key frames.
class KeyFrames {
 public:
  explicit KeyFrames(const VideoIndex& index) : index_(index), packets_{0} {
    for (int64_t p = 1; p < index.head().packets; p++)
      if (index.packets()[p].is_key) packets_.push_back(p);
  }
  int64_t operator[](size_t key) const { return packets_[key]; }
  // The last one in the order of decoding, at this packet or before it, from which the frame can be reached: one that
  // is shown no later. What comes behind a key frame and is shown before it may need what is before.
  size_t of(int64_t frame, int64_t from) const {
    auto at = std::upper_bound(packets_.begin(), packets_.end(), from);
    while (--at != packets_.begin())
      if (const int32_t shown = index_.packets()[*at].frame; shown >= 0 && shown <= frame) break;
    return size_t(at - packets_.begin());
  }

 private:
  VideoIndex index_;
  std::vector<int64_t> packets_;
};

}  // namespace ps
