// Pictures on a larger canvas.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/gather/canvas.h"

namespace ps {

class Paste : public Operator, public GpuOperator {
 public:
  explicit Paste(const Spec& s)
      : ratio_(s.arg<float>("ratio")), x_(s.arg<float>("paste_x")), y_(s.arg<float>("paste_y")),
        least_(s.arg<float>("min_canvas_size")), fill_(s.get("fill_value").numbers) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    if (in.shape.ndim != 3 || !(in.layout.empty() || in.layout == Layout("HWC")))
      fail(ErrorKind::layout, std::string("expected pictures of layout HWC, got '") + in.layout.axes +
                                  "' and the shape " + to_string(in.shape));
    if (int64_t(fill_.size()) != in.shape[2] && !uniform())
      fail(ErrorKind::argument, "fill_value has " + std::to_string(fill_.size()) + " values for " +
                                    std::to_string(in.shape[2]) + " channels");
    const float ratio = ratio_.get(c), least = std::trunc(least_.get(c));
    if (!(ratio >= 1)) fail(ErrorKind::argument, "ratio is " + std::to_string(ratio) + ": expected at least 1");
    if (!(least >= 0))
      fail(ErrorKind::argument, "min_canvas_size is " + std::to_string(least) + ": expected 0 or more");
    out.dtype = in.dtype;
    out.layout = "HWC";
    out.shape = in.shape;
    Region& r = c.param<Region>() = Region::whole(in.shape);
    place(ratio, least, share(c, y_, "paste_y"), r, 0);
    place(ratio, least, share(c, x_, "paste_x"), r, 1);
    out.shape = r.shape;
  }

  void run(const Context& c) const override { draw_canvas(c.in(0), c.out(0), c.param<Region>(), fills(c.in(0))); }

  void record(gpu::Recorder& r) const override {
    std::vector<uint8_t> all;
    size_t most = 1;
    if (!uniform()) most = fill_.size();
    for (int i = 0; i < r.size(); i++)
      for (size_t k = 0; k < most; k++) all.push_back(cast_number<uint8_t>(fill_[k]));
    record_canvas(r, all, int(most), [](const Context& c) -> const Region& { return c.param<Region>(); });
  }

  size_t params_size() const override { return sizeof(Region); }

 private:
  bool uniform() const {
    return std::all_of(fill_.begin(), fill_.end(), [&](double v) { return v == fill_[0]; });
  }
  std::vector<uint8_t> fills(const Tensor& in) const {
    return cast_numbers(uniform() ? std::vector<double>(size_t(in.shape[2]), fill_[0]) : fill_, DType::u8);
  }

  static float share(const Context& c, const Arg<float>& a, const char* name) {
    const float v = a.get(c);
    if (!(v >= 0 && v <= 1))
      fail(ErrorKind::argument, std::string(name) + " is " + std::to_string(v) + ": expected 0 to 1");
    return v;
  }

  static void place(float ratio, float least, float share, Region& r, int axis) {
    constexpr float kMost = 0x1p30f;
    const int64_t extent = r.shape[axis];
    const float scaled = std::max(ratio * float(extent), least);
    if (!(scaled < kMost))
      fail(ErrorKind::argument, "ratio is " + std::to_string(ratio) + " and min_canvas_size " + std::to_string(least) +
                                    ": a canvas that large cannot be");
    r.shape[axis] = std::max(int64_t(scaled), extent);   // floats above 2^24 may fall short of it
    r.anchor[axis] = -int64_t(share * float(r.shape[axis] - extent));
  }

  Arg<float> ratio_, x_, y_, least_;
  std::vector<double> fill_;
};

PS_OPERATOR("paste", Paste)

}  // namespace ps
