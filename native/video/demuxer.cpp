#include "video/demuxer.h"

#include <algorithm>
#include <cstdio>

namespace ps {
namespace {

constexpr int kBuffer = 1 << 16;
constexpr int kEmptyPackets = 1 << 16;      // one behind the other, before a file is given up

}  // namespace

void Input::read_all(int64_t at, uint8_t* to, int64_t bytes) {
  while (bytes > 0) {
    const int64_t n = source_.read(source_.user, at, to, bytes);
    if (n < 0) fail(ErrorKind::read, "it cannot be read");
    if (n == 0) fail(ErrorKind::read, "it became shorter since it was opened, or since its index was made");
    at += n, to += n, bytes -= n;
  }
}

int Input::read(uint8_t* to, int most) {
  if (at_ >= source_.bytes) return AVERROR_EOF;
  if (is_exhausted()) return AVERROR_EXIT;
  const int64_t n = source_.read(source_.user, at_, to, std::min<int64_t>(most, source_.bytes - at_));
  if (n < 0) failed_ = true;
  if (n <= 0) return n < 0 ? AVERROR(EIO) : AVERROR_EOF;
  at_ += n;
  allowed_ -= n;
  return int(n);
}

int64_t Input::seek(int64_t offset, int whence) {
  allowed_ -= 64;                           // a demuxer that does nothing but jump is stopped, too
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return source_.bytes;
    case SEEK_SET: break;
    case SEEK_CUR: offset += at_; break;
    case SEEK_END: offset += source_.bytes; break;
    default: return AVERROR(EINVAL);
  }
  if (offset < 0) return AVERROR(EINVAL);
  return at_ = offset;
}

Demuxer::Demuxer(Input& input, bool probe) : input_(input) {
  input_.allow_more();
  input_.seek(0, SEEK_SET);
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBuffer));
  if (!buffer) fail(ErrorKind::memory, "FFmpeg got no memory");
  io_.reset(avio_alloc_context(
      buffer, kBuffer, 0, &input,
      [](void* user, uint8_t* to, int most) { return static_cast<Input*>(user)->read(to, most); }, nullptr,
      [](void* user, int64_t offset, int whence) { return static_cast<Input*>(user)->seek(offset, whence); }));
  if (!io_) av_free(buffer);
  check_made(io_);
  AVFormatContext* context = avformat_alloc_context();
  if (!context) fail(ErrorKind::memory, "FFmpeg got no memory");
  context->pb = io_.get();
  context->flags |= AVFMT_FLAG_CUSTOM_IO;
  context->interrupt_callback = {[](void* user) { return int(static_cast<Input*>(user)->is_exhausted()); }, &input};
  // Files that name others (playlists, concatenations) are no videos: nothing is opened but these bytes.
  context->io_open = [](AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) { return AVERROR(EPERM); };
  const int error = avformat_open_input(&context, "", nullptr, nullptr);     // frees it where it fails
  if (input_.has_failed()) fail(ErrorKind::read, "it cannot be read");
  if (error < 0) fail_av("this is no video that FFmpeg knows, or its header is broken", error);
  format_.reset(context);
  if (probe)
    if (const int e = avformat_find_stream_info(context, nullptr); e < 0) fail_av("its header is broken", e);
  stream_ = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (stream_ < 0 || stream().disposition & AV_DISPOSITION_ATTACHED_PIC)
    fail(ErrorKind::decode, "there is no video in it");
  for (unsigned i = 0; i < context->nb_streams; i++)
    if (int(i) != stream_) context->streams[i]->discard = AVDISCARD_ALL;
}

bool Demuxer::next(AVPacket& packet) {
  for (int empty = 0; empty < kEmptyPackets; empty++) {
    av_packet_unref(&packet);
    const int error = av_read_frame(format_.get(), &packet);
    if (input_.has_failed()) fail(ErrorKind::read, "it cannot be read");
    if (input_.is_exhausted()) fail(ErrorKind::decode, "it is broken: reading it comes to no end");
    if (error == AVERROR(ENOMEM)) fail(ErrorKind::memory, "FFmpeg got no memory");
    if (error < 0) return false;            // the end, or what is behind here is broken
    if (packet.stream_index == stream_ && packet.size > 0) return true;
  }
  fail(ErrorKind::decode, "it is broken: its packets are empty");
}

bool Demuxer::seek(int64_t time) {
  input_.allow_more();
  return av_seek_frame(format_.get(), stream_, time, AVSEEK_FLAG_BACKWARD) >= 0;
}

}  // namespace ps
