#include "cuda/decode/decoded_views.h"

#include <algorithm>

#include "cuda/driver/device.h"

namespace ps::gpu {

DecodedViews::DecodedViews(Recorder& r, const DecodedInput& input) : there_(input.views) {
  const auto count = size_t(r.size());
  views_ = static_cast<device::DecodedView*>(r.pinned(count * sizeof *views_));
  pictures_.resize(count);
  outputs_.resize(count);
  for (size_t i = 0; i < count; i++) {
    const Window& w = input.samples[i].needed;
    pictures_[i] = r[int(i)].out(0);
    pictures_[i].shape[0] = w.height(), pictures_[i].shape[1] = w.width();
    outputs_[i] = &pictures_[i];
    contexts_.push_back(r[int(i)]);
    contexts_[i].outputs = &outputs_[i];
    planes_.push_back(input.samples[i].planes);
    views_[i] = {nullptr, nullptr, int32_t(w.x0), int32_t(w.y0), int32_t(w.width()), int32_t(w.height())};
  }
}

// Those that the CPU decodes lie side by side, to be copied in one piece.
void DecodedViews::give_memory(Recorder& r, const std::vector<Context>& given, const std::vector<size_t>& room) {
  constexpr size_t align = 256;
  std::vector<size_t> place(pictures_.size(), SIZE_MAX);
  size_t bytes = 0;
  for (size_t k = 0; k < given.size(); k++) {
    const auto sample = size_t(given[k].index);
    given_.push_back(int(sample));
    place[sample] = bytes;
    bytes += ((planes_[sample] ? room[k] : pictures_[sample].bytes()) + align - 1) / align * align;
  }
  for (size_t i = 0; i < pictures_.size(); i++) {
    if (place[i] != SIZE_MAX) continue;
    place[i] = bytes;
    bytes += pictures_[i].bytes();
  }
  auto* memory = static_cast<uint8_t*>(r.scratch(bytes));
  for (size_t i = 0; i < pictures_.size(); i++) {
    pictures_[i].data = memory + place[i];
    views_[i].pixels = memory + place[i];
  }
  known_ = static_cast<device::JpegPicture*>(r.scratch(given.size() * sizeof *known_));
}

void DecodedViews::set_planes(Recorder& r, const std::vector<int>& order, const std::vector<int>& refused) {
  for (size_t k = 0; k < order.size(); k++) {
    const auto sample = size_t(given_[size_t(order[k])]);
    if (planes_[sample]) views_[sample].picture = known_ + k;
  }
  for (const int k : refused) {
    const auto sample = size_t(given_[size_t(k)]);
    if (!planes_[sample]) continue;                // it has had memory for pixels from the start
    auto* pixels = static_cast<uint8_t*>(r.scratch(pictures_[sample].bytes()));
    pictures_[sample].data = pixels;
    views_[sample].picture = nullptr, views_[sample].pixels = pixels;
  }
}

void DecodedViews::copy(CUstream stream) const {
  check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(there_), views_, pictures_.size() * sizeof *views_,
                                      stream),
        "cuMemcpyHtoDAsync");
}

}  // namespace ps::gpu
