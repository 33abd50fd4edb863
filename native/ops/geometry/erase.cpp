// Boxes of a tensor overwritten with a colour.

#include "device/geometry/erase.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "cuda/record/picture.h"
#include "ops/arguments/picture_layout.h"
#include "ops/arguments/region.h"
#include "ops/gather/gpu.h"
#include "ops/geometry/erase/boxes.h"

namespace ps {
namespace misfit {
inline constexpr Misfit part_of_pixel = "a box has some of the channels, or some of the frames";
}

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

  Misfit rows_misfit(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.ndim != 3) return misfit::no_picture;
    if (in.shape.volume() == 0) return misfit::no_pixels;
    if (fills(c).size() > size_of(in.dtype) && channel_axis(c) != 2) return "the channels are not the last axis";
    const auto all = boxes_.find(c);
    const auto whole = [&](const Region& b) { return b.shape[2] == in.shape[2]; };
    return std::all_of(all.begin(), all.end(), whole) ? fits : misfit::part_of_pixel;
  }
  RowStage* begin(const Context& c) const override {
    EraseRows& stage = c.st<ThreadState>().stage;
    stage.in = stage.out = format(c.in(0));
    stage.begin(boxes_.find(c), fills(c));
    return &stage;
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  Misfit stage_misfit(const Context& c) const override {
    const Tensor& in = c.in(0);
    const auto p = gpu::pictures_of(in);
    const auto boxes = boxes_.find(c);
    if (!p) return misfit::no_pictures;
    if (boxes.size() > device::kErasedBoxes) return "there are many boxes";
    if (fills(c).size() > size_of(in.dtype) && p->channels > device::kErasedChannels)
      return "many channels are filled with values of their own";
    const bool whole = std::all_of(boxes.begin(), boxes.end(), [&](const Region& b) {
      for (int i = 0; i < in.shape.ndim; i++)
        if (i != p->x_axis && i != p->y_axis && b.shape[i] != in.shape[i]) return false;
      return true;
    });
    return whole ? fits : misfit::part_of_pixel;
  }
  Functor stage(const Context& c) const override {
    return PS_FUNCTOR_TEMPLATE(EraseStage, "geometry/erase.h", uint8_t).of(gpu::cpp_type(c.out(0).dtype));
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
    r.elements(PS_FUNCTOR_TEMPLATE(EraseBoxes, "geometry/erase.h", uint8_t).of(gpu::cpp_type(r[0].out(0).dtype)),
               [&](const Context& c, void* to) { return fill_job(r, c, *static_cast<Fields*>(to)); });
  }

 private:
  struct ThreadState : State {
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

