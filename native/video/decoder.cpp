#include "video/decoder.h"

#include <algorithm>
#include <string>

namespace ps {
namespace {

// Of these codecs frames that no other one refers to are known to be such, and need not be decoded to be passed over.
bool knows_disposable(int codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_MPEG2VIDEO || codec == AV_CODEC_ID_MPEG1VIDEO;
}

}  // namespace

Decoder::Decoder(Input& input, const VideoIndex& index, int64_t most_pixels)
    : input_(input), index_(index), packets_(input, index), frame_(av_frame_alloc()), keys_(index) {
  const VideoHead& h = index.head();
  const AVCodec* codec = avcodec_find_decoder(AVCodecID(h.codec));
  if (!codec) fail(ErrorKind::unsupported, "this FFmpeg does not decode this video's codec");
  codec_.reset(avcodec_alloc_context3(codec));
  const Parameters p(avcodec_parameters_alloc());
  check_made(codec_), check_made(p), check_made(frame_);
  p->codec_type = AVMEDIA_TYPE_VIDEO;
  p->codec_id = AVCodecID(h.codec), p->codec_tag = uint32_t(h.codec_tag);
  p->profile = h.profile, p->level = h.level, p->format = h.format, p->bits_per_coded_sample = h.bits;
  p->color_range = AVColorRange(h.color_range), p->color_space = AVColorSpace(h.color_space);
  p->field_order = AVFieldOrder(h.field_order), p->video_delay = h.delay;
  p->width = h.width, p->height = h.height;
  if (h.extradata_bytes) {
    p->extradata = static_cast<uint8_t*>(av_mallocz(size_t(h.extradata_bytes) + AV_INPUT_BUFFER_PADDING_SIZE));
    if (!p->extradata) fail(ErrorKind::memory, "FFmpeg got no memory");
    std::memcpy(p->extradata, index.extradata(), size_t(h.extradata_bytes));
    p->extradata_size = int(h.extradata_bytes);
  }
  if (const int e = avcodec_parameters_to_context(codec_.get(), p.get()); e < 0) fail_av("its header is broken", e);
  codec_->thread_count = 1;                 // several clips are decoded at once, each by a thread
  codec_->flags |= AV_CODEC_FLAG_UNALIGNED;
  codec_->max_pixels = most_pixels;
  codec_->pkt_timebase = {1, 25};
  // Its decoder tells of broken pictures only so. Others conceal errors, and say that they did.
  if (h.codec == AV_CODEC_ID_MJPEG) codec_->err_recognition |= AV_EF_EXPLODE;
  if (const int e = avcodec_open2(codec_.get(), codec, nullptr); e < 0) fail_av("its decoder does not start", e);
}

bool Decoder::decode(const int64_t* frames, int64_t count, psv_take take, void* user) {
  wanted_ = frames, wanted_end_ = frames + count;
  for (int64_t i = 0; i < count; i++) {
    const int64_t f = frames[i], own = index_.order()[f];
    const size_t key = keys_.of(f, own);
    const bool goes_on = running_ && f > shown_ && started_ <= key && !skipped_.count(own);
    if (!goes_on || keys_[key] > next_) start(key);
    end_ = i + 1 < count && keys_[keys_.of(frames[i + 1], index_.order()[frames[i + 1]])] > own ? f : -1;
    // Not every key frame is one that decoding can begin with, whatever the container says.
    for (size_t back : {size_t(1), size_t(4), size_t(0)}) {
      bool came = go_on_to(f);
      if (!came && end_ == f) {
        end_ = -1;
        start(started_);
        came = go_on_to(f);
      }
      const std::string problem = came ? what_is_broken(f) : "its packet gives no picture";
      if (problem.empty()) break;
      if (back == 0 || started_ == 0)
        fail(ErrorKind::decode, "frame " + std::to_string(f) + " cannot be decoded: " + problem);
      start(keys_.of(f, keys_[started_ > back ? started_ - back : 0]));
    }
    const psv_picture shown = picture(f);
    if (take(user, f, &shown)) return false;
  }
  return true;
}

// Decodes on to this frame, which is in frame_ then. False: it did not come.
bool Decoder::go_on_to(int64_t frame) {
  while (true) {
    while (receive()) {
      const int64_t p = frame_->pts;
      const int64_t number = p >= 0 && p < index_.head().packets ? packet(p).frame : -1;
      if (number < 0) continue;
      shown_ = std::max(shown_, number);
      if (number == frame) return true;
      if (number > frame) return false;
    }
    if (draining_) return false;
    // A decoder wants a few more packets before it gives a frame, unless it is told that there are none.
    if (frame == end_ && is_sent(frame)) {
      drain();
      running_ = false;
    } else {
      send();
    }
  }
}

// Whether all packets of a frame were: that of a second field, which comes next, shows none of its own.
bool Decoder::is_sent(int64_t frame) const {
  return next_ > index_.order()[frame] && (next_ >= index_.head().packets || packet(next_).frame >= 0);
}

void Decoder::drain() {
  draining_ = true;
  avcodec_send_packet(codec_.get(), nullptr);
}

void Decoder::start(size_t key) {
  avcodec_flush_buffers(codec_.get());
  running_ = true, draining_ = false;
  started_ = key;
  next_ = keys_[key];
  shown_ = -1;
  skipped_.clear();
  broken_.clear();
  packets_.seek(next_);
}

bool Decoder::is_skipped(int64_t number) const {
  const int64_t frame = packet(number).frame;
  return frame < 0 || (frame < wanted_end_[-1] && !std::binary_search(wanted_, wanted_end_, frame));
}

void Decoder::send() {
  if (next_ >= index_.head().packets) {
    drain();
    return;
  }
  input_.allow_more();
  if (!packets_.read(next_))
    fail(ErrorKind::decode, "packet " + std::to_string(next_) + " is another than when the index was made");
  AVPacket* sent = packets_.packet();
  sent->pts = sent->dts = next_;
  sent->flags = packet(next_).is_key ? AV_PKT_FLAG_KEY : 0;
  codec_->skip_frame = AVDISCARD_DEFAULT;
  if (wanted_ && knows_disposable(index_.head().codec) && is_skipped(next_)) {
    codec_->skip_frame = AVDISCARD_NONREF;
    skipped_.insert(next_);
  }
  const int error = avcodec_send_packet(codec_.get(), sent);
  av_packet_unref(sent);
  if (error == AVERROR(ENOMEM)) fail(ErrorKind::memory, "FFmpeg got no memory");
  if (error < 0) broken_.push_back(next_);
  next_++;
}

// Whether there is one more frame.
bool Decoder::receive() {
  // As many errors as packets that may wait in the decoder: what gives errors for ever is given up.
  for (int errors = 0; errors < 64; errors++) {
    const int error = avcodec_receive_frame(codec_.get(), frame_.get());
    if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return false;
    if (error == AVERROR(ENOMEM)) fail(ErrorKind::memory, "FFmpeg got no memory");
    if (error >= 0) {
      if (frame_->decode_error_flags || frame_->flags & AV_FRAME_FLAG_CORRUPT)
        if (frame_->pts >= 0) broken_.push_back(frame_->pts);
      return true;
    }
    broken_.push_back(std::max<int64_t>(next_ - 1, 0));
  }
  return false;
}

// Why the frame is not to be trusted: it is broken, or follows one that is, and may refer to it; else empty.
std::string Decoder::what_is_broken(int64_t frame) const {
  const int64_t own = index_.order()[frame], key = keys_[keys_.of(frame, own)];
  for (const int64_t p : broken_) {
    if (p == own) return "it is broken";
    if (p < key || p > own) continue;
    const int64_t other = packet(p).frame;
    if (p != key && other >= 0 && other < packet(key).frame) continue;      // nothing behind the key frame refers to it
    return (other < 0 ? "a frame that is not shown" : "frame " + std::to_string(other)) +
           ", which it may be made of, is broken";
  }
  return {};
}

psv_picture Decoder::picture(int64_t frame) const {
  const VideoHead& h = index_.head();
  const auto format = AVPixelFormat(frame_->format);
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  const std::string which = "frame " + std::to_string(frame);
  if (frame_->width != h.width || frame_->height != h.height)
    fail(ErrorKind::decode, which + " has " + std::to_string(frame_->width) + " x " + std::to_string(frame_->height) +
         " pixels, and the video " + std::to_string(h.width) + " x " + std::to_string(h.height));
  const bool planar = d && (d->flags & AV_PIX_FMT_FLAG_PLANAR || d->nb_components == 1) && d->nb_components <= 4 &&
      !(d->flags & (AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_FLOAT |
                    AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_HWACCEL));
  bool plain = planar && d->comp[0].depth >= 8 && d->nb_components != 2;
  psv_picture p{};
  p.components = plain && d->nb_components >= 3 ? 3 : 1;
  for (int c = 0; plain && c < p.components; c++) {
    const AVComponentDescriptor& one = d->comp[c];
    plain = one.offset == 0 && one.shift == 0 && one.depth == d->comp[0].depth && one.step == (one.depth > 8 ? 2 : 1);
    p.planes[c] = frame_->data[one.plane];
    p.strides[c] = frame_->linesize[one.plane];
  }
  if (!plain)
    fail(ErrorKind::unsupported, which + " is of the pixel format " + (d ? d->name : "none") +
         ", and planes of Y, U and V, of R, G and B, or of gray are decoded");
  p.width = frame_->width, p.height = frame_->height;
  p.depth = d->comp[0].depth;
  p.shift_x = d->log2_chroma_w, p.shift_y = d->log2_chroma_h;
  p.is_rgb = (d->flags & AV_PIX_FMT_FLAG_RGB) != 0;
  p.full_range = is_full_range(frame_->color_range, format);
  p.matrix = matrix_of(frame_->colorspace);
  return p;
}

std::vector<int32_t> Decoder::order() {
  std::vector<int32_t> found;
  start(0);
  while (true) {
    while (receive())
      if (frame_->pts >= 0 && frame_->pts < index_.head().packets) found.push_back(int32_t(frame_->pts));
    if (draining_) return found;
    send();
  }
}

}  // namespace ps
