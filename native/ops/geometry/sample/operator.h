// What operators that read pictures at any positions have in common. `Map` is that of device/geometry/sample.h.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/record/operator.h"
#include "device/geometry/sample.h"
#include "ops/arguments/planes.h"
#include "ops/geometry/sample/row.h"

namespace ps {

inline int32_t sample_taps(int64_t interp_type) {
  constexpr int32_t taps[] = {device::kSampleNearest, device::kSampleLinear, device::kSampleCubic,
                              device::kSampleLanczos};
  return taps[interp_type];
}

template <class Map> class SampleOperator : public Operator, public GpuOperator {
 public:
  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    visit_sampled(in.dtype, [](auto) {});
    const Planes p = planes_of(in);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = p.layout;
    const int y = p.layout.find('H');
    find_size(c, p, &out.shape[y]);
    for (int64_t extent : {p.height, p.width, p.channels, out.shape[y], out.shape[y + 1]})
      if (extent > kLongest) fail(ErrorKind::unsupported, "an extent of " + std::to_string(extent) + " is too large");
    fills(c, p);
  }

  void run(const Context& c) const override {
    if (c.out(0).shape.volume() == 0) return;
    const Planes p = planes_of(c.in(0)), q = planes_of(c.out(0));
    const std::vector<float> fill = fills(c, p);
    const device::SampleFields f = fields_of(c, p, q);
    const SampleRow row = row_of(c.in(0).dtype, f);
    std::vector<float> kept;
    const Map where = map(c, q, kept);
    device::Position<2> positions[kSampleColumns];
    const size_t element = size_of(c.in(0).dtype);
    for (int64_t k = 0; k < q.count; k++) {
      const uint8_t* from = c.in(0).as<uint8_t>() + size_t(k * p.elements()) * element;
      uint8_t* to = c.out(0).as<uint8_t>() + size_t(k * q.elements()) * element;
      const float* beyond = fill.data() + k % q.per_frame * q.channels;
      for (int64_t x = 0; x < q.width; x += kSampleColumns) {
        const int64_t n = std::min(kSampleColumns, q.width - x);
        for (int64_t y = 0; y < q.height; y++) {
          find_positions(where, k / q.per_frame, int(x), int(y), int(n), positions);
          row(f, from, positions, n, beyond, to + size_t((y * q.width + x) * q.channels) * element);
        }
      }
    }
  }

  void record(gpu::Recorder& r) const override {
    using Fields = device::SampledFields<Map>;
    const std::string types =
        std::string(map_name_) + ", " + gpu::cpp_type(r[0].in(0).dtype) + ", " + std::to_string(taps_);
    r.elements({PS_DEVICE_TEMPLATE(Sampled, Map, uint8_t, 1).of(types), header_, sizeof(Fields), alignof(Fields)},
               [&](const Context& c, void* to) {
                 const int64_t all = c.out(0).shape.volume();
                 if (!all) return all;
                 const Planes p = planes_of(c.in(0)), q = planes_of(c.out(0));
                 const std::vector<float> fill = fills(c, p);
                 device::SampleFields fields = fields_of(c, p, q);
                 fields.fills = static_cast<const float*>(r.constant(fill.data(), fill.size() * sizeof(float)));
                 *static_cast<Fields*>(to) = {fields, map_there(c, r, q)};
                 return all;
               });
  }

 protected:
  // `name` and `header` are those of Map.
  SampleOperator(int32_t taps, int32_t border, const char* name, const char* header)
      : taps_(taps), border_(border), map_name_(name), header_(header) {}

  // Writes height and width of the output, and fails for arguments that do not fit.
  virtual void find_size(const Context& c, const Planes& in, int64_t* size) const = 0;
  // For each channel of the input.
  virtual std::vector<float> fills(const Context& c, const Planes& in) const = 0;
  virtual Map map(const Context& c, const Planes& out, std::vector<float>& kept) const = 0;
  // Of n pixels of a row, on the CPU: as the map has them.
  virtual void find_positions(const Map& map, int64_t frame, int first, int y, int n, device::Position<2>* to) const {
    for (int i = 0; i < n; i++) to[i] = map.position(frame, first + i, y);
  }
  virtual Map map_there(const Context& c, gpu::Recorder& r, const Planes& out) const = 0;

 private:
  static constexpr int64_t kLongest = 1 << 28;       // floats and integers count pixels

  device::SampleFields fields_of(const Context& c, const Planes& p, const Planes& q) const {
    const bool empty = p.elements() == 0;            // then the border is all there is
    return {c.in(0).data, c.out(0).data, nullptr, empty ? int32_t(device::kLeftOut) : border_, int32_t(p.height),
            int32_t(p.width), int32_t(p.channels), device::Divisor(uint64_t(q.channels)),
            device::Divisor(uint64_t(q.width)), device::Divisor(uint64_t(q.height)),
            device::Divisor(uint64_t(q.per_frame))};
  }

  SampleRow row_of(DType type, const device::SampleFields& f) const {
    switch (taps_) {
      case device::kSampleNearest: return sample_row<device::kSampleNearest>(type, f);
      case device::kSampleLinear: return sample_row<device::kSampleLinear>(type, f);
      case device::kSampleCubic: return sample_row<device::kSampleCubic>(type, f);
      default: return sample_row<device::kSampleLanczos>(type, f);
    }
  }

  int32_t taps_, border_;
  const char *map_name_, *header_;
};

}  // namespace ps
