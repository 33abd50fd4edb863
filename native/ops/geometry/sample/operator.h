// What operators that read pictures at any positions have in common. `Map` is that of device/geometry/sample.h.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "device/geometry/sample.h"
#include "ops/arguments/planes.h"
#include "ops/geometry/sample/linear_bytes.h"

namespace ps {

// Calls f(tag) for the types that pixels may have.
template <class F> decltype(auto) visit_sampled(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::u16: return f(std::type_identity<uint16_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(t) + ": expected UINT8, UINT16, INT16 or FLOAT");
  }
}

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
    visit_sampled(c.in(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      switch (taps_) {
        case device::kSampleNearest: return run_planes<T, device::kSampleNearest>(c);
        case device::kSampleLinear: return run_planes<T, device::kSampleLinear>(c);
        case device::kSampleCubic: return run_planes<T, device::kSampleCubic>(c);
        default: return run_planes<T, device::kSampleLanczos>(c);
      }
    });
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
  // Columns that are done row after row: what slanting rows of them read stays in the first cache.
  static constexpr int64_t kColumns = 64;

  device::SampleFields fields_of(const Context& c, const Planes& p, const Planes& q) const {
    const bool empty = p.elements() == 0;            // then the border is all there is
    return {c.in(0).data, c.out(0).data, nullptr, empty ? int32_t(device::kLeftOut) : border_, int32_t(p.height),
            int32_t(p.width), int32_t(p.channels), device::Divisor(uint64_t(q.channels)),
            device::Divisor(uint64_t(q.width)), device::Divisor(uint64_t(q.height)),
            device::Divisor(uint64_t(q.per_frame))};
  }

  template <class T, int kTaps> void run_planes(const Context& c) const {
    switch (planes_of(c.out(0)).channels) {
      case 1: return run_channels<T, kTaps, 1>(c);
      case 3: return run_channels<T, kTaps, 3>(c);
      default: return run_channels<T, kTaps, 0>(c);
    }
  }

  // C: the number of channels, or 0 for any.
  template <class T, int kTaps, int C> void run_channels(const Context& c) const {
    const Planes p = planes_of(c.in(0)), q = planes_of(c.out(0));
    const std::vector<float> fill = fills(c, p);
    const device::SampleFields f = fields_of(c, p, q);
    const int channels = C ? C : int(q.channels);
    std::vector<float> kept;
    const Map where = map(c, q, kept);
    device::Position<2> positions[kColumns];
    const auto pieces = [&](auto&& piece) {
      for (int64_t k = 0; k < q.count; k++) {
        const T* from = c.in(0).as<T>() + k * p.elements();
        T* to = c.out(0).as<T>() + k * q.elements();
        const float* beyond = fill.data() + k % q.per_frame * q.channels;
        for (int64_t x = 0; x < q.width; x += kColumns) {
          const int64_t n = std::min(kColumns, q.width - x);
          for (int64_t y = 0; y < q.height; y++) {
            find_positions(where, k / q.per_frame, int(x), int(y), int(n), positions);
            piece(from, n, beyond, to + (y * q.width + x) * q.channels);
          }
        }
      }
    };
    if constexpr (kTaps == 2 && C > 0 && std::is_same_v<T, uint8_t>)
      if (LinearBytes<C>::fits(f)) {
        LinearBytes<C> linear(f, kColumns);
        return pieces([&](const uint8_t* from, int64_t n, const float* beyond, uint8_t* to) {
          linear.run(from, positions, n, beyond, to);
        });
      }
    pieces([&](const T* from, int64_t n, const float* beyond, T* to) {
      for (int64_t i = 0; i < n; i++)
        device::sample<T, kTaps>(f, from, positions[i], beyond, channels, to + i * channels);
    });
  }

  int32_t taps_, border_;
  const char *map_name_, *header_;
};

}  // namespace ps
