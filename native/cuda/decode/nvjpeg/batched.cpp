#include "cuda/decode/nvjpeg/batched.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "core/error.h"

namespace ps::gpu {

// One batch under way. Its arrays may be read until the stream has passed the batch.
struct BatchedJpeg::State {
  const Nvjpeg& api = nvjpeg();
  NvjpegState state = nullptr;
  int size = 0;                                        // what the state is set up for; 0: nothing
  int reserved = 0;                                    // how many pictures of the size in the options it has room for
  NvjpegFormat format = kNvjpegRgb;
  std::vector<const unsigned char*> data;
  std::vector<size_t> lengths;
  std::vector<NvjpegImage> images;
  std::vector<NvjpegParams> params;
  std::vector<NvjpegImage> targets;                    // of all items, by index
  std::vector<Copy> copies;
  BufferRef whole;
  EventRef done;

  ~State() {
    for (NvjpegParams p : params) api.nvjpegDecodeParamsDestroy(p);
    if (state) api.nvjpegJpegStateDestroy(state);
  }
};

// A region of a picture that lies whole in our own memory: `picture` and `region` are offsets there.
struct BatchedJpeg::Copy {
  int item;
  size_t picture, pitch, region;
  JpegItem::Plane to;
  size_t bytes, rows;
};

namespace {

constexpr NvjpegFormat format_of(JpegOutput output) {
  switch (output) {
    case JpegOutput::rgb: return kNvjpegRgb;
    case JpegOutput::bgr: return kNvjpegBgr;
    case JpegOutput::gray: return kNvjpegY;
    default: return kNvjpegYuv;
  }
}

bool has_region(const JpegItem& item) { return item.region.width() > 0 && item.region.height() > 0; }

}  // namespace

BatchedJpeg::Engines BatchedJpeg::engines(DeviceRef device) {
  static std::mutex mutex;
  static std::map<int, Engines> known;
  const Nvjpeg& api = nvjpeg();
  std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(device->number());
  if (!is_new) return entry->second;
  Current current(*device);
  NvjpegHandle handle = nullptr;
  if (api.nvjpegCreateEx(kNvjpegHardware, nullptr, nullptr, 0, &handle) != kNvjpegSuccess) return {};
  Engines& e = entry->second;
  if (api.nvjpegGetHardwareDecoderInfo(handle, &e.engines, &e.cores) != kNvjpegSuccess || !e.cores) e = {};
  api.nvjpegDestroy(handle);
  return e;
}

BatchedJpeg::BatchedJpeg(DeviceRef device, const Options& options)
    : device_(device), options_(options), memory_(device) {
  const Nvjpeg& api = nvjpeg();
  Current current(*device_);
  const bool hardware = options.backend == JpegBackend::hardware;
  check_nvjpeg(api.nvjpegCreateExV2(hardware ? kNvjpegHardware : kNvjpegGpuHybrid, &of_device_, &pinned_,
                                    options.fancy_upsampling ? kNvjpegInterpolate : 0, &handle_), "nvjpegCreateExV2");
  try {
    if (options.device_padding)
      check_nvjpeg(api.nvjpegSetDeviceMemoryPadding(options.device_padding, handle_), "nvjpegSetDeviceMemoryPadding");
    if (options.pinned_padding)
      check_nvjpeg(api.nvjpegSetPinnedMemoryPadding(options.pinned_padding, handle_), "nvjpegSetPinnedMemoryPadding");
    check_nvjpeg(api.nvjpegJpegStreamCreate(handle_, &header_), "nvjpegJpegStreamCreate");
    for (int i = 0; i < std::max(options.batches, 1); i++) {
      auto& s = *states_.emplace_back(std::make_unique<State>());
      check_nvjpeg(api.nvjpegJpegStateCreate(handle_, &s.state), "nvjpegJpegStateCreate");
    }
  } catch (...) {
    states_.clear();
    if (header_) api.nvjpegJpegStreamDestroy(header_);
    api.nvjpegDestroy(handle_);
    throw;
  }
}

BatchedJpeg::~BatchedJpeg() {
  Current current(*device_);
  for (auto& s : states_)
    if (s->done) driver().cuEventSynchronize(s->done->handle());
  states_.clear();
  nvjpeg().nvjpegJpegStreamDestroy(header_);
  nvjpeg().nvjpegDestroy(handle_);
}

const std::vector<int>& BatchedJpeg::decode(const JpegItem* items, int n, JpegOutput output, CUstream stream) {
  refused_.clear();
  if (n <= 0) return refused_;
  Current current(*device_);
  State& s = *states_[next_];
  next_ = (next_ + 1) % states_.size();
  if (s.done) s.done->wait();
  s.done.reset();
  s.whole.reset();
  all_.resize(size_t(n));
  std::iota(all_.begin(), all_.end(), 0);
  const NvjpegFormat format = format_of(output);
  try {
    aim(s, items, n, format, stream);
    const int status = attempt(s, items, all_, format, stream);
    if (status != kNvjpegSuccess) separate(s, items, format, stream, status);
    copy_regions(s, stream);
    s.done = std::make_shared<Event>(device_, stream);
  } catch (...) {
    driver().cuStreamSynchronize(stream);              // some of it may be under way, in memory of this state
    throw;
  }
  return refused_;
}

// Where nvJPEG writes each item. The hybrid backend knows no regions: it decodes the whole picture to memory of our
// own, of which the region is copied.
void BatchedJpeg::aim(State& s, const JpegItem* items, int n, NvjpegFormat format, CUstream stream) {
  const size_t pixel = format == kNvjpegY ? 1 : 3;
  size_t scratch = 0;
  s.targets.assign(size_t(n), {});
  s.copies.clear();
  for (int i = 0; i < n; i++) {
    const JpegItem& item = items[i];
    NvjpegImage& image = s.targets[size_t(i)];
    for (int c = 0; c < (format == kNvjpegYuv ? 3 : 1); c++) {
      image.channel[c] = reinterpret_cast<unsigned char*>(item.to[c].data);
      image.pitch[c] = item.to[c].pitch;
    }
    if (!has_region(item) || options_.backend == JpegBackend::hardware) continue;
    thread_local jpeg::Header header;
    if (!jpeg::parse(item.data, item.size, header)) continue;   // nvJPEG will refuse it
    const Window& r = item.region;
    const size_t pitch = size_t(header.width) * pixel;
    s.copies.push_back({i, scratch, pitch, scratch + size_t(r.y0) * pitch + size_t(r.x0) * pixel, item.to[0],
                        size_t(r.width()) * pixel, size_t(r.height())});
    scratch += (pitch * size_t(header.height) + 255) / 256 * 256;
  }
  if (!scratch) return;
  s.whole = device_->memory()->take(scratch, stream);
  for (const Copy& c : s.copies) {
    NvjpegImage& image = s.targets[size_t(c.item)];
    image.channel[0] = s.whole->data() + c.picture;
    image.pitch[0] = c.pitch;
  }
}

// Decodes those chosen; returns nvJPEG's status.
int BatchedJpeg::attempt(State& s, const JpegItem* items, const std::vector<int>& chosen, NvjpegFormat format,
                         CUstream stream) {
  const bool hardware = options_.backend == JpegBackend::hardware;
  bool regions = false;
  s.data.clear(), s.lengths.clear(), s.images.clear();
  for (int i : chosen) {
    const JpegItem& item = items[i];
    s.data.push_back(item.data);
    s.lengths.push_back(item.size);
    s.images.push_back(s.targets[size_t(i)]);
    regions |= hardware && has_region(item);
  }
  for (size_t k = 0; regions && k < chosen.size(); k++) set_region(s, k, items[chosen[k]]);
  const int n = int(chosen.size());
  if (const int status = set_up(s, n, format); status != kNvjpegSuccess) return status;
  const int status = regions ? s.api.nvjpegDecodeBatchedEx(handle_, s.state, s.data.data(), s.lengths.data(),
                                                           s.images.data(), s.params.data(), stream)
                             : s.api.nvjpegDecodeBatched(handle_, s.state, s.data.data(), s.lengths.data(),
                                                         s.images.data(), stream);
  if (status != kNvjpegSuccess) s.size = 0;            // a batch that failed leaves the state undefined
  return status;
}

int BatchedJpeg::set_up(State& s, int n, NvjpegFormat format) {
  if (s.size == n && s.format == format) return kNvjpegSuccess;
  s.size = 0;
  if (options_.backend == JpegBackend::hardware && options_.width > 0 && options_.height > 0 && n > s.reserved) {
    const int status = s.api.nvjpegDecodeBatchedPreAllocate(handle_, s.state, n, options_.width, options_.height,
                                                            kNvjpeg444, kNvjpegRgb);
    if (status != kNvjpegSuccess) return status;
    s.reserved = n;
  }
  const int status = s.api.nvjpegDecodeBatchedInitialize(handle_, s.state, n, options_.host_threads, format);
  if (status == kNvjpegSuccess) s.size = n, s.format = format;
  return status;
}

void BatchedJpeg::set_region(State& s, size_t k, const JpegItem& item) {
  if (k == s.params.size()) {
    NvjpegParams params = nullptr;
    check_nvjpeg(s.api.nvjpegDecodeParamsCreate(handle_, &params), "nvjpegDecodeParamsCreate");
    s.params.push_back(params);
  }
  const Window& r = item.region;
  const int status = has_region(item) ? s.api.nvjpegDecodeParamsSetROI(s.params[k], int(r.x0), int(r.y0),
                                                                       int(r.width()), int(r.height()))
                                      : s.api.nvjpegDecodeParamsSetROI(s.params[k], 0, 0, -1, -1);
  check_nvjpeg(status, "nvjpegDecodeParamsSetROI");
}

// nvJPEG reports that a batch failed, but not which file did it. First the files are left out whose headers it refuses;
// if the batch still fails, each file is decoded alone.
void BatchedJpeg::separate(State& s, const JpegItem* items, NvjpegFormat format, CUstream stream, int status) {
  const auto give_up_unless_file = [](int why) {
    if (!is_fault_of_file(why)) check_nvjpeg(why, "nvjpegDecodeBatched");
  };
  give_up_unless_file(status);
  check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");   // the state's arrays are used again
  std::vector<int> left;
  for (int i : all_) (accepted(s, items[i]) ? left : refused_).push_back(i);
  if (left.empty() || (!refused_.empty() && attempt(s, items, left, format, stream) == kNvjpegSuccess)) return;
  for (int i : left) {
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    const int alone = attempt(s, items, {i}, format, stream);
    if (alone == kNvjpegSuccess) continue;
    give_up_unless_file(alone);
    refused_.push_back(i);
  }
  std::sort(refused_.begin(), refused_.end());
}

bool BatchedJpeg::accepted(State& s, const JpegItem& item) {
  if (s.api.nvjpegJpegStreamParseHeader(handle_, item.data, item.size, header_) != kNvjpegSuccess) return false;
  if (options_.backend == JpegBackend::hybrid) return true;
  set_region(s, 0, item);
  int unsupported = 1;
  return s.api.nvjpegDecodeBatchedSupportedEx(handle_, header_, s.params[0], &unsupported) == kNvjpegSuccess &&
         !unsupported;
}

void BatchedJpeg::copy_regions(const State& s, CUstream stream) const {
  for (const Copy& c : s.copies) {
    if (std::binary_search(refused_.begin(), refused_.end(), c.item)) continue;
    CopyRect rect{};
    rect.src_type = rect.dst_type = kMemoryDevice;
    rect.src_device = CUdeviceptr(s.whole->data()) + c.region;
    rect.src_pitch = c.pitch;
    rect.dst_device = c.to.data;
    rect.dst_pitch = c.to.pitch;
    rect.width_bytes = c.bytes;
    rect.height = c.rows;
    if (!driver().cuMemcpy2DAsync_v2) fail(ErrorKind::device, "NVIDIA's driver has no cuMemcpy2DAsync");
    check(driver().cuMemcpy2DAsync_v2(&rect, stream), "cuMemcpy2DAsync");
  }
}

}  // namespace ps::gpu
