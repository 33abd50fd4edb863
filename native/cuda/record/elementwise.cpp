#include "cuda/record/elementwise.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/converter.h"
#include "cuda/record/picture.h"
#include "device/tensor/elementwise.h"

namespace ps::gpu {
namespace {

using device::kMaxNumbers;

// By axis of a result of this shape; 0 where an operand is broadcast.
void find_strides(const Shape& own, const Shape& result, int64_t* stride) {
  int64_t step = 1;
  for (int i = result.ndim - 1, k = own.ndim - 1; i >= 0; i--, k--) {
    const bool broadcast = k < 0 || own[k] == 1;
    stride[i] = broadcast ? 0 : step;
    if (!broadcast) step *= own[k];
  }
}

// The axes of a result, merged where all operands permit it; innermost first.
struct Groups {
  int count = 0;
  int64_t extent[kMaxDims] = {}, stride[ElementwiseCall::kMaxOperands][kMaxDims] = {};

  Groups(const Shape& result, const ElementwiseCall& call) {
    int64_t step[ElementwiseCall::kMaxOperands][kMaxDims];
    for (int k = 0; k < call.count; k++) find_strides(call.operands[k].tensor->shape, result, step[k]);
    for (int i = result.ndim; i-- > 0;) {
      if (result[i] == 1) continue;
      bool merged = count > 0;
      for (int k = 0; k < call.count && merged; k++) merged = step[k][i] == stride[k][count - 1] * extent[count - 1];
      if (merged) {
        extent[count - 1] *= result[i];
        continue;
      }
      extent[count] = result[i];
      for (int k = 0; k < call.count; k++) stride[k][count] = step[k][i];
      count++;
    }
  }
};

// Element i of a tensor on the host, as the type in which it takes part: integers of the same size keep their bits.
device::NumberBits number(const ElementwiseOperand& o, int64_t i) {
  device::NumberBits bits{};
  const DType from = o.tensor->dtype, to = o.compute;
  const auto* p = o.tensor->as<uint8_t>() + size_t(i) * size_of(from);
  const bool keep = !is_float(from) && !is_float(to) && to != DType::boolean && size_of(from) == size_of(to);
  if (keep) std::memcpy(bits.bytes, p, size_of(from));
  else converter(from, to)(p, bits.bytes, 1);
  return bits;
}

bool is_number(const ElementwiseOperand& o) { return o.on_host && o.tensor->shape.volume() == 1; }

constexpr const char* kHeader = "device/tensor/elementwise.h";

std::string number_type(const ElementwiseOperand& o) {
  return PS_DEVICE_TEMPLATE(Number, float).of(cpp_type(o.compute));
}
std::string stored_type(const ElementwiseOperand& o) {
  return PS_DEVICE_TEMPLATE(Stored, float, float).of(cpp_type(o.tensor->dtype) + ", " + cpp_type(o.compute));
}

// Operands that are arrays on the host, copied for the whole batch at once; the same array for all samples only once.
class HostArrays {
 public:
  void add(const Tensor& t) {
    if (!t.bytes()) return;                          // it has no readers, and another may have its address
    if (!offset_.try_emplace(t.data, bytes_.size()).second) return;
    bytes_.resize(bytes_.size() + (t.bytes() + 15) / 16 * 16);
    std::memcpy(bytes_.data() + offset_[t.data], t.data, t.bytes());
  }
  void copy(Recorder& r) {
    if (!bytes_.empty()) there_ = static_cast<const uint8_t*>(r.constant(bytes_.data(), bytes_.size()));
  }
  const void* operator[](const Tensor& t) const { return there_ + offset_.at(t.data); }

