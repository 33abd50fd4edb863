// Squares of a grid made black.

#include "device/geometry/grid_mask.h"

#include <cmath>
#include <cstring>
#include <string>

#include "core/convert.h"
#include "core/operator.h"
#include "cuda/record/operator.h"
#include "cuda/record/picture.h"
#include "ops/arguments/picture_layout.h"

namespace ps {

class GridMask : public RowOperator, public StageOperator {
  using Fields = device::GridMaskFields;

 public:
  explicit GridMask(const Spec& s)
      : tile_(s.arg<int64_t>("tile")), ratio_(s.arg<float>("ratio")), angle_(s.arg<float>("angle")),
        shift_x_(s.arg<float>("shift_x")), shift_y_(s.arg<float>("shift_y")) {}

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    visit(in.dtype, [](auto) {});                    // numbers, whichever
    const int y = height_axis(in);
    if (in.shape[y] > INT32_MAX || in.shape[y + 1] > INT32_MAX)
      fail(ErrorKind::unsupported, "the shape " + to_string(in.shape) + " is too large");
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = in.layout;
    const int64_t tile = tile_.get(c);
    if (tile <= 0) fail(ErrorKind::argument, "tile is " + std::to_string(tile) + ": expected 1 or more");
    const auto unit = float(tile);
    const float angle = angle_.get(c);
    c.param<Params>() = {{std::cos(angle) / unit, std::sin(angle) / unit, shift_x_.get(c) / unit,
                          shift_y_.get(c) / unit, ratio_.get(c)}, y};
  }

  void run(const Context& c) const override {
    const Params& p = c.param<Params>();
    const Tensor& in = c.in(0);
    if (!in.bytes()) return;
    size_t bytes = size_of(in.dtype), rows = 1;        // of a place; of all pictures
    for (int i = 0; i < in.shape.ndim; i++) (i > p.y_axis + 1 ? bytes : rows) *= size_t(in.shape[i]);
    const int64_t height = in.shape[p.y_axis], width = in.shape[p.y_axis + 1];
    rows /= size_t(width);
    const size_t row = size_t(width) * bytes;
    for (size_t i = 0; i < rows; i++)
      mask_row(p.mask, c.st<ThreadState>().shown, int64_t(i) % height, 0, width, bytes, in.as<uint8_t>() + i * row,
               c.out(0).as<uint8_t>() + i * row);
  }

  Misfit rows_misfit(const Context& c) const override {
    if (c.in(0).shape.ndim != 2 && c.in(0).shape.ndim != 3) return misfit::no_picture;
    return c.in(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }
  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = stage.out = format(c.in(0));
    stage.mask = c.param<Params>().mask;
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override {
    const auto p = gpu::pictures_of(c.in(0));
    if (!p) return misfit::no_pictures;
    return p->y_axis == c.param<Params>().y_axis ? fits : "height and width are not the first two axes";
  }
  Functor stage(const Context& c) const override {
    return PS_FUNCTOR_TEMPLATE(GridMask, "geometry/grid_mask.h", uint8_t).of(gpu::cpp_type(c.in(0).dtype));
  }
  void fill_stage(const Context& c, void* functor) const override {
    *static_cast<Fields*>(functor) = c.param<Params>().mask;
  }
  bool one_to_one() const override { return true; }
  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Job = device::GridMaskElements<uint8_t>;   // of any type the same fields
    const auto type = gpu::cpp_type(r[0].in(0).dtype);
    r.elements(PS_FUNCTOR_TEMPLATE(GridMaskElements, "geometry/grid_mask.h", uint8_t).of(type),
               [](const Context& c, void* to) {
                 const Shape& s = c.in(0).shape;
                 const Params& p = c.param<Params>();
                 const int64_t all = s.volume();
                 int64_t inner = 1;
                 for (int i = p.y_axis + 2; i < s.ndim; i++) inner *= s[i];
                 if (all)
                   *static_cast<Job*>(to) = {
                       c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(), device::Divisor(uint64_t(s[p.y_axis + 1])),
                       device::Divisor(uint64_t(s[p.y_axis])), device::Divisor(uint64_t(inner)), p.mask};
                 return all;
               });
  }

 private:
  struct Params {
    Fields mask;
    int y_axis;
  };

  // Of three axes it is the first one, whatever the layout says: so DALI has it. Of more, DALI leaves some out.
  static int height_axis(const Tensor& t) {
    if (t.shape.ndim < 2) fail(ErrorKind::layout, "expected height and width, got the shape " + to_string(t.shape));
    if (t.shape.ndim < 4) return 0;
    const Layout layout = picture_layout(t, false);
    const int y = layout.find('H');
    if (layout.find('W') == y + 1) return y;
    fail(ErrorKind::layout, std::string("the layout '") + layout.axes + "': expected W right behind H");
  }

  struct Shown {
    std::vector<uint8_t> places;                     // of a row: all bits or none
  };

  struct Stage : RowStage {
    Fields mask;
    Window demand(const Window& w) override {
      window_ = w;
      row_.resize(size_t(w.width()) * out.pixel_bytes() + kRowSlack);
      return w;
    }
    void push(int64_t y, const void* from) override {
      void* to = next->place(y);
      if (!to) to = row_.data();
      mask_row(mask, shown_, y, window_.x0, window_.width(), out.pixel_bytes(), static_cast<const uint8_t*>(from),
               static_cast<uint8_t*>(to));
      next->push(y, to);
    }

   private:
    Window window_;
    Shown shown_;
    std::vector<uint8_t> row_;
  };
  struct ThreadState : State {
    Stage stage;
    Shown shown;
  };

  template <size_t kBytes>
  static void keep(const uint8_t* __restrict places, size_t n, const uint8_t* __restrict from, uint8_t* __restrict to) {
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < kBytes; k++) to[i * kBytes + k] = uint8_t(from[i * kBytes + k] & places[i]);
  }

  // n places of so many bytes, from (x, y) on.
  static void mask_row(const Fields& mask, Shown& shown, int64_t y, int64_t x, int64_t n, size_t bytes,
                       const uint8_t* from, uint8_t* to) {
    const auto count = size_t(n);
    if (shown.places.size() < count) shown.places.resize(count);
    uint8_t* places = shown.places.data();
    const Fields m = mask;                           // a copy that no store can change
    for (size_t i = 0; i < count; i++) places[i] = uint8_t(m.shows(int(x) + int(i), int(y)) ? 255 : 0);
    switch (bytes) {
      case 1: return keep<1>(places, count, from, to);
      case 3: return keep<3>(places, count, from, to);
      case 4: return keep<4>(places, count, from, to);
      case 12: return keep<12>(places, count, from, to);
      default:
        for (size_t i = 0; i < count; i++) {
          if (places[i]) std::memcpy(to + i * bytes, from + i * bytes, bytes);
          else std::memset(to + i * bytes, 0, bytes);
        }
    }
  }

  Arg<int64_t> tile_;
  Arg<float> ratio_, angle_, shift_x_, shift_y_;
};

PS_OPERATOR("grid_mask", GridMask)

}  // namespace ps
