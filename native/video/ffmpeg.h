// FFmpeg's headers, its objects with owners, and its errors as ours.
#pragma once

#include <memory>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

#include "core/error.h"

namespace ps {

struct FreeIo {
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
};
struct FreeFormat { void operator()(AVFormatContext* f) const { avformat_close_input(&f); } };
struct FreeCodec { void operator()(AVCodecContext* c) const { avcodec_free_context(&c); } };
struct FreePacket { void operator()(AVPacket* p) const { av_packet_free(&p); } };
struct FreeFrame { void operator()(AVFrame* f) const { av_frame_free(&f); } };
struct FreeParameters { void operator()(AVCodecParameters* p) const { avcodec_parameters_free(&p); } };
using Io = std::unique_ptr<AVIOContext, FreeIo>;
using Format = std::unique_ptr<AVFormatContext, FreeFormat>;
using CodecContext = std::unique_ptr<AVCodecContext, FreeCodec>;
using Packet = std::unique_ptr<AVPacket, FreePacket>;
using Frame = std::unique_ptr<AVFrame, FreeFrame>;
using Parameters = std::unique_ptr<AVCodecParameters, FreeParameters>;

inline std::string text_of(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

// What failed for lack of memory is no fault of the file.
[[noreturn]] inline void fail_av(const std::string& what, int error) {
  fail(error == AVERROR(ENOMEM) ? ErrorKind::memory : ErrorKind::decode, what + ": " + text_of(error));
}

template <class Owner> void check_made(const Owner& made) {
  if (!made) fail(ErrorKind::memory, "FFmpeg got no memory");
}

}  // namespace ps
