#include "ops/custom/sample.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace ps::custom {
namespace {

bool one_value(int32_t kind) { return kind == PENSTOCK_BOOLEAN || kind == PENSTOCK_INTEGER || kind == PENSTOCK_NUMBER; }

template <class T> void show_numbers(const std::vector<T>& from, const T*& to, penstock_value& value) {
  value.count = int64_t(from.size());
  to = from.data();
}

void* scratch(const penstock_sample* sample, uint64_t bytes) {
  if (bytes > Tensor::kTooManyBytes) return nullptr;
  try {
    return static_cast<Arena*>(sample->context)->take(std::max<size_t>(bytes, 1));
  } catch (const std::exception&) {
    return nullptr;
  }
}

void show(const Tensor& from, bool elements, penstock_tensor& to) {
  to = {};
  to.size = sizeof to;
  to.dtype = int32_t(from.dtype);
  to.ndim = from.shape.ndim;
  std::copy(from.shape.dims, from.shape.dims + from.shape.ndim, to.shape);
  std::memcpy(to.layout, from.layout.axes, sizeof from.layout.axes);
  to.data = elements ? from.data : nullptr;
  to.source = from.source;
}

}  // namespace

Arguments::Arguments(const Spec& spec, const penstock_operator& op) : op_(op) {
  const auto count = size_t(op.num_arguments);
  given_.resize(count);
  strings_.resize(count);
  for (size_t i = 0; i < count; i++) {
    const ArgValue* v = spec.find(op.arguments[i]->name);
    penstock_value value{};
    value.size = sizeof value;
    value.name = op.arguments[i]->name;
    value.given = v != nullptr;
    if (v) given_[i] = *v;
    for (const std::string& text : given_[i].strings) strings_[i].push_back(text.c_str());
    inputs_.push_back(given_[i].input);
    if (given_[i].input >= 0) value.count = -1;
    else if (!strings_[i].empty()) value.count = int64_t(strings_[i].size()), value.strings = strings_[i].data();
    else if (of_integers(i)) show_numbers(given_[i].integers, value.integers, value);
    else show_numbers(given_[i].numbers, value.numbers, value);
    constant_.push_back(value);
  }
}

bool Arguments::of_integers(size_t i) const {
  switch (op_.arguments[i]->kind) {
    case PENSTOCK_BOOLEAN: case PENSTOCK_INTEGER: case PENSTOCK_INTEGERS: case PENSTOCK_DTYPE: return true;
    default: return false;
  }
}

void SampleView::fill(const Context& c, const penstock_operator& op, const Arguments& arguments, uint64_t elements,
                      bool outputs) {
  const auto inputs = size_t(c.num_inputs), all = inputs + size_t(c.num_outputs);
  tensors_.resize(all);
  tensor_at_.resize(all);
  for (size_t i = 0; i < all; i++) {
    const bool input = i < inputs;
    show(input ? c.in(int(i)) : c.out(int(i - inputs)), input ? i < 64 && elements >> i & 1 : outputs, tensors_[i]);
    tensor_at_[i] = &tensors_[i];
  }
  values_ = arguments.constant();
  value_at_.resize(values_.size());
  integers_.resize(values_.size());
  numbers_.resize(values_.size());
  for (size_t i = 0; i < values_.size(); i++) {
    value_at_[i] = &values_[i];
    if (arguments.input(i) >= 0) {
      fill_argument(c, arguments, i);
      if (one_value(op.arguments[i]->kind) && values_[i].count != 1)
        fail(ErrorKind::argument, std::string(values_[i].name) + ": expected one value for each sample, got " +
                                      std::to_string(values_[i].count));
    }
  }
  sample_.size = sizeof sample_;
  sample_.index = c.index;
  sample_.batch = c.batch;
  sample_.num_inputs = c.num_inputs;
  sample_.num_outputs = c.num_outputs;
  sample_.num_arguments = op.num_arguments;
  sample_.id = c.id;
  sample_.epoch = c.epoch;
  sample_.random = op.flags & PENSTOCK_RANDOM ? c.random().next64() : 0;
  sample_.inputs = tensor_at_.data();
  sample_.outputs = tensor_at_.data() + inputs;
  sample_.arguments = value_at_.data();
  sample_.params = c.params;
  sample_.scratch = c.scratch ? scratch : nullptr;
  sample_.context = c.scratch;
}

void SampleView::fill_argument(const Context& c, const Arguments& arguments, size_t i) {
  const Tensor& t = *c.args[arguments.input(i)];
  penstock_value& value = values_[i];
  const int64_t n = t.shape.volume();
  value.count = n;
  if (arguments.of_integers(i)) {
    integers_[i].resize(size_t(n));
    for (int64_t k = 0; k < n; k++) integers_[i][size_t(k)] = element_i64(t, k, value.name);
    value.integers = integers_[i].data();
  } else {
    numbers_[i].resize(size_t(n));
    for (int64_t k = 0; k < n; k++) numbers_[i][size_t(k)] = element(t, k, value.name);
    value.numbers = numbers_[i].data();
  }
}

void SampleView::take_outputs(const Context& c) const {
  for (int k = 0; k < c.num_outputs; k++) {
    const penstock_tensor& from = *sample_.outputs[k];
    const auto refuse = [&](const std::string& problem) {
      fail(ErrorKind::internal, "its setup() gives output " + std::to_string(k) + " " + problem);
    };
    if (from.ndim < 0 || from.ndim > kMaxDims)
      refuse(std::to_string(from.ndim) + " axes: 0 to " + std::to_string(kMaxDims) + " can be");
    Tensor t;
    t.dtype = DType(from.dtype);
    t.shape.ndim = from.ndim;
    std::copy(from.shape, from.shape + from.ndim, t.shape.dims);
    if (!size_of(t.dtype)) refuse("the type " + std::to_string(from.dtype) + ": no tensor has that");
    if (!t.is_sound()) refuse("the shape " + to_string(t.shape) + ": there can be no such tensor");
    const size_t letters = strnlen(from.layout, sizeof from.layout);
    const std::string_view layout(from.layout, letters);
    if (letters && letters != size_t(from.ndim))
      refuse("the layout '" + std::string(layout) + "' and " + std::to_string(from.ndim) + " axes");
    Tensor& out = c.out(k);
    out.dtype = t.dtype;
    out.shape = t.shape;
    out.layout = Layout(layout);
  }
}

void check_result(const char* function, int result, penstock_error& error, int samples) {
  error.text[sizeof error.text - 1] = 0;
  std::string text = error.text;
  if (text.empty()) text = std::string("its ") + function + "() has failed, and does not say why";
  const ErrorKind kind = result == PENSTOCK_WRONG_INPUT ? ErrorKind::argument
                         : result == PENSTOCK_NO_MEMORY ? ErrorKind::memory
                                                        : ErrorKind::internal;
  throw Error(kind, text, error.sample >= 0 && error.sample < samples ? error.sample : -1);
}

void fail_thrown(const char* function) {
  std::string text = "an exception comes out of its " + std::string(function) + "()";
  try {
    throw;
  } catch (const std::exception& e) {
    text += std::string(": ") + e.what();
  } catch (...) {
    text += ", and is no std::exception";
  }
  fail(ErrorKind::internal, text);
}

}  // namespace ps::custom
