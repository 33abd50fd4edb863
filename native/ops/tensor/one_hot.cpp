// Class indices to one-hot vectors.

#include "device/tensor/one_hot.h"

#include <cstring>
#include <string>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/fill_numbers.h"

namespace ps {

class OneHot : public Operator, public GpuOperator {
 public:
  explicit OneHot(const Spec& s)
      : axis_(s.find("axis") ? s.integer("axis") : -1), any_axis_(!s.find("axis")), classes_(s.integer("num_classes")),
        dtype_(s.dtype("dtype")), name_(s.string("axis_name")),
        values_(cast_numbers({s.number("on_value"), s.number("off_value")}, dtype_)) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    visit(in.dtype, [](auto) {});                    // numbers, whichever
    const int ndim = is_number(c) ? 0 : in.shape.ndim;
    if (axis_ < -1 || axis_ > ndim)
      fail(ErrorKind::axis, "axis is " + std::to_string(axis_) + ": expected -1 to " + std::to_string(ndim));
    if (ndim == kMaxDims) fail(ErrorKind::argument, "the input has as many axes as tensors may have");
    const int axis = c.param<Axis>().axis = axis_ < 0 ? ndim : int(axis_);
    out.dtype = dtype_;
    out.shape = {};
    for (int i = 0; i < axis; i++) out.shape.push(in.shape[i]);
    out.shape.push(classes_);
    for (int i = axis; i < ndim; i++) out.shape.push(in.shape[i]);
    std::string layout;
    if (!name_.empty()) {
      layout = ndim ? in.layout.axes : "";
      if (int(layout.size()) != ndim)
        fail(ErrorKind::layout, "axis_name is given, but the input has no layout");
      layout.insert(size_t(axis), name_);
    }
    out.layout = Layout(layout);
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const int64_t elements = in.shape.volume(), inner = this->inner(c);
    if (out.shape.volume() == 0) return;
    visit(in.dtype, [&](auto from) {
      using In = typename decltype(from)::type;
      visit_size(size_of(dtype_), [&](auto to) {
        using Out = typename decltype(to)::type;
        Out values[2];
        std::memcpy(values, values_.data(), sizeof values);
        const In* classes = in.as<In>();
        Out* result = out.as<Out>();
        std::fill(result, result + out.shape.volume(), values[1]);
        for (int64_t o = 0; o < elements / inner; o++, result += classes_ * inner)
          for (int64_t i = 0; i < inner; i++) {
            const int64_t number = device::class_of(*classes++);
            if (uint64_t(number) < uint64_t(classes_)) result[number * inner + i] = values[0];
          }
      });
    });
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Fields = device::OneHotFields;
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + gpu::cpp_type(dtype_);
    r.elements(PS_FUNCTOR_TEMPLATE(OneHot, "tensor/one_hot.h", uint8_t, uint8_t).of(types),
               [&](const Context& c, void* to) {
                 const int64_t count = c.out(0).shape.volume();
                 if (!count) return count;
                 Fields& f = *static_cast<Fields*>(to);
                 f.in = c.in(0).data;
                 f.out = c.out(0).data;
                 f.inner = device::Divisor(uint64_t(inner(c)));
                 f.classes = device::Divisor(uint64_t(classes_));
                 const size_t bytes = size_of(dtype_);
                 std::memcpy(f.on, values_.data(), bytes);
                 std::memcpy(f.off, values_.data() + bytes, bytes);
                 return count;
               });
  }

  size_t params_size() const override { return sizeof(Axis); }

 private:
  struct Axis {
    int axis;
  };

  // Where no axis is asked for, a batch of single elements is one of numbers, however many axes they have.
  bool is_number(const Context& c) const {
    if (c.in(0).shape.ndim == 0) return true;
    if (!any_axis_) return false;
    for (int i = 0; i < c.batch; i++)
      if (c.in(0, i).shape.volume() != 1) return false;
    return true;
  }

  int64_t inner(const Context& c) const {
    const Shape& s = c.out(0).shape;
    int64_t volume = 1;
    for (int i = c.param<Axis>().axis + 1; i < s.ndim; i++) volume *= s[i];
    return volume;
  }

  int64_t axis_;
  bool any_axis_;
  int64_t classes_;
  DType dtype_;
  std::string name_;
  std::vector<uint8_t> values_;                      // on, off
};

PS_OPERATOR("one_hot", OneHot)

}  // namespace ps

