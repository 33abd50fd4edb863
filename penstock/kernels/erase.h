// Boxes of a tensor overwritten with a colour.
#pragma once

#include "kernels/device/divisor.h"
#include "kernels/device/elements.h"
#include "kernels/device/picture.h"

namespace ps::device {

inline constexpr int kErasedBoxes = 4, kErasedChannels = 4;        // at most, in a stage

template <class T> struct EraseStage {
  int32_t count;
  Rect boxes[kErasedBoxes];
  alignas(8) unsigned char fills[kErasedChannels * 8];             // of type T
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const {
    auto pixel = up.at(x, y, c);
    bool inside = false;
    PS_UNROLL
    for (int i = 0; i < kErasedBoxes; i++) {
      const Rect& b = boxes[i];
      inside = inside || (i < count && x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1);
    }
    if (inside) {
      PS_UNROLL
      for (int k = 0; k < Up::kChannels; k++)
        pixel[k] = reinterpret_cast<const T*>(fills)[min(c + k, kErasedChannels - 1)];
    }
    return pixel;
  }
};

// Any number of boxes along any axes; all of the output was the input before. `begin` and `extent` have `axes` numbers
// for each box. Element i is one of the boxes', which lie one behind the other.
struct EraseFields {
  void* out;
  const int64_t *begin, *extent, *first;             // first[b]: the first element of box b
  const int64_t* stride;                             // of the output's axes
  const void* fills;                                 // one for each channel
  int32_t boxes, axes, channel_axis;                 // -1: all are channel 0
};
template <class T> struct EraseBoxes : EraseFields {
  PS_FN void element(int64_t i) const {
    int b = 0;
    while (b + 1 < boxes && first[b + 1] <= i) b++;
    int64_t rest = i - first[b], at = 0, channel = 0;
    PS_LOOP
    for (int k = axes - 1; k >= 0; k--) {
      const int64_t extents = extent[b * axes + k], above = rest / extents;
      const int64_t index = begin[b * axes + k] + (rest - above * extents);
      rest = above;
      if (k == channel_axis) channel = index;
      at += index * stride[k];
    }
    static_cast<T*>(out)[at] = static_cast<const T*>(fills)[channel];
  }
};

}  // namespace ps::device

#if PS_HOST

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/operator.h"
#include "core/picture_layout.h"
#include "core/region.h"
#include "gpu/gather.h"
#include "gpu/operator.h"
#include "gpu/picture.h"
#include "kernels/erase_boxes.h"

namespace ps {

class Erase : public RowOperator, public StageOperator {
 public:
  explicit Erase(const Spec& s) : boxes_(s), fill_(s.arg<float>("fill_value")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    visit(in.dtype, [](auto) {});                    // numbers, whichever
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
    fills(c);
    boxes_.find(c);
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (!in.bytes()) return;
    std::memcpy(out.data, in.data, in.bytes());
    for (const Region& box : boxes_.find(c)) fill_box(out, box, fills(c), channel_axis(c));
  }

  bool fits_rows(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.ndim != 3 || in.shape.volume() == 0) return false;
    if (fills(c).size() > size_of(in.dtype) && channel_axis(c) != 2) return false;
    const auto all = boxes_.find(c);
    return std::all_of(all.begin(), all.end(), [&](const Region& b) { return b.shape[2] == in.shape[2]; });
  }
  RowStage* begin(const Context& c) const override {
    EraseRows& stage = c.st<Worker>().stage;
    stage.in = stage.out = format(c.in(0));
    stage.begin(boxes_.find(c), fills(c));
    return &stage;
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<Worker>(); }

