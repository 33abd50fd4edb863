// The functions of NVIDIA's video decoder that native/cuda/decode/nvdec/nvcuvid.h names, for the software GPU, by
// FFmpeg's decoders. It is as strict as the real one: a decoder has so many surfaces, which are used in turn; a frame
// that is shown can be mapped until its surface is used again; so many are mapped at a time; what is mapped is written
// in the stream's order, and overwritten when it is unmapped.
//
// Of the environment: SOFTWARE_NVCUVID_SILENT=1 has no frame come out, SOFTWARE_NVCUVID_NO="9,11" does not take codecs
// with these numbers, SOFTWARE_NVCUVID_LOG names a file in which decoders that are made, changed and destroyed are
// noted.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
}

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/decode/nvdec/nvcuvid.h"

using namespace ps::gpu;
using namespace ps::gpu::cuvid;

namespace {

constexpr CUresult kInvalid = 1, kUnsupported = 801;
constexpr unsigned kPitchAlign = 512, kLeastSurfaces = 3;

void log(const std::string& line) {
  static std::mutex mutex;
  const char* path = std::getenv("SOFTWARE_NVCUVID_LOG");
  if (!path) return;
  std::lock_guard lock(mutex);
  if (FILE* f = std::fopen(path, "a")) {
    std::fprintf(f, "%s\n", line.c_str());
    std::fclose(f);
  }
}

bool takes(int codec) {
  const char* text = std::getenv("SOFTWARE_NVCUVID_NO");
  std::istringstream words(text ? text : "");
  for (std::string word; std::getline(words, word, ',');)
    if (std::atoi(word.c_str()) == codec) return false;
  return codec == kH264 || codec == kHevc || codec == kVp8 || codec == kVp9 || codec == kAv1;
}

AVCodecID codec_of(int codec) {
  switch (codec) {
    case kH264: return AV_CODEC_ID_H264;
    case kHevc: return AV_CODEC_ID_HEVC;
    case kVp8: return AV_CODEC_ID_VP8;
    case kVp9: return AV_CODEC_ID_VP9;
    default: return AV_CODEC_ID_AV1;
  }
}

// A picture as decoders have it: NV12 or P016.
struct Surface {
  std::vector<uint8_t> bytes;
  int status = 2;
};

struct SoftDecoder {
  CreateInfo info;
  std::vector<Surface> surfaces;
  std::map<unsigned long long, int> mapped{};
  size_t sample() const { return info.output_format == kP016 ? 2 : 1; }
  size_t pitch() const { return (info.width * sample() + kPitchAlign - 1) / kPitchAlign * kPitchAlign; }
  size_t bytes() const { return pitch() * (info.height + info.height / 2); }
};

struct SoftParser {
  ParserParams params;
  AVCodecContext* codec = nullptr;
  unsigned surfaces = 0, next = 0;
  int64_t last = INT64_MIN;                        // time stamp
  int width = 0, height = 0;
};

// Planes of 4:2:0 as two planes; samples of more than 8 bits at the top of 16.
void store(const AVFrame& f, SoftDecoder& d, Surface& to) {
  const int depth = av_pix_fmt_desc_get(AVPixelFormat(f.format))->comp[0].depth;
  to.bytes.assign(d.bytes(), 0x55);
  const auto put = [&](int plane, int step, int first, size_t row0, int width, int height) {
    for (int y = 0; y < height; y++) {
      const uint8_t* from = f.data[plane] + ptrdiff_t(y) * f.linesize[plane];
      uint8_t* row = to.bytes.data() + (row0 + size_t(y)) * d.pitch();
      for (int x = 0; x < width; x++) {
        const int at = x * step + first;
        if (depth == 8) row[at] = from[x];
        else reinterpret_cast<uint16_t*>(row)[at] =
            uint16_t(reinterpret_cast<const uint16_t*>(from)[x] << (16 - depth));
      }
    }
  };
  put(0, 1, 0, 0, f.width, f.height);
  for (int plane : {1, 2}) put(plane, 2, plane - 1, d.info.height, (f.width + 1) / 2, (f.height + 1) / 2);
  to.status = f.decode_error_flags || f.flags & AV_FRAME_FLAG_CORRUPT ? kStatusConcealed : 2;
}

bool show(SoftParser& p, const AVFrame& f) {
  if (f.width != p.width || f.height != p.height) {
    const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(AVPixelFormat(f.format));
    VideoFormat format{};
    format.codec = p.params.codec;
    format.progressive = 1;
    format.luma_minus_8 = format.chroma_minus_8 = uint8_t(d->comp[0].depth - 8);
    format.least_surfaces = kLeastSurfaces;
    format.coded_width = unsigned(f.width + 15) / 16 * 16, format.coded_height = unsigned(f.height + 15) / 16 * 16;
    format.display_area = {0, 0, f.width, f.height};
    format.chroma_format = d->nb_components == 3 ? (d->log2_chroma_w ? (d->log2_chroma_h ? 1 : 2) : 3) : 0;
    p.width = f.width, p.height = f.height;
    const int n = p.params.sequence(p.params.user, &format);
    if (n <= 0) return false;
    p.surfaces = unsigned(n), p.next = 0;
  }
  if (f.pts < p.last) return false;                // the real one would give them to other frames
  p.last = f.pts;
  PictureParams picture{};
  picture.picture = int(p.next++ % p.surfaces);
  picture.is_intra = f.pict_type == AV_PICTURE_TYPE_I;
  picture.data = reinterpret_cast<const uint8_t*>(&f);         // from one part of this library to the other
  if (p.params.decode(p.params.user, &picture) <= 0) return false;
  if (std::getenv("SOFTWARE_NVCUVID_SILENT")) return true;
  DisplayInfo info{picture.picture, 1, 1, 0, f.pts};
  return p.params.display(p.params.user, &info) > 0;
}

struct Copy {
  std::vector<uint8_t> from;
  uint8_t* to;
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// As native/cuda/decode/nvdec/nvcuvid.h takes them, so a definition that differs does not compile.
#define PS_DECLARE(name, ...) std::type_identity_t<__VA_ARGS__> name;
PS_CUVID_FUNCTIONS(PS_DECLARE)
#undef PS_DECLARE

CUresult cuvidGetDecoderCaps(Caps* c) {
  c->is_supported = takes(c->codec) && c->chroma_format == k420 && c->bit_depth_minus_8 <= 4;
  c->num_engines = 2;
  c->output_formats = c->bit_depth_minus_8 ? 1 << kP016 : 1 << kNv12;
  c->max_width = c->max_height = 4096, c->max_macroblocks = 65536;
  c->min_width = c->min_height = 16;
  return kSuccess;
}

CUresult cuvidCreateDecoder(Decoder* d, CreateInfo* info) {
  if (!takes(info->codec) || info->width > info->max_width || info->height > info->max_height) return kInvalid;
  if (info->target_width != info->width || info->target_height != info->height || info->width % 2) return kInvalid;
  if (info->decode_surfaces < kLeastSurfaces || info->decode_surfaces > 32) return kInvalid;
  *d = new SoftDecoder{*info, std::vector<Surface>(info->decode_surfaces)};
  log("create " + std::to_string(info->width) + " " + std::to_string(info->height));
  return kSuccess;
}

CUresult cuvidReconfigureDecoder(Decoder handle, ReconfigureInfo* info) {
  auto& d = *static_cast<SoftDecoder*>(handle);
  if (info->width > d.info.max_width || info->height > d.info.max_height || !d.mapped.empty()) return kInvalid;
  if (info->decode_surfaces > d.surfaces.size()) return kInvalid;
  d.info.width = info->width, d.info.height = info->height;
  d.surfaces.assign(d.surfaces.size(), {});
  log("reconfigure " + std::to_string(info->width) + " " + std::to_string(info->height));
  return kSuccess;
}

CUresult cuvidDestroyDecoder(Decoder handle) {
  auto* d = static_cast<SoftDecoder*>(handle);
  for (const auto& [address, picture] : d->mapped) driver().cuMemFree_v2(address);
  delete d;
  log("destroy");
  return kSuccess;
}

CUresult cuvidDecodePicture(Decoder handle, PictureParams* p) {
  auto& d = *static_cast<SoftDecoder*>(handle);
  if (p->picture < 0 || size_t(p->picture) >= d.surfaces.size()) return kInvalid;
  const auto& frame = *reinterpret_cast<const AVFrame*>(p->data);
  if (unsigned(frame.width) > d.info.width || unsigned(frame.height) > d.info.height) return kInvalid;
  store(frame, d, d.surfaces[size_t(p->picture)]);
  return kSuccess;
}

CUresult cuvidGetDecodeStatus(Decoder handle, int picture, DecodeStatus* status) {
  const auto& d = *static_cast<SoftDecoder*>(handle);
  if (d.info.codec != kH264 && d.info.codec != kHevc) return kUnsupported;
  if (picture < 0 || size_t(picture) >= d.surfaces.size()) return kInvalid;
  status->status = d.surfaces[size_t(picture)].status;
  return kSuccess;
}

CUresult cuvidMapVideoFrame64(Decoder handle, int picture, unsigned long long* address, unsigned* pitch,
                              ProcessParams* params) {
  auto& d = *static_cast<SoftDecoder*>(handle);
  if (picture < 0 || size_t(picture) >= d.surfaces.size() || d.mapped.size() >= d.info.output_surfaces) return kInvalid;
  if (const CUresult r = driver().cuMemAlloc_v2(address, d.bytes()); r != kSuccess) return r;
  d.mapped[*address] = picture;
  *pitch = unsigned(d.pitch());
  auto* work = new Copy{d.surfaces[size_t(picture)].bytes, reinterpret_cast<uint8_t*>(*address)};
  work->from.resize(d.bytes());
  return driver().cuLaunchHostFunc(params->stream, [](void* data) {
    auto* w = static_cast<Copy*>(data);
    std::memcpy(w->to, w->from.data(), w->from.size());
    delete w;
  }, work);
}

CUresult cuvidUnmapVideoFrame64(Decoder handle, unsigned long long address) {
  auto& d = *static_cast<SoftDecoder*>(handle);
  if (!d.mapped.erase(address)) return kInvalid;
  std::memset(reinterpret_cast<void*>(address), 0xa5, d.bytes());    // who still reads it is found out
  return driver().cuMemFree_v2(address);
}

CUresult cuvidCreateVideoParser(Parser* to, ParserParams* params) {
  const AVCodec* codec = avcodec_find_decoder(codec_of(params->codec));
  if (!codec) return kUnsupported;
  auto* p = new SoftParser{*params};
  p->codec = avcodec_alloc_context3(codec);
  p->codec->thread_count = 1;
  p->codec->flags |= AV_CODEC_FLAG_UNALIGNED;
  if (avcodec_open2(p->codec, codec, nullptr) < 0) return kInvalid;
  *to = p;
  return kSuccess;
}

CUresult cuvidParseVideoData(Parser handle, SourcePacket* source) {
  auto& p = *static_cast<SoftParser*>(handle);
  AVPacket* packet = av_packet_alloc();
  if (source->bytes) {
    av_new_packet(packet, int(source->bytes));
    std::memcpy(packet->data, source->data, source->bytes);
    packet->pts = packet->dts = source->timestamp;
  }
  avcodec_send_packet(p.codec, source->flags & kEndOfStream ? nullptr : packet);
  av_packet_free(&packet);
  AVFrame* frame = av_frame_alloc();
  bool good = true;
  while (good && avcodec_receive_frame(p.codec, frame) >= 0) good = show(p, *frame);
  av_frame_free(&frame);
  return good ? kSuccess : kInvalid;
}

CUresult cuvidDestroyVideoParser(Parser handle) {
  auto* p = static_cast<SoftParser*>(handle);
  avcodec_free_context(&p->codec);
  delete p;
  return kSuccess;
}
}
#pragma GCC visibility pop
