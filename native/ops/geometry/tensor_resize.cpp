// Resizes tensors along any axes.
#include "ops/arguments/axes.h"
#include "ops/geometry/resize/operator.h"

namespace ps {

// As the arguments of tensor_resize say.
class TensorSize : public ResampleExtents {
 public:
  explicit TensorSize(const Spec& s)
      : ResampleExtents(s), sizes_(s.arg<float>("sizes")), scales_(s.arg<float>("scales")),
        alignment_(s.arg<float>("alignment")) {
    const std::string rounding = s.string("size_rounding");
    rounding_ = rounding == "truncate" ? SizeRounding::down : rounding == "ceil" ? SizeRounding::up
                                                                                : SizeRounding::nearest;
  }

  // Completes n axes, whose `in` is set. Those that are not named count as ones that are to stay as they are.
  void find(const Context& c, const int* named, int count, int n, ResampleRegion* axes) const {
    float size[kMaxDims], alignment[kMaxDims];
    const bool scaled = scales_.given();
    const char* name = scaled ? "scales" : "sizes";
    for (int i = 0; i < n; i++) size[i] = scaled ? 1 : float(axes[i].in), alignment[i] = 0;
    list(c, scaled ? scales_ : sizes_, name, {named, count}, size);
    for (int i = 0; i < n; i++) {
      if (scaled) size[i] *= float(axes[i].in);
      check_size(size[i], name);
    }
    if (alignment_.given()) list(c, alignment_, "alignment", {named, count}, alignment);    // 0 for others, as in DALI
    complete(c, {named, count}, n, size, axes, alignment_.given() ? alignment : nullptr, rounding_);
  }

 private:
  Arg<float> sizes_, scales_, alignment_;
  SizeRounding rounding_;
};

class TensorResize : public ResampleOperator {
 public:
  explicit TensorResize(const Spec& s) : ResampleOperator(s), size_(s), axes_(s) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    const int ndim = in.shape.ndim;
    if (ndim == 0) fail(ErrorKind::argument, "a number has no axis that could be resized");
    int named[kMaxDims];
    const int count = axes_.find_or_all(c, in.shape, in.layout, named);
    set_type(c);
    out.layout = in.layout;
    out.shape = in.shape;
    ResampleRegion regions[kMaxDims];
    for (int i = 0; i < ndim; i++) regions[i].in = in.shape[i];
    size_.find(c, named, count, ndim, regions);
    for (int i = 0; i < ndim; i++) out.shape[i] = regions[i].out;
    arrange(c, regions);
  }

  Misfit stage_misfit(const Context&) const override { return "it resizes any axes"; }

 private:
  static bool stays(const ResampleRegion& r) {
    return r.in == r.out && (r.in <= 1 || (r.lo == 0 && r.hi == double(r.in)));
  }

  // As in DALI, outer axes whose extent is the input's count as ones that stay while there are more than two, though a
  // size with a fraction was asked for that would have them shrink a little.
  static bool covers(const ResampleRegion& r) { return r.in == r.out && r.lo <= 0 && r.hi >= double(r.in); }

  // Two or three axes next to each other are resampled, with those between that stay. One alone has the other axes on
  // one side for a second one.
  void arrange(const Context& c, const ResampleRegion* regions) const {
    const Shape& shape = c.in(0).shape;
    int first = 0, end = shape.ndim;
    while (end - first > 2 && covers(regions[first])) first++;
    while (end - first > 2 && covers(regions[end - 1])) end--;
    while (first < end && stays(regions[first])) first++;
    while (end > first && stays(regions[end - 1])) end--;
    const int count = end - first;
    if (count > 3)
      fail(ErrorKind::argument, "the axes from " + std::to_string(first) + " to " + std::to_string(end - 1) +
                                       " are to be resized: expected three next to each other at most");
    if (count >= 2) return place(c, first, count, regions + first);
    Params& p = c.param<Params>();
    int64_t before = 1, behind = 1;
    for (int i = 0; i < first; i++) before *= shape[i];
    for (int i = end; i < shape.ndim; i++) behind *= shape[i];
    p.count = 2;
    p.channels = 1;
    p.is_picture = false;
    const bool columns = count == 1 && behind > 1;
    p.outer = columns ? before : 1;
    p.axes[0] = columns ? axis(c, regions[first]) : kept(before);
    p.axes[1] = columns ? kept(behind) : count == 1 ? axis(c, regions[first]) : kept(behind);
    p.axes[0].summed = true;
    p.axes[1].summed = false;
  }

  static ResampleAxis kept(int64_t extent) { return {extent, extent, 0, float(extent), Interp::nearest, false}; }

  TensorSize size_;
  AxesArgument axes_;
};

PS_OPERATOR("tensor_resize", TensorResize)

}  // namespace ps
