#include "cuda/decode/nvjpeg/shared.h"

#include <tuple>

#include "core/error.h"
#include "cuda/driver/shared.h"

namespace ps::gpu {

std::shared_ptr<SharedJpeg> SharedJpeg::of(int device, const BatchedJpeg::Options& o) {
  try {
    nvjpeg();
  } catch (const Error& e) {
    if (e.kind != ErrorKind::device) throw;
    return nullptr;
  }
  const auto key = std::tuple(device, o.fancy_upsampling, o.width, o.height, o.batches, o.host_threads,
                              o.device_padding, o.pinned_padding);
  using All = Shared<std::remove_const_t<decltype(key)>, SharedJpeg>;
  return All::get(key, [&] { return std::make_shared<SharedJpeg>(device, o); });
}

SharedJpeg::SharedJpeg(int device, const BatchedJpeg::Options& options)
    : made_(std::async(std::launch::async, [this, device, options] { make(device, options); })) {}

SharedJpeg::~SharedJpeg() {
  made_.wait();
  decoder_.reset();
  stream_.reset();
  if (device_) device_->leave();
}

void SharedJpeg::make(int device, BatchedJpeg::Options options) {
  device_ = Device::get(device);
  device_->enter();
  Current current(*device_);
  options.backend = BatchedJpeg::engines(device_).engines ? JpegBackend::hardware : JpegBackend::hybrid;
  stream_ = std::make_unique<Stream>(device_, 0);
  decoder_ = std::make_unique<BatchedJpeg>(device_, options);
}

std::vector<int> SharedJpeg::decode(const JpegItem* items, int n, JpegOutput output, CUstream stream) {
  made_.get();
  std::lock_guard lock(mutex_);
  Event(device_, stream).wait_in(*stream_);
  std::vector<int> refused = decoder_->decode(items, n, output, *stream_);
  Event(device_, *stream_).wait_in(stream);
  return refused;
}

}  // namespace ps::gpu
