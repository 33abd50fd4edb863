// What operators that move pixels one by one have in common. `Map` is that of device/geometry/displace.h.
#pragma once

#include <string>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "cuda/record/picture.h"
#include "ops/arguments/fill_numbers.h"
#include "ops/arguments/picture_layout.h"
#include "ops/geometry/displace/rows.h"

namespace ps {

template <class Map> class DisplaceOperator : public RowOperator, public StageOperator {
 public:
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    visit_displaced(in.dtype, [](auto) {});
    if (in.shape.ndim != 3 || !(in.layout.empty() || in.layout == "HWC"))
      fail(ErrorKind::layout, "expected pictures (HWC), got " + shown_layout(in));
    if (in.shape[0] > kLongest || in.shape[1] > kLongest || in.shape[2] > kLongest)
      fail(ErrorKind::unsupported, "the shape " + to_string(in.shape) + " is too large");
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = "HWC";
    still(c);
    check(c);
  }

  void run(const Context&) const override {}         // only of pictures without pixels

  Misfit rows_misfit(const Context& c) const override {
    return c.in(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }
  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = stage.out = format(c.in(0));
    stage.row = still(c) ? nullptr : nearest_ ? displace_row_of<true>(stage.in.dtype, stage.in.channels)
                                              : displace_row_of<false>(stage.in.dtype, stage.in.channels);
    stage.fill = cast_numbers({fill_}, stage.in.dtype);
    stage.op = this;
    if (!stage.row) return &stage;
    stage.map = map(c);
    prepare(stage.map, c.in(0).shape, stage.kept);
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override {
    return gpu::pictures_of(c.in(0)) ? fits : "the picture is too large";
  }
  Functor stage(const Context& c) const override {
    const std::string types = map_name_ + ", " + gpu::cpp_type(c.in(0).dtype);
    return {PS_DEVICE_TEMPLATE(Displace, Map, uint8_t, false).of(types + (nearest_ ? ", true" : ", false")), header_,
            sizeof(Fields), alignof(Fields)};
  }
  void fill_stage(const Context& c, void* functor) const override {
    Fields& f = *static_cast<Fields*>(functor);
    f = {};
    f.still = still(c);
    f.map = map(c);
    f.warp.size[0] = int32_t(c.in(0).shape[1]);
    f.warp.size[1] = int32_t(c.in(0).shape[0]);
    const std::vector<uint8_t> fill = cast_numbers({fill_}, c.in(0).dtype);
    visit_displaced(c.in(0).dtype, [&](auto tag) {
      f.warp.fill = convert<float>(*reinterpret_cast<const typename decltype(tag)::type*>(fill.data()));
    });
  }
  void record_alone(gpu::Recorder& r) const override {
    for (int i = 0; i < r.size(); i++)
      if (!gpu::pictures_of(r[i].in(0))) fail(ErrorKind::unsupported, "a picture is too large for the GPU");
  }

 protected:
  // `name` and `header` are those of Map.
  DisplaceOperator(const Spec& s, std::string name, const char* header)
      : map_name_(std::move(name)), header_(header), mask_(s.arg<int64_t>("mask")), fill_(s.number("fill_value")),
        nearest_(s.integer("interp_type") == 0) {}

  // Fails for arguments that do not fit.
  virtual void check(const Context&) const {}
  virtual Map map(const Context& c) const = 0;
  // On the CPU: what a picture's rows have in common, and positions of n pixels of row y, as the map has them.
  virtual void prepare(const Map&, const Shape&, std::vector<float>&) const {}
  virtual void positions(const Map& map, const std::vector<float>&, int64_t y, int64_t x, size_t n, float* x_to,
                         float* y_to) const {
    const Map same = map;                            // a copy that no store can change
    for (size_t i = 0; i < n; i++) {
      const auto p = same.position(int(x) + int(i), int(y));
      x_to[i] = p.v[0], y_to[i] = p.v[1];
    }
  }

 private:
  using Fields = device::DisplaceFields<Map>;
  static constexpr int64_t kLongest = 1 << 28;       // floats and integers count pixels

  // Any pixel may be needed for the first row of the output, so rows are kept until all are there.
  struct Stage : RowStage {
    const DisplaceOperator* op = nullptr;
    Map map;
    DisplaceRow row = nullptr;                       // none: nothing is moved
    std::vector<uint8_t> fill;
    std::vector<float> kept;

    Window demand(const Window& w) override {
      wanted_ = w;
      return row ? Window{0, 0, in.width, in.height} : w;
    }
    bool take(const void* picture, size_t stride) override {
      if (!row) return next->take(picture, stride);
      emit(picture, stride);
      return true;
    }
    void* place(int64_t y) override {
      if (!row) return next->place(y);
      const size_t stride = in.pixel_bytes() * size_t(in.width);
      if (picture_.size() < stride * size_t(in.height)) picture_.resize(stride * size_t(in.height));
      return picture_.data() + size_t(y) * stride;
    }
    void push(int64_t y, const void* from) override {
      if (!row) return next->push(y, from);
      const size_t stride = in.pixel_bytes() * size_t(in.width);
      void* to = place(y);
      if (to != from) std::memcpy(to, from, stride);
      if (y == in.height - 1) emit(picture_.data(), stride);
    }

   private:
    void emit(const void* picture, size_t stride) {
      const DisplaceSource source{static_cast<const uint8_t*>(picture), stride, in.width, in.height, in.channels,
                                  fill.data()};
      const auto n = size_t(wanted_.width());
      positions_.x.resize(n);
      positions_.y.resize(n);
      row_.resize(n * out.pixel_bytes() + kRowSlack);
      for (int64_t y = wanted_.y0; y < wanted_.y1; y++) {
        op->positions(map, kept, y, wanted_.x0, n, positions_.x.data(), positions_.y.data());
        void* to = next->place(y);
        if (!to) to = row_.data();
        row(source, positions_, int64_t(n), to);
        next->push(y, to);
      }
    }

    Window wanted_;
    DisplacePositions positions_;
    std::vector<uint8_t> picture_, row_;
  };
  struct ThreadState : State {
    Stage stage;
  };

  bool still(const Context& c) const { return mask_.get(c) == 0; }

  std::string map_name_;
  const char* header_;
  Arg<int64_t> mask_;
  double fill_;
  bool nearest_;
};

}  // namespace ps
