// Where a random window starts that has as much as it can of a region of interest.
#include <algorithm>
#include <string>

#include "core/operator.h"

namespace ps {

class RoiRandomCrop : public Operator {
 public:
  static constexpr Count kInputs{0, 1};
  explicit RoiRandomCrop(const Spec& s)
      : crop_(s.arg<int64_t>("crop_shape")), start_(s.arg<int64_t>("roi_start")), end_(s.arg<int64_t>("roi_end")),
        extent_(s.arg<int64_t>("roi_shape")), in_(s.arg<int64_t>("in_shape")) {
    if (s.num_inputs > 0 && in_.given())
      fail(ErrorKind::argument, "the shape is given twice: by the input and by in_shape");
  }

  bool reads_elements(int) const override { return false; }

  void setup(const Context& c) const override {
    const int64_t n = crop_.size(c);
    if (n > kMaxDims)
      fail(ErrorKind::argument, "crop_shape has " + std::to_string(n) + " values; at most " +
                                    std::to_string(kMaxDims) + " can be");
    if (c.num_inputs && c.in(0).shape.ndim < n)
      fail(ErrorKind::argument, "crop_shape has " + std::to_string(n) + " values, but the input's shape is " +
                                    to_string(c.in(0).shape));
    for (int i = 0; i < n; i++) places(c, i, int(n));
    Tensor& out = c.out(0);
    out.dtype = DType::i64;
    out.shape = {n};
    out.layout = {};
  }

  void run(const Context& c) const override {
    Philox random = c.random();
    const auto n = int(c.out(0).shape[0]);
    for (int i = 0; i < n; i++) {
      const Places p = places(c, i, n);
      c.out(0).as<int64_t>()[i] = p.first + int64_t(random.below(uint64_t(p.last - p.first) + 1));
    }
  }

 private:
  static constexpr int64_t kMost = int64_t(1) << 48;

  struct Places {
    int64_t first, last;
  };

  // Where the window may start on axis i of n.
  Places places(const Context& c, int i, int n) const {
    const int64_t crop = value(c, crop_, "crop_shape", i, n), start = value(c, start_, "roi_start", i, n);
    const int64_t end = end_.given() ? value(c, end_, "roi_end", i, n) : start + value(c, extent_, "roi_shape", i, n);
    const std::string where = " on axis " + std::to_string(i);
    if (crop < 0) fail(ErrorKind::argument, "crop_shape is " + std::to_string(crop) + where + "; expected 0 or more");
    if (end < start)
      fail(ErrorKind::argument, "the region of interest ends before it starts" + where + ": from " +
                                    std::to_string(start) + " to " + std::to_string(end));
    Places p{std::min(start, end - crop), std::max(start, end - crop)};
    if (!c.num_inputs && !in_.given()) return p;
    const int64_t extent = c.num_inputs ? c.in(0).shape[i] : value(c, in_, "in_shape", i, n);
    if (crop > extent)
      fail(ErrorKind::argument, "crop_shape is " + std::to_string(crop) + where + ", but there the input has only " +
                                    std::to_string(extent));
    if (start < 0 || end > extent)
      fail(ErrorKind::argument, "the region of interest from " + std::to_string(start) + " to " + std::to_string(end) +
                                    where + " is not within the input's 0 to " + std::to_string(extent));
    p.first = std::max<int64_t>(p.first, 0);
    p.last = std::min(p.last, extent - crop);
    return p;
  }

  static int64_t value(const Context& c, const Arg<int64_t>& a, const char* name, int i, int n) {
    const int64_t have = a.size(c);
    if (have != 1 && have != n)
      fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(have) + " values, but crop_shape has " +
                                    std::to_string(n));
    const int64_t v = a.get(c, have == 1 ? 0 : i);
    if (v < -kMost || v > kMost) fail(ErrorKind::argument, std::string(name) + " has a value of more than 2^48");
    return v;
  }

  Arg<int64_t> crop_, start_, end_, extent_, in_;
};

PS_OPERATOR("roi_random_crop", RoiRandomCrop)

}  // namespace ps
