// What cat and stack have in common: the inputs' blocks one behind the other, over and over.
#pragma once

#include <string>
#include <vector>

#include "cuda/record/operator.h"
#include "ops/tensor/copy_blocks.h"

namespace ps {

class Join : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{1, kMany};
  explicit Join(const Spec& s) : axis_(s.integer("axis")), name_(s.string("axis_name")) {}

  void setup(const Context& c) const final {
    const Tensor& first = c.in(0);
    for (int i = 1; i < c.num_inputs; i++)
      if (c.in(i).dtype != first.dtype || c.in(i).shape.ndim != first.shape.ndim)
        fail(ErrorKind::type, described(c, i) + ", but " + described(c, 0) +
                                  "; expected the same type and number of axes");
    c.out(0).dtype = first.dtype;
    c.param<int64_t>() = join(c, c.out(0));
  }

  void run(const Context& c) const override {
    std::vector<BlockCopy> copies;
    add_copies(c, copies);
    copy_in_turns(copies);
  }

  void record(gpu::Recorder& r) const override {
    std::vector<BlockCopy> copies;
    for (int i = 0; i < r.size(); i++) add_copies(r[i], copies);
    gpu::record_copies(r, copies);
  }

  size_t params_size() const override { return sizeof(int64_t); }

 protected:
  // Writes the output's shape and layout, and returns the axis along which the inputs are joined.
  virtual int64_t join(const Context& c, Tensor& out) const = 0;

  // Which of so many axes.
  int64_t counted(int64_t axes) const {
    if (axis_ < -axes || axis_ >= axes)
      fail(ErrorKind::axis, "axis=" + std::to_string(axis_) + ": expected one of " + std::to_string(axes) +
                                " axes, from " + std::to_string(-axes) + " to " + std::to_string(axes - 1));
    return axis_ < 0 ? axis_ + axes : axis_;
  }

  // The first of the inputs' layouts that there is.
  static Layout layout(const Context& c) {
    for (int i = 0; i < c.num_inputs; i++)
      if (!c.in(i).layout.empty()) return c.in(i).layout;
    return {};
  }

  static std::string described(const Context& c, int i) {
    return "input " + std::to_string(i) + " is " + name_of(c.in(i).dtype) + " of shape " + to_string(c.in(i).shape);
  }

  int64_t axis_;
  std::string name_;

 private:
  static void add_copies(const Context& c, std::vector<BlockCopy>& copies) {
    const Tensor& out = c.out(0);
    const auto axis = int(c.param<int64_t>());
    if (out.shape.volume() == 0) return;
    int64_t count = 1;
    for (int i = 0; i < axis; i++) count *= out.shape[i];
    const int64_t pitch = int64_t(out.bytes()) / count;
    auto* to = out.as<uint8_t>();
    for (int i = 0; i < c.num_inputs; i++) {
      const Tensor& in = c.in(i);
      const int64_t block = int64_t(in.bytes()) / count;
      if (!block) continue;
      copies.push_back({in.as<uint8_t>(), to, block, pitch, count});
      to += block;
    }
  }
};

}  // namespace ps
