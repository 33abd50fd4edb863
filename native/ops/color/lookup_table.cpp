// Each value as the index of a table.

#include "device/color/lookup_table.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/converter.h"
#include "cuda/memory/resident.h"
#include "cuda/record/operator.h"
#include "ops/color/lookup_table/bytes.h"
#include "rows/map_stage.h"

namespace ps {

class LookupTable : public RowOperator, public StageOperator {
 public:
  explicit LookupTable(const Spec& s) : dtype_(s.dtype("dtype")), device_id_(s.device_id) {
    const ArgValue *keys = s.find("keys"), *values = s.find("values");
    const size_t count = keys && values ? keys->integers.size() : 0;
    if (count && values->numbers.size() != count) fail(ErrorKind::argument, "keys and values are not equally many");
    for (size_t i = 0; i < count; i++)
      if (keys->integers[i] < 0 || keys->integers[i] >= kMostEntries)
        fail(ErrorKind::argument, "keys: " + std::to_string(keys->integers[i]) + " is no place in a table");
    size_ = 256;                                     // so that no byte is beyond it
    for (size_t i = 0; i < count; i++) size_ = std::max(size_, uint32_t(keys->integers[i]) + 1);
    std::vector<float> table(size_ + 1, float(s.number("default_value")));
    for (size_t i = 0; i < count; i++) table[size_t(keys->integers[i])] = float(values->numbers[i]);
    table_.resize(table.size() * size_of(dtype_));
    converter(DType::f32, dtype_)(table.data(), table_.data(), table.size());
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    out.dtype = dtype_;
    out.shape = in.shape;
    out.layout = in.layout;
    if (in.dtype == DType::boolean || is_float(in.dtype) || size_of(in.dtype) == 0)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected integers");
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    loop(in.dtype)(table_.data(), size_, in.data, out.data, size_t(in.shape.volume()));
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
    stage.table = table_.data();
    stage.size = size_;
    stage.loop = loop(stage.in.dtype);
    return &stage;
  }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  Misfit stage_misfit(const Context&) const override { return fits; }
  Functor stage(const Context&) const override {
    return PS_FUNCTOR_TEMPLATE(LookupTable, "color/lookup_table.h", uint8_t).of(gpu::cpp_type(dtype_));
  }
  void fill_stage(const Context&, void* functor) const override {
    *static_cast<device::LookupTable<uint8_t>*>(functor) = on_gpu();
  }
  bool one_to_one() const override { return true; }
  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Job = device::LookUpElements<uint8_t, uint8_t>;          // of any types the same fields
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + gpu::cpp_type(dtype_);
    r.elements(PS_FUNCTOR_TEMPLATE(LookUpElements, "color/lookup_table.h", uint8_t, uint8_t).of(types),
               [&](const Context& c, void* job) {
                 *static_cast<Job*>(job) = {c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(), on_gpu()};
                 return c.in(0).shape.volume();
               });
  }

 private:
  static constexpr int64_t kMostEntries = 1 << 16;
  using Loop = void (*)(const uint8_t* table, uint32_t size, const void* from, void* to, size_t n);

  struct Stage : MapStage {
    const uint8_t* table = nullptr;
    uint32_t size = 0;
    Loop loop = nullptr;

    void map(const void* from, void* to, size_t pixels) override {
      loop(table, size, from, to, pixels * size_t(out.channels));
    }
  };
  struct ThreadState : State {
    Stage stage;
  };

  device::LookupTable<uint8_t> on_gpu() const { return {resident_.address(device_id_, table_), size_}; }

  // Entries only move, so their size is all that counts.
  Loop loop(DType in) const {
    return visit(in, [&](auto from) {
      return visit_size(size_of(dtype_), [](auto to) -> Loop { return look_up<typename decltype(from)::type,
                                                                               typename decltype(to)::type>; });
    });
  }
  template <class In, class Out>
  static void look_up(const uint8_t* table, uint32_t size, const void* from, void* to, size_t n) {
    const In* __restrict in = static_cast<const In*>(from);
    Out* __restrict out = static_cast<Out*>(to);
    const Out* __restrict entries = reinterpret_cast<const Out*>(table);
    if constexpr (std::is_same_v<In, uint8_t>) {
      size_t i = 0;
      if constexpr (sizeof(Out) == 1) i = look_up_bytes(entries, in, out, n);
      for (; i < n; i++) out[i] = entries[in[i]];
    } else if constexpr (!detail::is_real<In>) {
      const device::LookupTable<Out> found{entries, size};
      for (size_t i = 0; i < n; i++) out[i] = found(in[i]);
    }
  }

  DType dtype_;
  int device_id_;
  uint32_t size_;
  std::vector<uint8_t> table_;                       // entries of the output's type
  gpu::Resident resident_;
};

PS_OPERATOR("lookup_table", LookupTable)

}  // namespace ps

