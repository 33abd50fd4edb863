#include "cuda/decode/nvdec/nv_video.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "decode/video/library.h"

namespace ps::gpu {
namespace {

constexpr unsigned kMoreSurfaces = 4;        // than decoding needs: so far ahead it goes of what is shown
constexpr unsigned kMostSurfaces = 32;
constexpr unsigned kDelay = 1;               // frames that wait to be shown while the next ones are decoded

unsigned even(unsigned extent) { return (extent + 1) & ~1u; }

}  // namespace

void NvVideo::CloseFeed::operator()(psv_feed* f) const { video_library().close_feed(f); }

NvVideo::NvVideo(std::unique_ptr<VideoBytes> bytes, const VideoIndex& index, std::shared_ptr<VideoEngine> engine)
    : bytes_(std::move(bytes)), index_(index), engine_(std::move(engine)), keys_(index) {
  bytes_->check_size(index);
  video_library().coding(index.data(), &coding_);
  psv_failure failure{};
  feed_.reset(video_library().open_feed(&bytes_->source(), index.data(), &failure));
  if (!feed_) bytes_->rethrow(failure);
}

NvVideo::~NvVideo() {
  try {
    const Current current(engine_->device());
    stop();
    engine_->give_back(std::move(decoder_));
  } catch (const Error&) {
    // The GPU has failed.
  }
}

void NvVideo::stop() {
  if (parser_) cuvid::api().cuvidDestroyVideoParser(parser_);
  parser_ = nullptr;
}

void NvVideo::decode(const int64_t* frames, int64_t count, CUstream stream, const Take& take) {
  wanted_ = frames, wanted_end_ = frames + count;
  take_ = &take, stream_ = stream;
  try {
    while (wanted_ < wanted_end_) {
      const int64_t f = *wanted_, own = index_.order()[f];
      const size_t key = keys_.of(f, own);
      if (!can_go_on_to(f, key)) start(key);
      // Not every key frame is one that decoding can begin with, whatever the container says.
      for (const size_t back : {size_t(1), size_t(4), size_t(0)}) {
        if (go_on_to(f)) break;
        if (back == 0 || started_ == 0)
          throw Refused{"frame " + std::to_string(f) + " does not come out of the GPU's decoder"};
        start(keys_.of(f, keys_[started_ > back ? started_ - back : 0]));
      }
    }
    unmap(0);
  } catch (...) {
    driver().cuStreamSynchronize(stream_);
    mapped_.clear();
    stop();
    decoder_.reset();                        // whatever is mapped of it
    throw;
  }
}

bool NvVideo::can_go_on_to(int64_t frame, size_t key) const {
  if (!parser_ || frame <= passed_ || started_ > key || keys_[key] > next_) return false;
  return !draining_ || std::any_of(waiting_.begin(), waiting_.end(), [&](const Shown& s) { return s.frame == frame; });
}

void NvVideo::start(size_t key) {
  stop();
  cuvid::ParserParams p{};
  p.codec = nvdec_codec(coding_.codec);
  p.decode_surfaces = 1;                     // sequence() says how many
  p.error_threshold = 100;                   // broken pictures are decoded, too, and checked then
  p.display_delay = kDelay;
  p.user = this;
  p.sequence = [](void* self, cuvid::VideoFormat* f) {
    auto* v = static_cast<NvVideo*>(self);
    return v->guarded([&] { return v->sequence(*f); });
  };
  p.decode = [](void* self, cuvid::PictureParams* params) {
    auto* v = static_cast<NvVideo*>(self);
    return v->guarded([&] { return v->decode_picture(*params); });
  };
  p.display = [](void* self, cuvid::DisplayInfo* info) {
    auto* v = static_cast<NvVideo*>(self);
    return v->guarded([&] { return v->display(info); });
  };
  if (cuvid::api().cuvidCreateVideoParser(&parser_, &p) != kSuccess) throw Refused{"cuvidCreateVideoParser failed"};
  started_ = key;
  next_ = keys_[key];
  restarts_ = begins_ = true, draining_ = false, missed_ = false;
  passed_ = -1;
  waiting_.clear();
  unchecked_.clear();
}

// Decodes on until this frame was taken. False: it did not come.
bool NvVideo::go_on_to(int64_t frame) {
  std::deque<Shown> waiting;
  waiting.swap(waiting_);
  for (const Shown& s : waiting) offer(s);
  while (wanted() <= frame) {
    if (missed_ || draining_) return false;
    send();
  }
  return true;
}

void NvVideo::send() {
  cuvid::SourcePacket source{};
  if (next_ >= index_.head().packets) {
    draining_ = true;
    source.flags = cuvid::kEndOfStream;
  } else {
    psv_failure failure{};
    const uint8_t* data = nullptr;
    int64_t bytes = 0;
    if (!video_library().packet(feed_.get(), next_, restarts_, &data, &bytes, &failure)) {
      if (failure.kind == int32_t(ErrorKind::decode)) throw Refused{failure.text};
      bytes_->rethrow(failure);
    }
    restarts_ = false;
    source.flags = cuvid::kTimestamp;
    source.data = data, source.bytes = (unsigned long)(bytes);
    source.timestamp = time_of(next_++);
  }
  const CUresult result = cuvid::api().cuvidParseVideoData(parser_, &source);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (result != kSuccess) throw Refused{"the GPU's parser refuses packet " + std::to_string(next_ - 1)};
}

template <class F> int NvVideo::guarded(F f) {
  if (failure_) return 0;
  try {
    return f();
  } catch (...) {
    failure_ = std::current_exception();
    return 0;
  }
}

int NvVideo::sequence(cuvid::VideoFormat& f) {
  const VideoHead& h = index_.head();
  const int width = f.display_area.right - f.display_area.left, height = f.display_area.bottom - f.display_area.top;
  if (f.chroma_format != cuvid::k420 || f.luma_minus_8 + 8 != coding_.depth || f.chroma_minus_8 != f.luma_minus_8)
    throw Refused{"its samples change"};
  if (width != h.width || height != h.height || f.display_area.left % 2 || f.display_area.top % 2)
    throw Refused{"frames have another size than the video"};
  left_ = f.display_area.left, top_ = f.display_area.top;
  DecoderKind kind{f.codec, coding_.depth, even(f.coded_width), even(f.coded_height),
                   std::min(std::max<unsigned>(f.least_surfaces, 1) + kMoreSurfaces, kMostSurfaces)};
  if (!decoder_ || !decoder_->is(kind)) {
    unmap(0);
    waiting_.clear(), unchecked_.clear();
    if (!(decoder_ && decoder_->could_be(kind) && decoder_->become(kind))) {
      engine_->give_back(std::move(decoder_));
      decoder_ = engine_->take(kind);
    }
  }
  return int(decoder_->kind().surfaces);
}

int NvVideo::decode_picture(cuvid::PictureParams& params) {
  if (!decoder_) throw Refused{"there is a picture before its header"};
  // The surface is used again: what it held before can't be shown any more.
  check(params.picture);
  unchecked_.erase(params.picture);
  for (const Shown& s : waiting_)
    if (s.info.picture == params.picture) passed_ = std::max(passed_, s.frame);
  std::erase_if(waiting_, [&](const Shown& s) { return s.frame <= passed_; });
  // Streams that refresh pictures bit by bit have no other key frame than their first.
  if (begins_ && started_ > 0 && coding_.codec == PSV_H264 && !params.is_intra) missed_ = true;
  begins_ = false;
  if (cuvid::api().cuvidDecodePicture(decoder_->handle(), &params) != kSuccess)
    throw Refused{"the GPU's decoder refuses a picture"};
  unchecked_.insert(params.picture);
  return 1;
}

int NvVideo::display(cuvid::DisplayInfo* info) {
  if (!info) return 1;
  if (info->timestamp % 2) offer({info->timestamp / 2, *info});
  return 1;
}

// The packet's time stamp for the parser, which takes those that do not rise in the order of presentation for times of
// decoding, and sorts them: odd numbers for frames, even ones between them for what is not shown.
int64_t NvVideo::time_of(int64_t number) const {
  const VideoPacket& p = packet(number);
  if (p.frame >= 0) return 2 * int64_t(p.frame) + 1;
  const int32_t *begin = index_.order(), *end = begin + index_.frames();
  return 2 * (std::lower_bound(begin, end, p.pts, [&](int32_t i, int64_t pts) { return packet(i).pts < pts; }) - begin);
}

// Takes the frame if it is the next one that is wanted. One behind all of these may be wanted by the next call.
void NvVideo::offer(const Shown& shown) {
  if (shown.frame < wanted()) {
    passed_ = std::max(passed_, shown.frame);
    return;
  }
  if (missed_) return;
  if (wanted_ == wanted_end_) {
    waiting_.push_back(shown);
    return;
  }
  if (shown.frame > wanted()) {
    missed_ = true;
    return;
  }
  passed_ = std::max(passed_, shown.frame);
  wanted_++;
  show(shown);
}

void NvVideo::show(const Shown& shown) {
  unmap(VideoDecoder::kOutputs - 1);
  cuvid::ProcessParams p{};
  p.progressive = shown.info.progressive;
  p.top_field_first = shown.info.top_field_first;
  p.unpaired_field = shown.info.repeat_first_field < 0;
  p.stream = stream_;
  unsigned long long address = 0;
  unsigned pitch = 0;
  if (cuvid::api().cuvidMapVideoFrame64(decoder_->handle(), shown.info.picture, &address, &pitch, &p) != kSuccess)
    throw Refused{"frame " + std::to_string(shown.frame) + " cannot be mapped"};
  mapped_.push_back({address, nullptr});
  const auto unchecked = unchecked_;         // it is decoded by now, and so are those that it is made of
  for (const int picture : unchecked) check(picture);
  const DecoderKind& kind = decoder_->kind();
  const int sample = kind.depth > 8 ? 2 : 1;
  const auto* surface = reinterpret_cast<const uint8_t*>(address);
  const int64_t at = int64_t(left_) * sample;
  (*take_)(shown.frame, {surface + int64_t(top_) * pitch + at,
                         surface + (int64_t(kind.height) + top_ / 2) * pitch + at, int64_t(pitch)});
  mapped_.back().read = std::make_shared<Event>(&engine_->device(), stream_);
}

// What the decoder says of a picture that it has decoded. Not all of them say anything.
void NvVideo::check(int picture) {
  if (!unchecked_.count(picture)) return;
  cuvid::DecodeStatus status{};
  const bool known = cuvid::api().cuvidGetDecodeStatus(decoder_->handle(), picture, &status) == kSuccess;
  if (known && status.status == cuvid::kInProgress) return;
  unchecked_.erase(picture);
  if (!known) return;
  if (status.status == cuvid::kStatusError || status.status == cuvid::kStatusConcealed)
    throw Refused{"a picture is broken"};
}

// Of the frames that are mapped, but for so many: when nothing reads them any more.
void NvVideo::unmap(size_t left) {
  while (mapped_.size() > left) {
    const Mapped one = mapped_.front();
    mapped_.pop_front();
    if (one.read) one.read->wait();
    else driver().cuStreamSynchronize(stream_);
    cuvid::api().cuvidUnmapVideoFrame64(decoder_->handle(), one.address);
  }
}

}  // namespace ps::gpu
