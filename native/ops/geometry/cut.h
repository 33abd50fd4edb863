// What crop and slice have in common: a region of the input, perhaps reaching beyond it, in another type.
#pragma once

#include "core/operator.h"
#include "ops/arguments/border.h"
#include "ops/arguments/picture_window.h"
#include "ops/arguments/truncate.h"
#include "ops/gather/gather.h"
#include "ops/gather/gpu.h"
#include "rows/frames.h"
#include "rows/window_stage.h"

namespace ps {

class Cut : public RowOperator, public StageOperator, public FrameStages {
 public:
  explicit Cut(const Spec& s)
      : border_(border_of(s)), dtype_(s.dtype("dtype")), fill_(s.get("fill_values").numbers) {}

  void setup(const Context& c) const final {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.layout = layout(in);
    Region& r = c.param<Region>() = region(c, in.shape, out.layout);
    apply_border(border_, in.shape, out.layout, r);
    out.shape = r.shape;
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    if (fills_by_channel(r, in)) check_fill(out);
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.shape.volume() == 0) return;
    const Region& r = c.param<Region>();
    const int channels = fills_by_channel(r, in) ? channel_axis(out) : -1;
    Gather gather(border_);
    gather.add_region(in, r, channels);
    const int64_t block = gather.take_block(size_of(in.dtype)) / int64_t(size_of(in.dtype));
    gather.run(in.data, Body{truncating_converter(in.dtype, out.dtype), block, block * int64_t(size_of(out.dtype)),
                             fills(out, block, channels, channels < gather.ndim()), out.as<uint8_t>()});
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& input = c.in(0).shape;
    const Region& r = c.param<Region>();
    if (input.ndim != 3) return misfit::no_picture;
    if (!r.inside(input)) return misfit::outside;
    if (r.shape[2] != input[2]) return "the last axis is cut";
    return r.shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  Misfit frames_misfit(const Context& c) const override {
    const Shape& input = c.in(0).shape;
    const Region& r = c.param<Region>();
    if (!(c.out(0).layout == Layout("FHWC"))) return kNoFrames;
    if (!r.inside(input)) return misfit::outside;
    if (r.shape[0] != input[0] || r.shape[3] != input[3]) return "other axes than height and width are cut";
    return r.shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin_frame(const Context& c, int64_t) const override { return begin(c); }
  RowStage* begin(const Context& c) const override {
    const Region& r = c.param<Region>();
    WindowStage& stage = c.st<RowsState>().stage;
    const int h = r.shape.ndim - 3;
    stage.begin(format(c.in(0)), format(c.out(0)), r.anchor[h + 1], r.anchor[h],
                truncating_converter(c.in(0).dtype, c.out(0).dtype));
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override { return window_misfit(c.param<Region>(), c.in(0)); }
  Functor stage(const Context& c) const override { return window_stage(c.out(0).dtype); }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    fill_window(c.param<Region>(), c.in(0), false, false, functor);
  }

  Window needed(const Context& c, const Window& output) const override {
    return needed_of_window(c.param<Region>(), c.in(0), false, false, output);
  }

  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    const DType to = r[0].out(0).dtype;
    const std::vector<uint8_t> values = truncated(fill_, to);
    const void* fills = border_ == Border::constant ? r.constant(values.data(), values.size()) : nullptr;
    gpu::record_gather(r, gpu::kGather, r[0].in(0).dtype, to, border_,
                       [&](const Context& c, Gather& gather, device::GatherHead& head) {
                         const Region& region = c.param<Region>();
                         const bool by_channel = fills_by_channel(region, c.in(0));
                         gather.add_region(c.in(0), region, by_channel ? channel_axis(c.out(0)) : -1);
                         head.fills = fills;
                       });
  }

  size_t params_size() const override { return sizeof(Region); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<RowsState>(); }

 protected:
  virtual Region region(const Context& c, const Shape& input, const Layout& layout) const = 0;
  virtual Layout layout(const Tensor& input) const { return input.layout; }

 private:
  struct RowsState : State {
    WindowStage stage;
  };

  struct Body {
    Convert convert;
    int64_t block, bytes;            // elements; bytes of the output
    std::vector<uint8_t> fills;      // a block, or one for each channel
    uint8_t* to;

    void copy(const uint8_t* from, int64_t, int64_t n, int64_t, int64_t) {
      convert(from, to, size_t(n * block));
      to += n * bytes;
    }
    void fill(int64_t n, int64_t channel, int64_t channel_step) {
      for (int64_t i = 0; i < n; i++, to += bytes)
        std::memcpy(to, fills.data() + (channel + i * channel_step) * bytes, size_t(bytes));
    }
  };

  // Blocks of what is filled in. The channels are beyond the block, within it, or make no difference.
  std::vector<uint8_t> fills(const Tensor& out, int64_t block, int channels, bool beyond) const {
    std::vector<double> values;
    if (channels < 0) {
      values.assign(size_t(block), fill_[0]);
    } else if (beyond) {
      for (double v : fill_) values.insert(values.end(), size_t(block), v);
    } else {
      int64_t behind = 1;            // elements from one channel to the next
      for (int i = channels + 1; i < out.shape.ndim; i++) behind *= out.shape[i];
      for (int64_t i = 0; i < block; i++) values.push_back(fill_[size_t(i / behind) % fill_.size()]);
    }
    return truncated(values, out.dtype);
  }

  bool fills_by_channel(const Region& r, const Tensor& in) const {
    return border_ == Border::constant && fill_.size() > 1 && !r.inside(in.shape);
  }

  // Without a layout the channels come last.
  static int channel_axis(const Tensor& t) { return t.layout.empty() ? t.shape.ndim - 1 : t.layout.find('C'); }

  void check_fill(const Tensor& out) const {
    const int axis = channel_axis(out);
    if (axis < 0)
      fail(ErrorKind::layout, "fill_values has " + std::to_string(fill_.size()) + " values, but the layout '" +
                                  out.layout.axes + "' has no channels");
    if (int64_t(fill_.size()) != out.shape[axis])
      fail(ErrorKind::argument, "fill_values has " + std::to_string(fill_.size()) + " values for " +
                                    std::to_string(out.shape[axis]) + " channels");
  }

  Border border_;
  DType dtype_;
  std::vector<double> fill_;
};

}  // namespace ps
