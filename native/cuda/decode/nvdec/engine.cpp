#include "cuda/decode/nvdec/engine.h"

#include <algorithm>

#include "core/error.h"
#include "cuda/driver/shared.h"

namespace ps::gpu {
namespace {

// Files of about one size share a decoder.
unsigned rounded(unsigned extent) { return (extent + 255) / 256 * 256; }

std::string status_of(CUresult result) {
  const char* name = nullptr;
  return driver().cuGetErrorName(result, &name) == kSuccess && name ? name : std::to_string(result);
}

}  // namespace

int nvdec_codec(int codec) {
  switch (codec) {
    case PSV_H264: return cuvid::kH264;
    case PSV_HEVC: return cuvid::kHevc;
    case PSV_VP8: return cuvid::kVp8;
    case PSV_VP9: return cuvid::kVp9;
    case PSV_AV1: return cuvid::kAv1;
    default: return -1;
  }
}

VideoDecoder::VideoDecoder(const DecoderKind& kind, const cuvid::Caps& caps)
    : kind_(kind), most_width_(rounded(kind.width)), most_height_(rounded(kind.height)) {
  if (caps.is_supported) {
    most_width_ = std::max(kind.width, std::min(most_width_, caps.max_width));
    most_height_ = std::max(kind.height, std::min(most_height_, caps.max_height));
  }
  cuvid::CreateInfo info{};
  info.width = kind.width, info.height = kind.height;
  info.max_width = most_width_, info.max_height = most_height_;
  // As large as it is coded: nothing is scaled, and what is shown is cut out by us.
  info.target_width = kind.width, info.target_height = kind.height;
  info.decode_surfaces = kind.surfaces;
  info.output_surfaces = kOutputs;
  info.codec = kind.codec, info.chroma_format = cuvid::k420;
  info.bit_depth_minus_8 = unsigned(kind.depth - 8);
  info.output_format = kind.depth > 8 ? cuvid::kP016 : cuvid::kNv12;
  info.deinterlace = cuvid::kWeave;
  info.flags = cuvid::kPreferCuvid;
  if (const CUresult r = cuvid::api().cuvidCreateDecoder(&handle_, &info); r != kSuccess)
    throw Refused{"cuvidCreateDecoder failed with " + status_of(r)};
}

VideoDecoder::~VideoDecoder() {
  if (handle_) cuvid::api().cuvidDestroyDecoder(handle_);
}

bool VideoDecoder::is(const DecoderKind& kind) const {
  return could_be(kind) && kind_.width == kind.width && kind_.height == kind.height;
}

bool VideoDecoder::could_be(const DecoderKind& kind) const {
  return kind_.codec == kind.codec && kind_.depth == kind.depth && kind_.surfaces >= kind.surfaces &&
         most_width_ >= kind.width && most_height_ >= kind.height;
}

bool VideoDecoder::become(const DecoderKind& kind) {
  cuvid::ReconfigureInfo info{};
  info.width = info.target_width = kind.width;
  info.height = info.target_height = kind.height;
  info.decode_surfaces = kind_.surfaces;
  if (cuvid::api().cuvidReconfigureDecoder(handle_, &info) != kSuccess) return false;
  kind_.width = kind.width, kind_.height = kind.height;
  return true;
}

int64_t VideoDecoder::bytes() const {
  const int64_t samples = int64_t(most_width_) * most_height_ * 3 / 2;
  return samples * (kind_.surfaces + kOutputs) * (kind_.depth > 8 ? 2 : 1);
}

std::shared_ptr<VideoEngine> VideoEngine::of(Device& device) {
  return Shared<int, VideoEngine>::get(device.number(), [&] { return std::make_shared<VideoEngine>(device); });
}

VideoEngine::~VideoEngine() {
  try {
    const Current current(device_);
    idle_.clear();
  } catch (const Error&) {
    // The GPU has failed: there is nothing to be given back.
  }
}

std::string VideoEngine::problem(const psv_coding& coding, int64_t width, int64_t height) {
  const int codec = nvdec_codec(coding.codec);
  if (codec < 0) return "its codec is not one of H.264, HEVC, VP8, VP9 and AV1";
  if (!coding.is_420) return "it is not of 4:2:0";
  if (coding.depth < 8 || coding.depth > 12) return "it has " + std::to_string(coding.depth) + " bits";
  if (width % 2 || height % 2) return "its width or height is odd";      // it would be scaled
  const cuvid::Caps c = caps(codec, coding.depth);
  const int format = coding.depth > 8 ? cuvid::kP016 : cuvid::kNv12;
  if (!c.is_supported || !(c.output_formats >> format & 1))
    return "this GPU does not decode its codec with " + std::to_string(coding.depth) + " bits";
  if (width < c.min_width || height < c.min_height || width > c.max_width || height > c.max_height ||
      ((width + 15) / 16) * ((height + 15) / 16) > int64_t(c.max_macroblocks))
    return "this GPU does not decode " + std::to_string(width) + " x " + std::to_string(height) + " pixels of it";
  return {};
}

cuvid::Caps VideoEngine::caps(int codec, int depth) {
  std::lock_guard lock(mutex_);
  auto found = caps_.find({codec, depth});
  if (found == caps_.end()) {
    cuvid::Caps asked{};
    asked.codec = codec, asked.chroma_format = cuvid::k420, asked.bit_depth_minus_8 = unsigned(depth - 8);
    const Current current(device_);
    if (cuvid::api().cuvidGetDecoderCaps(&asked) != kSuccess) asked.is_supported = 0;
    found = caps_.emplace(std::pair(codec, depth), asked).first;
  }
  return found->second;
}

std::unique_ptr<VideoDecoder> VideoEngine::take(const DecoderKind& kind) {
  const auto take_first = [&](const auto& fits) {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& one) { return fits(*one); });
    if (found == idle_.rend()) return std::unique_ptr<VideoDecoder>();
    std::unique_ptr<VideoDecoder> one = std::move(*found);
    idle_.erase(std::next(found).base());
    return one;
  };
  if (auto one = take_first([&](const VideoDecoder& d) { return d.is(kind); })) return one;
  if (auto one = take_first([&](const VideoDecoder& d) { return d.could_be(kind); }))
    if (one->become(kind)) return one;
  try {
    return std::make_unique<VideoDecoder>(kind, caps(kind.codec, kind.depth));
  } catch (const Refused&) {
    std::list<std::unique_ptr<VideoDecoder>> unused;
    {
      std::lock_guard lock(mutex_);
      unused.swap(idle_);
    }
    if (unused.empty()) throw;
    unused.clear();                              // their memory may be what is missing
    return std::make_unique<VideoDecoder>(kind, caps(kind.codec, kind.depth));
  }
}

void VideoEngine::give_back(std::unique_ptr<VideoDecoder> decoder) {
  if (!decoder) return;
  std::list<std::unique_ptr<VideoDecoder>> surplus;         // destructors wait, so without the lock
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(decoder));
  int64_t bytes = 0;
  for (const auto& one : idle_) bytes += one->bytes();
  for (; bytes > kMostIdle && idle_.size() > 1; surplus.splice(surplus.end(), idle_, idle_.begin()))
    bytes -= idle_.front()->bytes();
}

}  // namespace ps::gpu
