// Where a random pixel of a mask is.
#include <algorithm>
#include <concepts>
#include <string>
#include <utility>

#include "core/convert.h"
#include "core/operator.h"

namespace ps {

class RandomMaskPixel : public Operator {
 public:
  explicit RandomMaskPixel(const Spec& s)
      : foreground_(s.arg<int>("foreground")), threshold_(s.arg<float>("threshold")), value_(s.arg<int64_t>("value")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    visit(in.dtype, [](auto) {});                    // numbers, whichever
    if (in.shape.volume() == 0)
      fail(ErrorKind::argument, "the mask has no pixels: its shape is " + to_string(in.shape));
    Tensor& out = c.out(0);
    out.dtype = DType::i64;
    out.shape = {in.shape.ndim};
    out.layout = {};
  }

  void run(const Context& c) const override {
    const Shape& shape = c.in(0).shape;
    Philox random = c.random();
    int64_t pixel = -1;
    if (foreground_.get(c)) pixel = of_foreground(c, random);
    if (pixel < 0) pixel = int64_t(random.below(uint64_t(shape.volume())));
    for (int axis = shape.ndim; axis-- > 0; pixel /= shape[axis]) c.out(0).as<int64_t>()[axis] = pixel % shape[axis];
  }

 private:
  // -1: it has no pixels.
  int64_t of_foreground(const Context& c, Philox& random) const {
    return visit(c.in(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* begin = c.in(0).template as<T>();
      if (!value_.given()) {
        const double threshold = threshold_.get(c);
        return drawn(begin, c.in(0).shape.volume(), random, [&](T v) { return double(v) > threshold; });
      }
      const int64_t value = value_.get(c);
      return drawn(begin, c.in(0).shape.volume(), random, [&](T v) {
        if constexpr (std::integral<T> && !std::same_as<T, bool>) return std::cmp_equal(v, value);
        else return double(v) == double(value);
      });
    });
  }

  template <class T, class Matches>
  static int64_t drawn(const T* mask, int64_t n, Philox& random, const Matches& matches) {
    const int64_t count = std::count_if(mask, mask + n, matches);
    if (!count) return -1;
    auto left = int64_t(random.below(uint64_t(count)));
    for (int64_t i = 0;; i++)
      if (matches(mask[i]) && left-- == 0) return i;
  }

  Arg<int> foreground_;
  Arg<float> threshold_;
  Arg<int64_t> value_;
};

PS_OPERATOR("segmentation_random_mask_pixel", RandomMaskPixel)

}  // namespace ps
