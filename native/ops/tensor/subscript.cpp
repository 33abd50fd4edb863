// node[...]: indices, ranges with steps, an ellipsis and new axes.
#include <algorithm>
#include <optional>

#include "core/operator.h"
#include "ops/arguments/picture_window.h"
#include "ops/gather/gather.h"
#include "ops/gather/gpu.h"
#include "rows/window_stage.h"
#include "ops/gather/move_blocks.h"

namespace ps {
namespace misfit {
inline constexpr Misfit no_window = "it takes more than a range of rows and one of columns";
}

// Each item of the key has a kind ("i" index, "r" range, "e" ellipsis, "n" new axis) and three values: index or start,
// end, step. Where a value comes from is in `inputs`: -1 absent, 0 it is the number in `values`, else that input.
// Ranges of rows and columns are crops, and run as such.
class Subscript : public RowOperator, public StageOperator {
 public:
  static constexpr Count kInputs{1, 1 + 3 * kMaxDims};
  explicit Subscript(const Spec& s) : kinds_(s.string("kinds")), names_(s.string("names")) {
    const auto values = s.arg<int64_t>("values"), inputs = s.arg<int64_t>("inputs");
    if (kinds_.size() > kMaxDims || names_.size() != kinds_.size() ||
        kinds_.find_first_not_of("iren") != std::string::npos)
      fail(ErrorKind::argument, "kinds='" + kinds_ + "' and names='" + names_ + "' are no items of a key");
    for (int64_t i = 0; i < 3 * int64_t(kinds_.size()); i++) {
      const int64_t from = inputs.get({}, i);
      if (from < -1 || from >= s.num_inputs)
        fail(ErrorKind::argument, "inputs: there is no input " + std::to_string(from));
      values_.push_back({int(from), values.get({}, i)});
    }
    if (std::count(kinds_.begin(), kinds_.end(), 'e') > 1)
      fail(ErrorKind::argument, "kinds='" + kinds_ + "': more than one ellipsis");
    taken_ = int(std::count_if(kinds_.begin(), kinds_.end(), [](char k) { return k == 'i' || k == 'r'; }));
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    const int spare = in.shape.ndim - taken_;
    if (spare < 0)
      fail(ErrorKind::axis, std::to_string(taken_) + " indices and ranges for an input of " +
                                std::to_string(in.shape.ndim) + " axes, " + to_string(in.shape));
    Mapping& m = c.param<Mapping>() = {};
    Named shape{{}, {}, !in.layout.empty()};
    const auto keep = [&](const Part& part) {
      m.parts[m.n++] = part;
      shape.add(part.size, shape.named ? in.layout.axes[part.axis] : '?');
    };
    int axis = 0;
    for (size_t i = 0; i < kinds_.size(); i++) {
      const Value* v = &values_[3 * i];
      switch (kinds_[i]) {
        case 'i': m.parts[m.n++] = {axis, index(c, v[0], axis), 0, 1}; axis++; break;
        case 'r': keep(range(c, v, axis)); axis++; break;
        case 'n': shape.add(1, names_[i]); break;
        default:
          for (int end = axis + spare; axis < end; axis++) keep({axis, 0, 1, in.shape[axis]});
      }
    }
    for (; axis < in.shape.ndim; axis++) keep({axis, 0, 1, in.shape[axis]});
    c.out(0).dtype = in.dtype;
    c.out(0).shape = shape.shape;
    c.out(0).layout = shape.named ? Layout(shape.layout) : Layout();
  }

  void run(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (c.out(0).shape.volume() == 0) return;
    Gather gather(Border::error);
    const auto* from = static_cast<const uint8_t*>(add_axes(c, gather));
    int64_t block = gather.take_block(size_of(in.dtype));
    from += gather.take_neighbours(block);
    gather.run(from, MoveBlocks{block, c.out(0).as<uint8_t>()});
  }

  Misfit rows_misfit(const Context& c) const override {
    const Shape& input = c.in(0).shape;
    const std::optional<Region> r = region(c);
    if (input.ndim != 3) return misfit::no_picture;
    if (!r) return misfit::no_window;
    if (r->shape[2] != input[2]) return "the last axis is cut";
    return r->shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin(const Context& c) const override {
    const Mapping& m = c.param<Mapping>();
    WindowStage& stage = c.st<ThreadState>().stage;
    stage.begin(format(c.in(0)), format(c.out(0)), m.parts[1].first, m.parts[0].first, nullptr);
    return &stage;
  }

  Misfit stage_misfit(const Context& c) const override {
    const std::optional<Region> r = region(c);
    return r ? window_misfit(*r, c.in(0)) : misfit::no_window;
  }
  Functor stage(const Context& c) const override { return window_stage(c.out(0).dtype); }
  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    fill_window(*region(c), c.in(0), false, false, functor);
  }
  Window needed(const Context& c, const Window& output) const override {
    return needed_of_window(*region(c), c.in(0), false, false, output);
  }
  void record_alone(gpu::Recorder& r) const override { gpu::record_moves(r, add_axes); }

