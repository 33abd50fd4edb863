#include "video/feed.h"

#include <cstring>
#include <string>

namespace ps {
namespace {

psv_codec codec_of(int codec) {
  switch (codec) {
    case AV_CODEC_ID_H264: return PSV_H264;
    case AV_CODEC_ID_HEVC: return PSV_HEVC;
    case AV_CODEC_ID_VP8: return PSV_VP8;
    case AV_CODEC_ID_VP9: return PSV_VP9;
    case AV_CODEC_ID_AV1: return PSV_AV1;
    default: return PSV_OTHER_CODEC;
  }
}

// The four bytes of an AV1CodecConfigurationRecord before its headers begin with a marker and a version.
constexpr int kAv1Record = 4;
constexpr uint8_t kAv1Marker = 0x81;

}  // namespace

psv_coding coding_of(const VideoIndex& index) {
  const VideoHead& h = index.head();
  psv_coding c{};
  c.codec = codec_of(h.codec);
  c.profile = h.profile;
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(AVPixelFormat(h.format));
  c.depth = d ? d->comp[0].depth : 0;
  c.is_420 = d && d->nb_components == 3 && d->log2_chroma_w == 1 && d->log2_chroma_h == 1 &&
             !(d->flags & AV_PIX_FMT_FLAG_RGB);
  c.full_range = is_full_range(h.color_range, AVPixelFormat(h.format));
  c.matrix = matrix_of(h.color_space);
  return c;
}

Feed::Feed(Input& input, const VideoIndex& index) : input_(input), packets_(input, index) {
  const VideoHead& h = index.head();
  if (h.codec == AV_CODEC_ID_H264) make_filter("h264_mp4toannexb", index);
  if (h.codec == AV_CODEC_ID_HEVC) make_filter("hevc_mp4toannexb", index);
  if (h.codec == AV_CODEC_ID_AV1 && h.extradata_bytes > kAv1Record && index.extradata()[0] == kAv1Marker)
    headers_.assign(index.extradata() + kAv1Record, index.extradata() + h.extradata_bytes);
}

void Feed::make_filter(const char* name, const VideoIndex& index) {
  const AVBitStreamFilter* found = av_bsf_get_by_name(name);
  if (!found) fail(ErrorKind::unsupported, std::string("this FFmpeg has no filter ") + name);
  AVBSFContext* made = nullptr;
  if (const int e = av_bsf_alloc(found, &made); e < 0) fail_av(name, e);
  filter_.reset(made);
  const VideoHead& h = index.head();
  AVCodecParameters& p = *filter_->par_in;
  p.codec_type = AVMEDIA_TYPE_VIDEO;
  p.codec_id = AVCodecID(h.codec);
  if (h.extradata_bytes) {
    p.extradata = static_cast<uint8_t*>(av_mallocz(size_t(h.extradata_bytes) + AV_INPUT_BUFFER_PADDING_SIZE));
    if (!p.extradata) fail(ErrorKind::memory, "FFmpeg got no memory");
    std::memcpy(p.extradata, index.extradata(), size_t(h.extradata_bytes));
    p.extradata_size = int(h.extradata_bytes);
  }
  if (const int e = av_bsf_init(filter_.get()); e < 0) fail_av("its header is broken", e);
  const AVCodecParameters& out = *filter_->par_out;
  headers_.assign(out.extradata, out.extradata + out.extradata_size);
}

void Feed::packet(int64_t number, bool restarts, const uint8_t** data, int64_t* bytes) {
  AVPacket* p = packets_.packet();
  av_packet_unref(p);
  input_.allow_more();
  if (restarts) {
    packets_.seek(number);
    if (filter_) av_bsf_flush(filter_.get());
  }
  if (!packets_.read(number))
    fail(ErrorKind::decode, "packet " + std::to_string(number) + " is another than when the index was made");
  if (filter_) {
    if (const int e = av_bsf_send_packet(filter_.get(), p); e < 0) fail_av("a packet is broken", e);
    if (const int e = av_bsf_receive_packet(filter_.get(), p); e < 0) fail_av("a packet is broken", e);
  }
  *data = p->data, *bytes = p->size;
  if (!restarts || headers_.empty()) return;
  joined_ = headers_;
  joined_.insert(joined_.end(), p->data, p->data + p->size);
  *data = joined_.data(), *bytes = int64_t(joined_.size());
}

}  // namespace ps
