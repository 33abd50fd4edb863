#include "ops/audio/bands.h"

#include <algorithm>

#include "cuda/record/functor.h"
#include "ops/audio/lanes.h"

namespace ps::audio {
namespace {

struct Axes {
  int64_t outer = 1, extent = 1, inner = 1;
  Axes(const Shape& s, int axis) {
    for (int i = 0; i < s.ndim; i++) (i < axis ? outer : i == axis ? extent : inner) *= s[i];
  }
};

// Columns of numbers `step` apart, W times kLanes of them side by side.
template <int W> void sum_columns(const Bands& b, const float* in, int64_t step, float* out, int64_t out_step) {
  for (const device::Band& band : b.bands) {
    const float* weights = b.weights.data() + band.at;
    const float* from = in + band.begin * step;
    Lanes sums[W];
    for (Lanes& sum : sums) sum = Lanes(0.0f);
    for (int32_t k = band.begin; k < band.end; k++, from += step) {
      const Lanes weight(*weights++);
      for (int w = 0; w < W; w++) sums[w] = sums[w] + weight * Lanes::load(from + w * kLanes);
    }
    for (int w = 0; w < W; w++) (sums[w] * Lanes(band.scale)).store(out + w * kLanes);
    out += out_step;
  }
}

// All columns of a matrix that is at least kLanes wide. The last ones may be summed twice.
void sum_matrix(const Bands& b, const float* in, int64_t width, float* out) {
  int64_t x = 0;
  for (; x + 4 * kLanes <= width; x += 4 * kLanes) sum_columns<4>(b, in + x, width, out + x, width);
  for (; x < width; x += kLanes) {
    x = std::min(x, width - kLanes);
    sum_columns<1>(b, in + x, width, out + x, width);
  }
}

// Columns that do not lie side by side: kLanes of them are gathered.
void sum_gathered(const Bands& b, const float* in, const Axes& a, float* out, Arena& scratch) {
  const auto count = int64_t(b.bands.size()), columns = a.outer * a.inner;
  auto* from = static_cast<float*>(scratch.take(sizeof(float) * size_t(a.extent * kLanes)));
  auto* to = static_cast<float*>(scratch.take(sizeof(float) * size_t(count * kLanes)));
  const auto at = [&](int64_t column, int64_t extent) {
    return column / a.inner * extent * a.inner + column % a.inner;
  };
  for (int64_t c = 0; c < columns; c += kLanes) {
    const int lanes = int(std::min<int64_t>(kLanes, columns - c));
    const float* rows[kLanes];
    for (int lane = 0; lane < kLanes; lane++) rows[lane] = in + at(std::min<int64_t>(c + lane, columns - 1), a.extent);
    if (a.inner == 1) to_lanes(rows, a.extent, from);
    else
      for (int64_t k = 0; k < a.extent; k++)
        for (int lane = 0; lane < kLanes; lane++) from[k * kLanes + lane] = rows[lane][k * a.inner];
    sum_columns<1>(b, from, kLanes, to, kLanes);
    if (a.inner == 1) {
      from_lanes(to, count, lanes, out + c * count, count);
      continue;
    }
    for (int lane = 0; lane < lanes; lane++)
      for (int64_t k = 0; k < count; k++) out[at(c + lane, count) + k * a.inner] = to[k * kLanes + lane];
  }
}

}  // namespace

void Bands::add(int64_t begin, const std::vector<double>& values, double scale) {
  size_t first = 0, last = values.size();
  while (first < last && float(values[first]) == 0) first++;
  while (last > first && float(values[last - 1]) == 0) last--;
  bands.push_back({int32_t(begin + int64_t(first)), int32_t(begin + int64_t(last)), int32_t(weights.size()),
                   float(scale)});
  for (size_t i = first; i < last; i++) weights.push_back(float(values[i]));
}

std::shared_ptr<const Bands> BandTables::of(int64_t extent) const {
  std::lock_guard lock(mutex_);
  if (const auto known = tables_.find(extent); known != tables_.end()) return known->second;
  if (tables_.size() >= kMost) tables_.clear();
  return tables_[extent] = std::make_shared<const Bands>(make_(extent));
}

void BandTables::run(const Context& c, int axis) const {
  const Axes a(c.in(0).shape, axis);
  if (c.out(0).shape.volume() == 0) return;
  const auto bands = of(a.extent);
  const auto* in = c.in(0).as<float>();
  auto* out = c.out(0).as<float>();
  if (a.inner < kLanes) return sum_gathered(*bands, in, a, out, *c.scratch);
  for (int64_t o = 0; o < a.outer; o++)
    sum_matrix(*bands, in + o * a.extent * a.inner, a.inner, out + o * int64_t(bands->bands.size()) * a.inner);
}

void BandTables::record(gpu::Recorder& r, const std::function<int(const Context&)>& axis) const {
  struct There {
    const float* weights;
    const device::Band* bands;
  };
  std::map<int64_t, There> there;
  r.elements(PS_FUNCTOR(BandSums, "audio/bands.h"), [&](const Context& c, void* functor) {
    const int64_t volume = c.out(0).shape.volume();
    if (!volume) return volume;
    const Axes a(c.in(0).shape, axis(c));
    auto known = there.find(a.extent);
    if (known == there.end()) {
      const auto table = of(a.extent);
      const auto& [bands, weights] = *table;
      const void* copied = r.constant(weights.data(), weights.size() * sizeof(float));
      const void* lists = r.constant(bands.data(), bands.size() * sizeof(device::Band));
      known = there.emplace(a.extent, There{static_cast<const float*>(copied),
                                            static_cast<const device::Band*>(lists)}).first;
    }
    const auto count = uint64_t(c.out(0).shape[axis(c)]);
    new (functor) device::BandSums{c.in(0).as<float>(), known->second.weights, c.out(0).as<float>(),
                                   known->second.bands, device::Divisor(uint64_t(a.inner)), device::Divisor(count),
                                   a.extent};
    return volume;
  });
}

}  // namespace ps::audio
