// Element-wise functions of one to three operands, of any numeric types, broadcast as NumPy does.
#include <string>

#include "core/operator.h"
#include "cuda/record/elementwise.h"
#include "ops/tensor/arithmetic/operand.h"
#include "rows/map_stage.h"

namespace ps {
namespace arithmetic {

// Computes elements of a result, block by block.
struct Evaluator {
  Operand operands[3];
  Evaluation e;
  int count = 0;

  void run(int64_t start, size_t n, uint8_t* out) {
    const size_t bytes = size_of(e.out);
    const bool direct = same_bits(e.result, e.out);
    for (; n; start += int64_t(kBlock)) {
      const size_t m = std::min(n, kBlock);
      const void* from[3];
      for (int k = 0; k < count; k++) from[k] = operands[k].read(start, m);
      if (e.integer_division) check_divisor(from[1], m);
      if (direct) {
        e.loop(from, out, m);
      } else {
        e.loop(from, result_, m);
        converter(e.result, e.out)(result_, out, m);
      }
      out += m * bytes;
      n -= m;
    }
  }

 private:
  void check_divisor(const void* divisor, size_t n) const {
    visit_size(size_of(e.compute[1]), [&](auto tag) {
      const auto* d = static_cast<const typename decltype(tag)::type*>(divisor);
      bool zero = false;
      for (size_t i = 0; i < n; i++) zero |= d[i] == 0;
      if (zero) fail(ErrorKind::argument, "integer division by zero");
    });
  }

  alignas(64) uint8_t result_[kBlock * 8];
};

inline Shape broadcast(const Shape& a, const Shape& b) {
  const Shape &longer = a.ndim >= b.ndim ? a : b, &shorter = a.ndim >= b.ndim ? b : a;
  Shape out = longer;
  for (int i = 0; i < shorter.ndim; i++) {
    int64_t& extent = out[longer.ndim - shorter.ndim + i];
    if (extent != shorter[i] && extent != 1 && shorter[i] != 1)
      fail(ErrorKind::argument, "the operands' shapes " + to_string(a) + " and " + to_string(b) +
                                    " do not fit: counted from the last axis, extents must be equal, or one of them 1");
    if (extent == 1) extent = shorter[i];
  }
  return out;
}

// The longer of two layouts, of which one must end in the other.
inline Layout common(const Layout& a, const Layout& b) {
  const bool a_is_longer = a.view().size() >= b.view().size();
  const Layout &longer = a_is_longer ? a : b, &shorter = a_is_longer ? b : a;
  if (!longer.view().ends_with(shorter.view()))
    fail(ErrorKind::layout, "the operands' layouts '" + std::string(a.view()) + "' and '" + std::string(b.view()) +
                                "' do not fit: one must be the end of the other");
  return longer;
}

}  // namespace arithmetic

class Arithmetic : public RowOperator, public StageOperator {
 public:
  static constexpr Count kInputs{1, 3};
  explicit Arithmetic(const Spec& s)
      : function_(arithmetic::function(s.string("function"))), on_gpu_(int(s.integer("on_gpu"))) {
    // Which input is which operand: the picture of a row pipeline comes first among the inputs.
    const auto order = s.arg<int64_t>("order");
    if (s.num_inputs != function_.operands)
      fail(ErrorKind::argument, "it has " + std::to_string(s.num_inputs) + " operands, expected " +
                                    std::to_string(function_.operands));
    for (int k = 0; k < function_.operands; k++) {
      const int64_t input = order.get({}, k);
      if (input < 0 || input >= s.num_inputs)
        fail(ErrorKind::argument, "order: there is no input " + std::to_string(input));
      input_[function_.swapped ? function_.operands - 1 - k : k] = int(input);
    }
  }

  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    Tensor& out = c.out(0);
    out.dtype = evaluation(c).out;
    out.shape = c.in(0).shape;
    out.layout = c.in(0).layout;
    for (int i = 1; i < c.num_inputs; i++) {
      out.shape = arithmetic::broadcast(out.shape, c.in(i).shape);
      out.layout = arithmetic::common(out.layout, c.in(i).layout);
    }
    if (int(out.layout.view().size()) != out.shape.ndim) out.layout = Layout();
  }

