// A container of FFmpeg's over bytes of ours, and the packets of its video.
#pragma once

#include <memory>
#include <string>

#include "video/api.h"
#include "video/ffmpeg.h"

namespace ps {

// Bytes of a video, as FFmpeg reads them. What demuxers of broken files may read is limited, so none goes round for
// ever.
class Input {
 public:
  explicit Input(const psv_source& source) : source_(source) { allow_more(); }
  int64_t bytes() const { return source_.bytes; }
  void allow_more() { allowed_ = 8 * source_.bytes + (int64_t(64) << 20); }
  void read_all(int64_t at, uint8_t* to, int64_t bytes);      // throws Error(read)
  int read(uint8_t* to, int most);                            // as AVIO's
  int64_t seek(int64_t offset, int whence);
  bool is_exhausted() const { return allowed_ <= 0; }
  bool has_failed() const { return failed_; }

 private:
  psv_source source_;
  int64_t at_ = 0, allowed_ = 0;
  bool failed_ = false;
};

class Demuxer {
 public:
  // Opens the container, and looks for its video. `probe`: finds out all parameters, which needs some packets.
  explicit Demuxer(Input& input, bool probe);
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  AVStream& stream() const { return *format_->streams[stream_]; }
  bool reads_timestamps_only() const { return format_->iformat->flags & AVFMT_TS_DISCONT; }
  const char* format_name() const { return format_->iformat->name; }
  // The next packet of the video; false: there are no more. Throws Error(read) where the file cannot be read.
  bool next(AVPacket& packet);
  bool seek(int64_t time);               // to a place from which that time can be reached; false: it failed

 private:
  Input& input_;
  Io io_;
  Format format_;
  int stream_ = -1;
};

}  // namespace ps