  size_t params_size() const override { return sizeof(Mapping); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

 private:
  struct Value {
    int input;
    int64_t number;
    bool given() const { return input >= 0; }
  };

  // What is taken of one axis of the input; step 0: the first one only, without an axis in the output.
  struct Part {
    int axis;
    int64_t first, step, size;
  };
  struct Mapping {
    int n;
    Part parts[kMaxDims];
  };

  struct ThreadState : State {
    WindowStage stage;
  };

  // The same as a region of the input, if it takes neighbours only and each axis stays an axis.
  static std::optional<Region> region(const Context& c) {
    const Mapping& m = c.param<Mapping>();
    if (c.out(0).shape.ndim != c.in(0).shape.ndim || m.n != c.in(0).shape.ndim) return std::nullopt;
    Region r;
    for (int i = 0; i < m.n; i++) {
      if (m.parts[i].step != 1) return std::nullopt;
      r.anchor.push(m.parts[i].first);
      r.shape.push(m.parts[i].size);
    }
    return r;
  }

  // Returns where the elements begin: indices are not axes of the output.
  static const void* add_axes(const Context& c, Gather& gather) {
    const auto* from = c.in(0).as<const uint8_t>();
    const Shape& in = c.in(0).shape;
    const Mapping& m = c.param<Mapping>();
    int64_t strides[kMaxDims];
    auto stride = int64_t(size_of(c.in(0).dtype));
    for (int i = in.ndim; i-- > 0; stride *= in[i]) strides[i] = stride;
    for (int i = 0; i < m.n; i++) {
      const Part& p = m.parts[i];
      if (p.step == 0) from += p.first * strides[p.axis];
      else gather.add({p.size, p.first, p.step, in[p.axis], strides[p.axis]});
    }
    return from;
  }

  struct Named {
    Shape shape;
    std::string layout;
    bool named;                      // a layout has names for all axes or for none

    void add(int64_t size, char name) {
      if (shape.ndim == kMaxDims)
        fail(ErrorKind::argument, "the result would have more than " + std::to_string(kMaxDims) + " axes");
      shape.push(size);
      layout += name;
      named = named && name != '?';
    }
  };

  static int64_t number(const Context& c, const Value& v, int axis) {
    if (v.input <= 0) return v.number;
    const Tensor& t = c.in(v.input);
    if (is_float(t.dtype) || t.shape.volume() != 1)
      fail(ErrorKind::type, "on " + axis_name(c.in(0).layout, axis) + " expected one whole number, got " +
                                name_of(t.dtype) + " of shape " + to_string(t.shape));
    return element_i64(t, 0);
  }

  static int64_t index(const Context& c, const Value& v, int axis) {
    const int64_t extent = c.in(0).shape[axis], i = number(c, v, axis);
    if (i < -extent || i >= extent)
      fail(ErrorKind::axis, "index " + std::to_string(i) + " is out of range for " +
                                axis_name(c.in(0).layout, axis) + " of extent " + std::to_string(extent));
    return i < 0 ? i + extent : i;
  }

  // Python's rules: negative bounds count from the end, and bounds beyond the ends are moved there.
  static Part range(const Context& c, const Value* v, int axis) {
    const int64_t extent = c.in(0).shape[axis], given = v[2].given() ? number(c, v[2], axis) : 1;
    if (given == 0) fail(ErrorKind::argument, "on " + axis_name(c.in(0).layout, axis) + " the step is 0");
    const int64_t farthest = std::max<int64_t>(extent, 1);           // all longer steps take the first element alone
    const int64_t step = std::clamp(given, -farthest, farthest);
    const int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? extent - 1 : extent;
    const auto bound = [&](const Value& value, int64_t absent) {
      if (!value.given()) return absent;
      const int64_t b = number(c, value, axis);
      return std::clamp(b < 0 ? b + extent : b, lowest, highest);
    };
    const int64_t first = bound(v[0], step < 0 ? highest : lowest), end = bound(v[1], step < 0 ? lowest : highest);
    const int64_t distance = step < 0 ? first - end : end - first, stride = step < 0 ? -step : step;
    return {axis, first, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
  }

  std::string kinds_, names_;
  std::vector<Value> values_;
  int taken_ = 0;                    // axes that indices and ranges stand for
};

PS_OPERATOR("subscript", Subscript)

}  // namespace ps
