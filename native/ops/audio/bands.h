// Weighted sums on one axis (device/audio/bands.h), on either device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/operator.h"
#include "cuda/record/recorder.h"
#include "device/audio/bands.h"

namespace ps::audio {

struct Bands {
  std::vector<device::Band> bands;
  std::vector<float> weights;
  // One that reaches from index `begin` on; zeros at its ends are left out.
  void add(int64_t begin, const std::vector<double>& values, double scale = 1);
};

// Those for each extent of the input's axis, made when it first comes.
class BandTables {
 public:
  using Make = std::function<Bands(int64_t extent)>;
  explicit BandTables(Make make) : make_(std::move(make)) {}
  std::shared_ptr<const Bands> of(int64_t extent) const;

  void run(const Context& c, int axis) const;
  void record(gpu::Recorder& r, const std::function<int(const Context&)>& axis) const;

 private:
  static constexpr size_t kMost = 64;                // of the latest extents
  Make make_;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, std::shared_ptr<const Bands>> tables_;
};

}  // namespace ps::audio
