// Elements of one type as elements of another.
#include "core/converter.h"
#include "core/operator.h"
#include "cuda/record/elementwise.h"
#include "device/tensor/functions.h"
#include "rows/map_stage.h"

namespace ps {

class Cast : public RowOperator, public StageOperator {
 public:
  static constexpr Count kInputs{1, 2};
  explicit Cast(const Spec& s) : dtype_(s.dtype("dtype")) {}

  bool reads_elements(int input) const override { return input == 0; }

  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    Tensor& out = c.out(0);
    out.dtype = c.num_inputs > 1 ? c.in(1).dtype : dtype_;
    out.shape = c.in(0).shape;
    out.layout = c.in(0).layout;
    converter(c.in(0).dtype, out.dtype);             // both must be numbers
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    converter(in.dtype, out.dtype)(in.data, out.data, size_t(in.shape.volume()));
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& s = c.in(0).shape;
    if (s.ndim != 2 && s.ndim != 3) return misfit::no_picture;
    return s.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    stage.convert = converter(stage.in.dtype, stage.out.dtype);
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override { return gpu::elementwise_misfit(c, call(c), 0); }
  Functor stage(const Context& c) const override { return gpu::elementwise_stage(c, call(c), 0); }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    gpu::fill_elementwise_stage(c, call(c), 0, functor);
  }
  void record_alone(gpu::Recorder& r) const override { gpu::record_elementwise(r, call); }

 private:
  static gpu::ElementwiseCall call(const Context& c) {
    return {PS_DEVICE_TYPE(Same), 1, {{&c.in(0), false, c.in(0).dtype}}};
  }

  struct Stage : MapStage {
    Convert convert;

    void* place(int64_t y) override { return in.dtype == out.dtype ? next->place(y) : nullptr; }
    void push(int64_t y, const void* from) override {
      if (in.dtype == out.dtype) return next->push(y, from);
      MapStage::push(y, from);
    }
    void map(const void* from, void* to, size_t pixels) override { convert(from, to, pixels * size_t(out.channels)); }
  };
  struct ThreadState : State {
    Stage stage;
  };

  DType dtype_;
};

PS_OPERATOR("cast", Cast)

}  // namespace ps