 private:
  std::map<const void*, size_t> offset_;
  std::vector<uint8_t> bytes_;
  const uint8_t* there_ = nullptr;
};

template <int G, int N> int64_t fill(const Context& c, const ElementwiseCall& call, const bool* numbers,
                                     const HostArrays& arrays, void* functor) {
  const Tensor& out = c.out(0);
  const Groups groups(out.shape, call);
  device::ElementwiseFields<G, N> f{};
  f.out = out.data;
  f.count = out.shape.volume();
  if (!f.count) return 0;
  for (int g = 0; g < G; g++) f.extent[G - 1 - g] = g < groups.count ? groups.extent[g] : 1;
  for (int k = 0; k < N; k++) {
    const ElementwiseOperand& o = call.operands[k];
    if (numbers[k]) {
      f.operand[k].number = number(o, 0);
      continue;
    }
    f.operand[k].data = o.on_host ? arrays[*o.tensor] : o.tensor->data;
    for (int g = 0; g < groups.count; g++) f.operand[k].stride[G - 1 - g] = groups.stride[k][g];
  }
  std::memcpy(functor, &f, sizeof f);
  return (f.count + device::kPacket - 1) / device::kPacket;
}

using Fill = int64_t (*)(const Context&, const ElementwiseCall&, const bool*, const HostArrays&, void*);
struct Filler {
  int groups;
  size_t bytes, align;
  Fill fill;
};

template <int N> Filler filler(int groups) {
  const auto of = [](auto g) {
    constexpr int G = decltype(g)::value;
    using Fields = device::ElementwiseFields<G, N>;
    return Filler{G, sizeof(Fields), alignof(Fields), fill<G, N>};
  };
  if (groups <= 1) return of(std::integral_constant<int, 1>());
  if (groups <= 2) return of(std::integral_constant<int, 2>());
  if (groups <= 4) return of(std::integral_constant<int, 4>());
  return of(std::integral_constant<int, kMaxDims>());
}

}  // namespace

void record_elementwise(Recorder& r, const std::function<ElementwiseCall(const Context&)>& call) {
  if (!r.size()) return;
  const ElementwiseCall first = call(r[0]);
  bool numbers[ElementwiseCall::kMaxOperands] = {true, true, true}, large = false;
  int groups = 1;
  for (int i = 0; i < r.size(); i++) {
    const ElementwiseCall each = call(r[i]);
    groups = std::max(groups, Groups(r[i].out(0).shape, each).count);
    large |= r[i].out(0).shape.volume() >= INT32_MAX;
    for (int k = 0; k < each.count; k++) {
      numbers[k] = numbers[k] && is_number(each.operands[k]);
      if (each.operands[k].tensor->dtype != first.operands[k].tensor->dtype)
        fail(ErrorKind::type, "the samples of a batch on the GPU must have one type");
    }
  }
  HostArrays arrays;
  for (int i = 0; i < r.size(); i++) {
    const ElementwiseCall each = call(r[i]);
    for (int k = 0; k < each.count; k++)
      if (each.operands[k].on_host && !numbers[k]) arrays.add(*each.operands[k].tensor);
  }
  arrays.copy(r);
  const Filler filler = first.count == 1   ? gpu::filler<1>(groups)
                        : first.count == 2 ? gpu::filler<2>(groups)
                                           : gpu::filler<3>(groups);
  std::string types = first.function + ", " + cpp_type(r[0].out(0).dtype) +
                      (large ? ", uint64_t, " : ", uint32_t, ") + std::to_string(filler.groups);
  for (int k = 0; k < first.count; k++)
    types += ", " + (numbers[k] ? number_type(first.operands[k]) : stored_type(first.operands[k]));
  const auto type = PS_DEVICE_TEMPLATE(Elementwise, device::None, float, uint32_t, 1, device::Number<float>);
  r.elements({type.of(types), kHeader, filler.bytes, filler.align},
             [&](const Context& c, void* to) { return filler.fill(c, call(c), numbers, arrays, to); });
}

Misfit elementwise_misfit(const Context& c, const ElementwiseCall& call, int above) {
  constexpr Misfit many = "an operand on the host has many elements";
  const Tensor& out = c.out(0);
  if (!(call.operands[above].tensor->shape == out.shape)) return misfit::broadcast;
  const auto pictures = pictures_of(out);
  if (!pictures) return misfit::no_pictures;
  for (int k = 0; k < call.count; k++) {
    if (k == above) continue;
    int64_t stride[kMaxDims];
    find_strides(call.operands[k].tensor->shape, out.shape, stride);
    for (int i = 0; i < out.shape.ndim; i++) {
      if (!stride[i] || out.shape[i] == 1 || i == pictures->c_axis) continue;
      if (call.operands[k].on_host) return many;
      if (i != pictures->x_axis && i != pictures->y_axis) return "an operand differs between frames";
    }
    if (call.operands[k].on_host && call.operands[k].tensor->shape.volume() > kMaxNumbers) return many;
  }
  return fits;
}

Functor elementwise_stage(const Context& c, const ElementwiseCall& call, int above) {
  std::string types = call.function + ", " + cpp_type(c.out(0).dtype);
  for (int k = 0; k < call.count; k++) {
    const ElementwiseOperand& o = call.operands[k];
    types += ", ";
    if (k == above) types += PS_DEVICE_TEMPLATE(Above, float).of(cpp_type(o.compute));
    else types += (o.on_host ? number_type(o) : stored_type(o));
  }
  static constexpr size_t bytes[] = {sizeof(device::StageFields<0>), sizeof(device::StageFields<1>),
                                     sizeof(device::StageFields<2>)};
  static constexpr size_t align[] = {alignof(device::StageFields<0>), alignof(device::StageFields<1>),
                                     alignof(device::StageFields<2>)};
  const auto type = PS_DEVICE_TEMPLATE(ElementwiseStage, device::None, float, device::Number<float>);
  return {type.of(types), kHeader, bytes[call.count - 1], align[call.count - 1]};
}

void fill_elementwise_stage(const Context& c, const ElementwiseCall& call, int above, void* functor) {
  const Tensor& out = c.out(0);
  const auto pictures = pictures_of(out);
  auto* at = static_cast<device::StageOperand*>(functor);
  for (int k = 0; k < call.count; k++) {
    if (k == above) continue;
    const ElementwiseOperand& o = call.operands[k];
    device::StageOperand f{};
    int64_t stride[kMaxDims];
    find_strides(o.tensor->shape, out.shape, stride);
    const auto of = [&](int axis) { return axis < 0 ? 0 : int32_t(stride[axis]); };
    if (o.on_host) {
      f.step = of(pictures->c_axis);
      for (int64_t i = 0; i < o.tensor->shape.volume(); i++) f.number[i] = number(o, i);
    } else {
      f.data = o.tensor->data;
      f.stride = {of(pictures->x_axis), of(pictures->y_axis), of(pictures->c_axis), 0};
    }
    std::memcpy(at++, &f, sizeof f);
  }
}

}  // namespace ps::gpu
