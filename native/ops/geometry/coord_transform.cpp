// Points under an affine map: the last axis holds coordinates.

#include "device/geometry/coord_transform.h"

#include <vector>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"

namespace ps {

class CoordTransform : public Operator, public GpuOperator {
 public:
  explicit CoordTransform(const Spec& s)
      : matrix_(s, "M"), offset_(s, "T"), both_(s, "MT"), dtype_(s.dtype("dtype")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    const int n = in.shape.ndim;
    if (n < 2)
      fail(ErrorKind::type, "expected points along the last of at least 2 axes, got the shape " + to_string(in.shape));
    const int64_t columns = in.shape[n - 1], frames = has_frames(&in) ? in.shape[0] : -1;
    for (const FrameArg* a : {&matrix_, &offset_, &both_}) a->expect_frames(c, frames);
    if (columns < 1 || columns > kMost)
      fail(ErrorKind::type,
           "expected 1 to " + std::to_string(kMost) + " coordinates, got the shape " + to_string(in.shape));
    out.shape = in.shape;
    out.shape[n - 1] = rows(c, columns);
    out.layout = in.layout;
    out.dtype = dtype_;
    if (in.shape.volume() > 0) visit_types(in.dtype, out.dtype, [](auto, auto) {});
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    if (out.shape.volume() == 0) return;
    const Maps m = maps(c);
    visit_types(in.dtype, out.dtype, [&](auto from, auto to) {
      using In = typename decltype(from)::type;
      using Out = typename decltype(to)::type;
      const auto with = [&](auto rows, auto columns) {
        transform<In, Out, decltype(rows)::value, decltype(columns)::value>(in.as<In>(), out.as<Out>(), m);
      };
      using Two = std::integral_constant<int, 2>;
      using Three = std::integral_constant<int, 3>;
      using Any = std::integral_constant<int, 0>;
      if (m.rows == 2 && m.columns == 2) with(Two(), Two());
      else if (m.rows == 3 && m.columns == 3) with(Three(), Three());
      else with(Any(), Any());
    });
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Fields = device::CoordTransformFields;
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + gpu::cpp_type(r[0].out(0).dtype);
    const Functor functor =
        PS_FUNCTOR_TEMPLATE(CoordTransform, "geometry/coord_transform.h", uint8_t, uint8_t).of(types);
    r.elements(functor, [&](const Context& c, void* to) -> int64_t {
      const int64_t n = c.out(0).shape.volume();
      if (n == 0) return 0;
      const Maps m = maps(c);
      const void* values = r.constant(m.values.data(), m.values.size() * sizeof(float));
      *static_cast<Fields*>(to) = {c.in(0).data, c.out(0).data, static_cast<const float*>(values), m.points,
                                   int32_t(m.rows), int32_t(m.columns)};
      return n;
    });
  }

 private:
  static constexpr int64_t kMost = 1 << 12;         // a matrix has its square

  struct Maps {
    int64_t rows, columns, points, count;
    std::vector<float> values;
  };

  // Calls f(in, out).
  template <class F> static void visit_types(DType in, DType out, F&& f) {
    if (out != in && out != DType::f32)
      fail(ErrorKind::type, std::string("dtype: expected FLOAT, or the input's type, ") + name_of(in) + "; got " +
                                name_of(out));
    const auto from = [&](auto tag) {
      if (out == in) return f(tag, tag);
      return f(tag, std::type_identity<float>{});
    };
    switch (in) {
      case DType::u8: return from(std::type_identity<uint8_t>{});
      case DType::u16: return from(std::type_identity<uint16_t>{});
      case DType::i16: return from(std::type_identity<int16_t>{});
      case DType::i32: return from(std::type_identity<int32_t>{});
      case DType::f32: return from(std::type_identity<float>{});
      default: fail(ErrorKind::type, std::string("expected UINT8, UINT16, INT16, INT32 or FLOAT, got ") + name_of(in));
    }
  }

  // Coordinates of a point in the output.
  int64_t rows(const Context& c, int64_t columns) const {
    const FrameArg& m = both_.given() ? both_ : matrix_;
    const int64_t n = m.size(c), wide = both_.given() ? columns + 1 : columns;
    const bool whole = m.given() && (n > 1 || n == wide);
    if (m.given() && n != 1 && (n == 0 || n % wide))
      fail(ErrorKind::argument, std::string(m.name()) + " has " + std::to_string(n) + " values: expected rows of " +
                                    std::to_string(wide) + ", or one value");
    const int64_t count = whole ? n / wide : columns;
    const int64_t offsets = offset_.size(c);
    if (offset_.given() && offsets != 1 && offsets != count)
      fail(ErrorKind::argument, "T has " + std::to_string(offsets) + " values: expected 1 or " + std::to_string(count));
    return count;
  }

  Maps maps(const Context& c) const {
    const Shape& in = c.in(0).shape;
    Maps m{rows(c, in[in.ndim - 1]), in[in.ndim - 1], in.volume() / in[in.ndim - 1], 1, {}};
    const bool each = matrix_.frames(c) >= 0 || offset_.frames(c) >= 0 || both_.frames(c) >= 0;
    if (each) m.count = in[0], m.points /= std::max<int64_t>(in[0], 1);
    m.values.assign(size_t(m.count * m.rows * (m.columns + 1)), 0);
    float* to = m.values.data();
    for (int64_t f = 0; f < m.count; f++)
      for (int64_t i = 0; i < m.rows; i++, to += m.columns + 1) fill_row(c, f, i, m.columns, to);
    return m;
  }

  void fill_row(const Context& c, int64_t frame, int64_t i, int64_t columns, float* to) const {
    const FrameArg& m = both_.given() ? both_ : matrix_;
    const int64_t wide = both_.given() ? columns + 1 : columns;
    if (!m.given()) to[i] = 1;
    else if (m.size(c) == 1 && wide != 1) to[i] = m.get(c, frame);
    else for (int64_t k = 0; k < wide; k++) to[k] = m.get(c, frame, i * wide + k);
    if (offset_.given()) to[columns] = offset_.get(c, frame, offset_.size(c) == 1 ? 0 : i);
  }

  // R, C: the numbers of rows and columns, or 0 for any.
  template <class In, class Out, int R, int C> static void transform(const In* from, Out* to, const Maps& m) {
    const int64_t rows = R ? R : m.rows, columns = C ? C : m.columns;
    for (int64_t f = 0; f < m.count; f++) {
      const float* map = m.values.data() + f * rows * (columns + 1);
      float own[R ? R * (C + 1) : 1];                // a copy that no store can change
      if constexpr (R > 0) std::copy_n(map, R * (C + 1), own), map = own;
      for (int64_t p = 0; p < m.points; p++, from += columns, to += rows)
        for (int64_t i = 0; i < rows; i++) {
          float sum = 0;
          for (int64_t k = 0; k < columns; k++) sum = sum + map[i * (columns + 1) + k] * convert<float>(from[k]);
          to[i] = convert<Out>(sum + map[i * (columns + 1) + columns]);
        }
    }
  }

  FrameArg matrix_, offset_, both_;
  DType dtype_;
};

PS_OPERATOR("coord_transform", CoordTransform)

}  // namespace ps