  void run(const Context& c) const override {
    const Tensor& out = c.out(0);
    if (!out.shape.volume()) return;
    arithmetic::Evaluator& evaluator = c.st<ThreadState>().stage.evaluator;
    prepare(c, evaluator);
    for (int k = 0; k < function_.operands; k++)
      evaluator.operands[k].set(c.in(input_[k]), out.shape, evaluator.e.compute[k]);
    evaluator.run(0, size_t(out.shape.volume()), out.as<uint8_t>());
  }

  // A picture, with numbers or one number per channel.
  Misfit rows_misfit(const Context& c) const override {
    const Shape& shape = c.in(0).shape;
    if (shape.ndim != 2 && shape.ndim != 3) return misfit::no_picture;
    if (!shape.volume()) return misfit::no_pixels;
    if (!(c.out(0).shape == shape)) return misfit::broadcast;
    for (int i = 1; i < c.num_inputs; i++) {
      const int64_t period = arithmetic::Operand::period(c.in(i).shape, shape);
      if (period != 1 && (shape.ndim != 3 || period != shape[2]))
        return "an operand is neither one number nor one for each channel";
    }
    // Zeros are found while dividing, and blamed on this operator only if it runs alone.
    return evaluation(c).integer_division ? "integers are divided" : fits;
  }

  RowStage* begin(const Context& c) const override {
    Stage& stage = c.st<ThreadState>().stage;
    stage.in = format(c.in(0));
    stage.out = format(c.out(0));
    prepare(c, stage.evaluator);
    for (int k = 0; k < function_.operands; k++) {
      arithmetic::Operand& operand = stage.evaluator.operands[k];
      if (input_[k] == 0) {
        operand.set_pieces(c.in(0).dtype, stage.evaluator.e.compute[k]);
        stage.picture = &operand;
      } else {
        operand.set(c.in(input_[k]), c.out(0).shape, stage.evaluator.e.compute[k]);
      }
    }
    return &stage;
  }

  // A picture, with numbers, one number per channel, or what is in the GPU's memory.
  Misfit stage_misfit(const Context& c) const override { return gpu::elementwise_misfit(c, call(c), picture()); }
  Functor stage(const Context& c) const override { return gpu::elementwise_stage(c, call(c), picture()); }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    gpu::fill_elementwise_stage(c, call(c), picture(), functor);
  }
  void record_alone(gpu::Recorder& r) const override {
    gpu::record_elementwise(r, [&](const Context& c) { return call(c); });
  }

 private:
  struct Stage : MapStage {
    arithmetic::Evaluator evaluator;
    arithmetic::Operand* picture = nullptr;

    void map(const void* from, void* to, size_t pixels) override {
      picture->at(from);
      evaluator.run(0, pixels * size_t(out.channels), static_cast<uint8_t*>(to));
    }
  };
  struct ThreadState : State {
    Stage stage;
  };

  arithmetic::Evaluation evaluation(const Context& c) const {
    DType types[3] = {};
    for (int k = 0; k < function_.operands; k++) types[k] = c.in(input_[k]).dtype;
    return arithmetic::evaluation(function_, types);
  }

  gpu::ElementwiseCall call(const Context& c) const {
    const arithmetic::Evaluation e = evaluation(c);
    gpu::ElementwiseCall call{std::string(function_.type), function_.operands, {}};
    for (int k = 0; k < function_.operands; k++)
      call.operands[k] = {&c.in(input_[k]), input_[k] >= on_gpu_, e.compute[k]};
    return call;
  }

  // The operand that is the first input.
  int picture() const { return int(std::find(input_, input_ + function_.operands, 0) - input_); }

  void prepare(const Context& c, arithmetic::Evaluator& evaluator) const {
    evaluator.e = evaluation(c);
    evaluator.count = function_.operands;
  }

  const arithmetic::Function& function_;
  int on_gpu_;                                       // inputs in the GPU's memory, which come first
  int input_[3] = {};
};

PS_OPERATOR("arithmetic", Arithmetic)

}  // namespace ps
