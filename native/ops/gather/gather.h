// A tensor made of another one's elements: each axis says which index of the input stands where. Crops, flips, steps,
// transpositions and borders are all of this kind; what happens to an element is the caller's.
#pragma once

#include <algorithm>
#include <utility>

#include "core/tensor.h"
#include "ops/arguments/border.h"

namespace ps {

struct GatherAxis {
  int64_t size = 0;               // of the output
  int64_t first = 0, step = 1;    // index i of the output is index first + i * step of the input
  int64_t extent = 0;             // of the input
  int64_t stride = 0;             // bytes from one element of the input to the next
  bool channels = false;          // the index on this axis is passed to bodies
  bool whole() const { return first == 0 && step == 1 && size == extent; }
};

class Gather {
 public:
  explicit Gather(Border border) : border_(border) {}
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  // In the order of the output.
  void add(const GatherAxis& axis) { *end_++ = axis; }

  // All axes of a region of a tensor; -1: none has channels.
  void add_region(const Tensor& t, const Region& r, int channel_axis) {
    auto stride = int64_t(size_of(t.dtype));
    for (int i = t.shape.ndim; i-- > 0; stride *= t.shape[i])
      axes_[i] = {r.shape[i], r.anchor[i], 1, t.shape[i], stride, i == channel_axis};
    end_ = axes_ + t.shape.ndim;
  }

  // Axes at the end that are taken whole move together: they become one block (a small one, so that it can be kept in
  // store for filling), whose bytes this returns; the body then gets blocks instead of elements.
  int64_t take_block(size_t element) {
    auto block = int64_t(element);
    for (; end_ > axes_ && end_[-1].whole() && end_[-1].stride == block && block * end_[-1].size <= 4096; end_--)
      block *= end_[-1].size;
    return block;
  }
  // If neighbours are taken along the axis that is then the last one, they make the block longer. Returns how many
  // bytes behind the input's first one they begin. Only where all of the output lies inside the input.
  int64_t take_neighbours(int64_t& block) {
    if (end_ == axes_ || end_[-1].step != 1 || end_[-1].stride != block) return 0;
    const GatherAxis& axis = *--end_;
    block *= axis.size;
    return axis.first * axis.stride;
  }
  int ndim() const { return int(end_ - axes_); }
  const GatherAxis* begin() const { return axes_; }
  const GatherAxis* end() const { return end_; }

  // Calls, from the first element of the output to the last,
  //   body.copy(from, stride, n, channel, channel_step): n elements, `stride` bytes apart, and
  //   body.fill(n, channel, channel_step): n elements that the input does not have.
  template <class Body> void run(const void* in, Body&& body) const {
    for (const GatherAxis* a = axes_; a != end_; a++)
      if (a->size <= 0) return;
    walk(axes_, static_cast<const uint8_t*>(in), 0, body);
  }

 private:
  template <class Body> void walk(const GatherAxis* a, const uint8_t* in, int64_t channel, Body& body) const {
    if (a == end_) return body.copy(in, 0, 1, channel, 0);
    if (a + 1 == end_) return run_of(*a, in, channel, body);
    for (int64_t i = 0; i < a->size; i++) {
      const int64_t at = border_index(border_, a->first + i * a->step, a->extent);
      const int64_t c = a->channels ? i : channel;
      if (at >= 0) walk(a + 1, in + at * a->stride, c, body);
      else fill(a + 1, c, body);
    }
  }

  template <class Body> void run_of(const GatherAxis& a, const uint8_t* in, int64_t channel, Body& body) const {
    const auto [begin, end] = inside(a);
    const auto outside = [&](int64_t from, int64_t to) {
      if (border_ <= Border::constant) {
        if (from < to) body.fill(to - from, a.channels ? from : channel, a.channels);
        return;
      }
      for (int64_t i = from; i < to; i++) {
        const int64_t at = border_index(border_, a.first + i * a.step, a.extent);
        body.copy(in + at * a.stride, 0, 1, a.channels ? i : channel, 0);
      }
    };
    outside(0, begin);
    if (begin < end)
      body.copy(in + (a.first + begin * a.step) * a.stride, a.step * a.stride, end - begin,
                a.channels ? begin : channel, a.channels);
    outside(end, a.size);
  }

  template <class Body> void fill(const GatherAxis* a, int64_t channel, Body& body) const {
    if (a + 1 == end_) return body.fill(a->size, a->channels ? 0 : channel, a->channels);
    for (int64_t i = 0; i < a->size; i++) fill(a + 1, a->channels ? i : channel, body);
  }

  // The indices of the output whose elements the input has; they are neighbours.
  static std::pair<int64_t, int64_t> inside(const GatherAxis& a) {
    const auto quotient_up = [](int64_t n, int64_t d) { return n <= 0 ? int64_t(0) : (n + d - 1) / d; };
    const int64_t step = a.step < 0 ? -a.step : a.step;
    const int64_t near = a.step < 0 ? a.extent - 1 - a.first : a.first;   // as if the step were positive
    const int64_t begin = std::min(quotient_up(-near, step), a.size);
    return {begin, std::clamp(quotient_up(a.extent - near, step), begin, a.size)};
  }

  Border border_;
  GatherAxis axes_[kMaxDims];
  GatherAxis* end_ = axes_;
};

}  // namespace ps
