// FFmpeg's headers, its objects with owners, and its errors as ours.
#pragma once

#include <memory>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

#include "core/error.h"
#include "video/api.h"

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

// What a stream says of its colours.
inline psv_matrix matrix_of(int space) {
  switch (space) {
    case AVCOL_SPC_BT709: return PSV_BT709;
    case AVCOL_SPC_BT2020_NCL: case AVCOL_SPC_BT2020_CL: return PSV_BT2020;
    case AVCOL_SPC_BT470BG: case AVCOL_SPC_SMPTE170M: case AVCOL_SPC_FCC: return PSV_BT601;
    default: return PSV_UNKNOWN;
  }
}

inline bool is_full_range(int range, AVPixelFormat format) {
  return range == AVCOL_RANGE_JPEG || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P ||
         format == AV_PIX_FMT_YUVJ444P || format == AV_PIX_FMT_YUVJ440P || format == AV_PIX_FMT_YUVJ411P;
}

template <class Owner> void check_made(const Owner& made) {
  if (!made) fail(ErrorKind::memory, "FFmpeg got no memory");
}

}  // namespace ps
