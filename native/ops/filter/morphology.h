// Dilation and erosion: the largest or the smallest of the pixels that a mask covers, one axis after the other.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "device/filter/morphology.h"
#include "ops/arguments/frames.h"
#include "ops/arguments/planes.h"

namespace ps {

// Calls f(tag) for the types that pixels may have.
template <class F> decltype(auto) visit_morphology(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::u16: return f(std::type_identity<uint16_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(t) + ": expected UINT8, UINT16, INT16 or FLOAT");
  }
}

template <bool kLargest> class MorphologyOperator : public Operator, public GpuOperator {
 public:
  explicit MorphologyOperator(const Spec& s)
      : mask_(s, "mask_size"), anchor_(s, "anchor"), iterations_(s.integer("iterations")) {
    const std::string border = s.string("border_mode");
    border_ = border == "replicate" ? device::kReplicated : border == "reflect" ? device::kReflected1001
              : border == "reflect_101" ? device::kReflected101 : border == "wrap" ? device::kWrapped
                                                                                    : device::kLeftOut;
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    visit_morphology(in.dtype, [](auto) {});
    const Planes p = planes_of(in);
    c.out(0).dtype = in.dtype;
    c.out(0).shape = in.shape;
    c.out(0).layout = p.layout;
    mask_.expect_frames(c, p.frames);
    anchor_.expect_frames(c, p.frames);
    masks(c, p, 0);
    masks(c, p, 1);
  }

  void run(const Context& c) const override {
    visit_morphology(c.in(0).dtype, [&](auto tag) { run_planes<typename decltype(tag)::type>(c); });
  }

  void record(gpu::Recorder& r) const override {
    const std::string type = gpu::cpp_type(r[0].in(0).dtype) + (kLargest ? ", true" : ", false");
    const int64_t passes = 2 * iterations_;
    if (!passes)
      for (int i = 0; i < r.size(); i++) r.copy(r[i].out(0).data, r[i].in(0).data, r[i].in(0).bytes());
    std::vector<void*> scratch[2];                   // by turns
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < r.size(); i++)
        scratch[k].push_back(passes > k + 1 ? r.scratch(r[i].in(0).bytes()) : nullptr);
    for (int64_t pass = 0; pass < passes; pass++)
      r.elements(PS_FUNCTOR_TEMPLATE(Morphology, "filter/morphology.h", uint8_t, true).of(type),
                 [&](const Context& c, void* to) {
                   const Planes p = planes_of(c.in(0));
                   const int64_t all = c.in(0).shape.volume();
                   if (!all) return all;
                   const bool along_y = pass % 2 == 0;
                   const std::vector<int32_t> mask = masks(c, p, along_y ? 0 : 1);
                   const auto at = size_t(c.index);
                   *static_cast<device::MorphologyFields*>(to) = {
                       pass ? scratch[(pass - 1) % 2][at] : c.in(0).data,
                       pass + 1 < passes ? scratch[pass % 2][at] : c.out(0).data,
                       static_cast<const int32_t*>(r.constant(mask.data(), mask.size() * sizeof(int32_t))), border_,
                       device::Divisor(uint64_t(along_y ? p.width * p.channels : p.channels)),
                       device::Divisor(uint64_t(along_y ? p.height : p.width)),
                       device::Divisor(uint64_t(all / std::max<int64_t>(int64_t(mask.size()) / 2, 1)))};
                   return all;
                 });
  }

 private:
  static constexpr int64_t kLongest = 1 << 20;

  // Anchor and size of the mask along an axis: of each frame, or once.
  std::vector<int32_t> masks(const Context& c, const Planes& p, int axis) const {
    const bool each = mask_.frames(c) >= 0 || anchor_.frames(c) >= 0;
    std::vector<int32_t> found;
    for (int64_t f = 0; f < (each ? p.frames : 1); f++) {
      float sizes[2], anchors[2];                    // of width and height, as DALI has it
      mask_.list(c, f, 2, sizes);
      anchor_.list(c, f, 2, anchors);
      const float size = sizes[1 - axis], anchor = anchors[1 - axis];
      if (!(size >= 1 && size <= float(kLongest)))
        fail(ErrorKind::argument, "mask_size is " + std::to_string(int64_t(size)) + ": expected 1 to " +
                                      std::to_string(kLongest));
      if (anchor != -1 && !(anchor >= 0 && anchor < size))
        fail(ErrorKind::argument, "anchor is " + std::to_string(int64_t(anchor)) + ": expected -1, or 0 to " +
                                      std::to_string(int64_t(size) - 1));
      found.push_back(anchor == -1 ? int32_t(size) / 2 : int32_t(anchor));
      found.push_back(int32_t(size));
    }
    return found;
  }

  template <class T> static T better(T a, T b) { return kLargest ? (a < b ? b : a) : (b < a ? b : a); }
  template <class T> static void take(const T* __restrict from, T* __restrict to, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = better(to[i], from[i]);
  }

  template <class T> void run_planes(const Context& c) const {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Planes p = planes_of(in);
    const int64_t n = p.elements();
    if (!in.bytes()) return;
    const std::vector<int32_t> down = masks(c, p, 0), along = masks(c, p, 1);
    const bool each = down.size() > 2;
    auto* between = iterations_ > 1 ? static_cast<T*>(c.scratch->take(size_t(n) * sizeof(T))) : nullptr;
    for (int64_t k = 0; k < p.count; k++) {
      const int32_t* y = down.data() + (each ? 2 * (k / p.per_frame) : 0);
      const int32_t* x = along.data() + (each ? 2 * (k / p.per_frame) : 0);
      const T* from = in.as<T>() + k * n;
      T* to = out.as<T>() + k * n;
      if (!iterations_) std::memcpy(to, from, size_t(n) * sizeof(T));
      for (int64_t i = 0; i < iterations_; i++) {
        if (i) {
          std::memcpy(between, to, size_t(n) * sizeof(T));
          from = between;
        }
        run_plane(p, y, x, from, to);
      }
    }
  }

  // Rows of the mask's height, then along them.
  template <class T>
  void run_plane(const Planes& p, const int32_t* down, const int32_t* along, const T* from, T* to) const {
    const int64_t n = p.width * p.channels, left = along[0], places = p.width + along[1] - 1;
    std::vector<T> padded(size_t(places * p.channels));
    T* row = padded.data() + left * p.channels;
    for (int64_t y = 0; y < p.height; y++, to += n) {
      std::memcpy(row, from + y * n, size_t(n) * sizeof(T));     // the mask covers the pixel itself
      for (int32_t k = 0; k < down[1]; k++) {
        const int64_t place = device::border_place(border_, y + k - down[0], p.height);
        if (place >= 0 && k != down[0]) take(from + place * n, row, n);
      }
      for (int64_t i = -left; i < places - left; i++) {
        if (i == 0) i = p.width;
        if (i >= places - left) break;
        const int64_t place = device::border_place(border_, i, p.width);
        // What is left out changes nothing where it is as bad as can be.
        if (place < 0) std::fill_n(row + i * p.channels, p.channels, worst<T>());
        else std::copy_n(row + place * p.channels, p.channels, row + i * p.channels);
      }
      std::memcpy(to, padded.data(), size_t(n) * sizeof(T));
      for (int64_t k = 1; k < along[1]; k++) take(padded.data() + k * p.channels, to, n);
    }
  }
  template <class T> static T worst() {
    using L = std::numeric_limits<T>;
    if constexpr (L::has_infinity) return kLargest ? -L::infinity() : L::infinity();
    else return kLargest ? L::lowest() : L::max();
  }

  FrameArg mask_, anchor_;
  int64_t iterations_;
  int32_t border_;
};

}  // namespace ps