  bool fits_stage(const Context& c) const override {
    const Tensor& in = c.in(0);
    const auto p = gpu::pictures_of(in);
    const auto boxes = boxes_.find(c);
    if (!p || boxes.size() > device::kErasedBoxes) return false;
    if (fills(c).size() > size_of(in.dtype) && p->channels > device::kErasedChannels) return false;
    return std::all_of(boxes.begin(), boxes.end(), [&](const Region& b) {
      for (int i = 0; i < in.shape.ndim; i++)
        if (i != p->x_axis && i != p->y_axis && b.shape[i] != in.shape[i]) return false;
      return true;
    });
  }
  Functor stage(const Context& c) const override {
    using Stage = device::EraseStage<uint8_t>;
    return {"ps::device::EraseStage<" + gpu::cpp_type(c.out(0).dtype) + ">", "kernels/erase.h", sizeof(Stage),
            alignof(Stage)};
  }
  void fill_stage(const Context& c, void* functor) const override {
    auto& stage = *static_cast<device::EraseStage<uint8_t>*>(functor);
    const auto p = gpu::pictures_of(c.in(0));
    const auto boxes = boxes_.find(c);
    stage = {};
    for (const Region& b : boxes)
      stage.boxes[stage.count++] = {int32_t(b.anchor[p->x_axis]), int32_t(b.anchor[p->y_axis]),
                                    int32_t(b.anchor[p->x_axis] + b.shape[p->x_axis]),
                                    int32_t(b.anchor[p->y_axis] + b.shape[p->y_axis])};
    const std::vector<uint8_t> fill = fills(c);
    const size_t element = size_of(c.in(0).dtype);
    for (size_t k = 0; k < device::kErasedChannels; k++)
      std::memcpy(stage.fills + k * element, fill.data() + std::min(k * element, fill.size() - element), element);
  }
  bool one_to_one() const override { return true; }

  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    for (int i = 0; i < r.size(); i++) r.copy(r[i].out(0).data, r[i].in(0).data, r[i].in(0).bytes());
    using Fields = device::EraseFields;
    r.elements({"ps::device::EraseBoxes<" + gpu::cpp_type(r[0].out(0).dtype) + ">", "kernels/erase.h", sizeof(Fields),
                alignof(Fields)},
               [&](const Context& c, void* to) { return fill_job(r, c, *static_cast<Fields*>(to)); });
  }

 private:
  struct Worker : State {
    EraseRows stage;
  };

  // Only where there are several fills does the axis matter.
  static int channel_axis(const Context& c) { return c.in(0).layout.find('C'); }

  // One element of the output, or one for each channel.
  std::vector<uint8_t> fills(const Context& c) const {
    const Tensor& in = c.in(0);
    std::vector<double> numbers;
    for (int64_t i = 0; i < fill_.size(c); i++) numbers.push_back(double(fill_.get(c, i)));
    if (numbers.empty()) fail(ErrorKind::argument, "fill_value has no values");
    if (numbers.size() > 1) {
      const int axis = channel_axis(c);
      if (axis < 0)
        fail(ErrorKind::layout, "fill_value has " + std::to_string(numbers.size()) + " values, but the layout '" +
                                    in.layout.axes + "' has no channels");
      if (int64_t(numbers.size()) != in.shape[axis])
        fail(ErrorKind::argument, "fill_value has " + std::to_string(numbers.size()) + " values for " +
                                      std::to_string(in.shape[axis]) + " channels");
    }
    return cast_numbers(numbers, in.dtype);
  }

  int64_t fill_job(gpu::Recorder& r, const Context& c, device::EraseFields& f) const {
    const Shape& shape = c.in(0).shape;
    const auto boxes = boxes_.find(c);
    const auto axes = size_t(shape.ndim);
    std::vector<int64_t> numbers;                    // begin, extent, stride, first
    for (const Region& b : boxes) numbers.insert(numbers.end(), b.anchor.dims, b.anchor.dims + axes);
    for (const Region& b : boxes) numbers.insert(numbers.end(), b.shape.dims, b.shape.dims + axes);
    int64_t total = 0;
    for (const Region& b : boxes) numbers.push_back(std::exchange(total, total + b.shape.volume()));
    for (size_t k = 0; k < axes; k++) {
      int64_t stride = 1;
      for (size_t i = k + 1; i < axes; i++) stride *= shape.dims[i];
      numbers.push_back(stride);
    }
    if (!total) return 0;
    const auto* there = static_cast<const int64_t*>(r.constant(numbers.data(), numbers.size() * sizeof(int64_t)));
    const std::vector<uint8_t> fill = fills(c);
    const size_t count = boxes.size();
    f.out = c.out(0).data;
    f.begin = there;
    f.extent = there + count * axes;
    f.first = there + 2 * count * axes;
    f.stride = f.first + count;
    f.fills = r.constant(fill.data(), fill.size());
    f.boxes = int32_t(count);
    f.axes = int32_t(axes);
    f.channel_axis = fill.size() > size_of(c.in(0).dtype) ? channel_axis(c) : -1;
    return total;
  }

  EraseBoxes boxes_;
  Arg<float> fill_;
};

PS_OPERATOR("erase", Erase)

}  // namespace ps

#endif  // PS_HOST
