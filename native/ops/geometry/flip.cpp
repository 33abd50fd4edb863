// Pictures, volumes and sequences turned round along their width, height or depth.
#include "core/operator.h"
#include "ops/arguments/picture_layout.h"
#include "ops/arguments/picture_window.h"
#include "ops/gather/gather.h"
#include "ops/gather/gpu.h"
#include "ops/gather/move_blocks.h"
#include "ops/geometry/flip/stage.h"
#include "rows/frames.h"

namespace ps {

class Flip : public RowOperator, public StageOperator, public FrameStages {
 public:
  explicit Flip(const Spec& s)
      : horizontal_(s.arg<int>("horizontal")), vertical_(s.arg<int>("vertical")), depthwise_(s.arg<int>("depthwise")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = picture_layout(in, false);
    Axes& flip = c.param<Axes>();
    flip.width = horizontal_.get(c) != 0;
    flip.height = vertical_.get(c) != 0;
    flip.depth = depthwise_.get(c) != 0;
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.shape.volume() == 0) return;
    Gather gather(Border::error);
    const void* from = add_axes(c, gather);
    gather.run(from, MoveBlocks{gather.take_block(size_of(in.dtype)), out.as<uint8_t>()});
  }

  Misfit rows_misfit(const Context& c) const override {
    if (!(c.out(0).layout == Layout("HWC"))) return misfit::no_picture;
    if (c.param<Axes>().height) return "rows change their order";
    return c.in(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  Misfit frames_misfit(const Context& c) const override {
    if (!(c.out(0).layout == Layout("FHWC"))) return kNoFrames;
    if (c.param<Axes>().height) return "rows change their order";
    return c.in(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin_frame(const Context& c, int64_t) const override { return begin(c); }
  RowStage* begin(const Context& c) const override {
    FlipStage& stage = c.st<RowsState>().stage;
    stage.begin(format(c.in(0)), c.param<Axes>().width);
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override {
    if (c.param<Axes>().depth) return "volumes are turned front to back";
    return window_misfit(Region::whole(c.in(0).shape), c.in(0));
  }
  Functor stage(const Context& c) const override { return window_stage(c.out(0).dtype); }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    const Axes& flip = c.param<Axes>();
    fill_window(Region::whole(c.in(0).shape), c.in(0), flip.width, flip.height, functor);
  }
  Window needed(const Context& c, const Window& output) const override {
    const Axes& flip = c.param<Axes>();
    return needed_of_window(Region::whole(c.in(0).shape), c.in(0), flip.width, flip.height, output);
  }
  void record_alone(gpu::Recorder& r) const override { gpu::record_moves(r, add_axes); }

  size_t params_size() const override { return sizeof(Axes); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<RowsState>(); }

 private:
  struct RowsState : State {
    FlipStage stage;
  };

  struct Axes {
    bool width, height, depth;
  };

  static const void* add_axes(const Context& c, Gather& gather) {
    const Tensor& in = c.in(0);
    const Axes& flip = c.param<Axes>();
    auto stride = int64_t(in.bytes());
    for (int i = 0; i < in.shape.ndim; i++) {
      const char axis = c.out(0).layout.axes[i];
      const bool back = (axis == 'W' && flip.width) || (axis == 'H' && flip.height) || (axis == 'D' && flip.depth);
      const int64_t size = in.shape[i];
      stride /= std::max<int64_t>(size, 1);
      gather.add({size, back ? size - 1 : 0, back ? -1 : 1, size, stride});
    }
    return in.data;
  }

  Arg<int> horizontal_, vertical_, depthwise_;
};

PS_OPERATOR("flip", Flip)

}  // namespace ps
