// Operators of one's own in C++17: a thin wrapper over the C structs of operator.h. What is thrown in functions of
// one's own becomes the error that the pipeline raises: std::invalid_argument where a sample or an argument is not what
// the operator takes (InputError), std::bad_alloc (OutOfMemoryError), anything else (OperatorError).
//
// See docs/custom-operators.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/operator.h"

// Nothing here is seen outside of the library: two may have classes of one name.
#pragma GCC visibility push(hidden)

namespace penstock {

// Types of elements.
enum class DType : int32_t {
  none = PENSTOCK_NO_TYPE, uint8 = PENSTOCK_UINT8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32,
  float64, boolean
};
struct Half { uint16_t bits; };        // as it lies in memory

template <class T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  else if constexpr (std::is_same_v<T, Half>) return DType::float16;
  else if constexpr (std::is_same_v<T, float>) return DType::float32;
  else if constexpr (std::is_same_v<T, double>) return DType::float64;
  else {
    static_assert(std::is_integral_v<T>, "no tensor has elements of this type");
    constexpr int power = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return DType((std::is_signed_v<T> ? int(PENSTOCK_INT8) : int(PENSTOCK_UINT8)) + power);
  }
}

inline const char* name_of(DType t) {
  static const char* const names[] = {"UINT8", "UINT16", "UINT32", "UINT64", "INT8",    "INT16",
                                      "INT32", "INT64",  "FLOAT16", "FLOAT", "FLOAT64", "BOOL"};
  return int(t) >= 0 && int(t) < 12 ? names[int(t)] : "NO_TYPE";
}

// Calls f(T()) with the type of the elements: visit(t.dtype(), [&](auto zero) { using T = decltype(zero); ... }).
template <class F> decltype(auto) visit(DType t, F&& f) {
  switch (t) {
    case DType::uint8: return f(uint8_t());
    case DType::uint16: return f(uint16_t());
    case DType::uint32: return f(uint32_t());
    case DType::uint64: return f(uint64_t());
    case DType::int8: return f(int8_t());
    case DType::int16: return f(int16_t());
    case DType::int32: return f(int32_t());
    case DType::int64: return f(int64_t());
    case DType::float16: return f(Half());
    case DType::float32: return f(float());
    case DType::float64: return f(double());
    case DType::boolean: return f(bool());
    default: throw std::invalid_argument("there are no elements of this type");
  }
}

// An error about one sample of a batch on a GPU.
struct SampleError : std::runtime_error {
  int sample;
  SampleError(int number, const std::string& what) : std::runtime_error(what), sample(number) {}
};

// One sample of an input or output.
class Tensor {
 public:
  explicit Tensor(penstock_tensor* t) : t_(t) {}
  DType dtype() const { return DType(t_->dtype); }
  int ndim() const { return t_->ndim; }
  int64_t shape(int axis) const {
    if (axis < 0 || axis >= t_->ndim) throw std::invalid_argument("there is no axis " + std::to_string(axis));
    return t_->shape[axis];
  }
  std::string_view layout() const { return {t_->layout, strnlen(t_->layout, sizeof t_->layout)}; }
  const char* source() const { return t_->source; }
  int64_t volume() const {
    int64_t n = 1;
    for (int i = 0; i < t_->ndim; i++) n *= t_->shape[i];
    return n;
  }
  // The elements, if they are of this type. Null in setup(), but for inputs that it reads.
  template <class T> T* data() const {
    if (dtype() != dtype_of<std::remove_const_t<T>>())
      throw std::invalid_argument(std::string("the elements are of type ") + name_of(dtype()) + ", expected " +
                                  name_of(dtype_of<std::remove_const_t<T>>()));
    return static_cast<T*>(t_->data);
  }
  void* raw() const { return t_->data; }

  // Of outputs, in setup().
  void like(const Tensor& other) const {
    t_->dtype = other.t_->dtype;
    t_->ndim = other.t_->ndim;
    std::copy(other.t_->shape, other.t_->shape + PENSTOCK_MAX_DIMS, t_->shape);
    std::copy(other.t_->layout, other.t_->layout + sizeof t_->layout, t_->layout);
  }
  void set_dtype(DType t) const { t_->dtype = int32_t(t); }
  void set_shape(const std::vector<int64_t>& extents, std::string_view layout = "") const {
    if (extents.size() > PENSTOCK_MAX_DIMS || layout.size() >= sizeof t_->layout)
      throw std::runtime_error("a tensor has at most 12 axes");
    t_->ndim = int32_t(extents.size());
    std::copy(extents.begin(), extents.end(), t_->shape);
    std::memset(t_->layout, 0, sizeof t_->layout);
    std::copy(layout.begin(), layout.end(), t_->layout);
  }

 private:
  penstock_tensor* t_;
};

// Values of arguments by their names: those of a sample, or the constant ones where an operator is made.
class Arguments {
 public:
  Arguments(const penstock_value* const* values, int n) : values_(values), n_(n) {}
  bool given(std::string_view name) const { return find(name).given; }
  bool flag(std::string_view name) const { return integer(name) != 0; }
  int64_t integer(std::string_view name) const { return one(name, find(name).integers); }
  double number(std::string_view name) const { return one(name, find(name).numbers); }
  std::string text(std::string_view name) const { return one(name, find(name).strings); }
  DType dtype(std::string_view name) const { return DType(integer(name)); }
  std::vector<int64_t> integers(std::string_view name) const { return all<int64_t>(name, find(name).integers); }
  std::vector<double> numbers(std::string_view name) const { return all<double>(name, find(name).numbers); }
  std::vector<std::string> texts(std::string_view name) const { return all<std::string>(name, find(name).strings); }

 private:
  const penstock_value& find(std::string_view name) const {
    for (int i = 0; i < n_; i++)
      if (name == values_[i]->name) return *values_[i];
    throw std::logic_error("the operator declares no argument '" + std::string(name) + "'");
  }
  template <class V> V one(std::string_view name, const V* values) const {
    const penstock_value& v = find(name);
    if (v.count < 1 || !values) missing(name, v);
    return values[0];
  }
  template <class T, class V> std::vector<T> all(std::string_view name, const V* values) const {
    const penstock_value& v = find(name);
    if (!v.given || v.count < 0 || (v.count && !values)) missing(name, v);
    return std::vector<T>(values, values + v.count);
  }
  [[noreturn]] static void missing(std::string_view name, const penstock_value& v) {
    const char* problem = !v.given      ? "' is not given"
                          : v.count < 0 ? "' has a value for each sample"
                                        : "' is of another kind";
    throw std::invalid_argument("the argument '" + std::string(name) + problem);
  }
  const penstock_value* const* values_;
  int n_;
};

// One sample on its way through an operator.
class Sample : public Arguments {
 public:
  explicit Sample(const penstock_sample& s) : Arguments(s.arguments, s.num_arguments), s_(s) {}
  int index() const { return s_.index; }             // its place in the batch
  int64_t id() const { return s_.id; }               // its number in the data set
  int64_t epoch() const { return s_.epoch; }
  uint64_t random() const { return s_.random; }      // a seed for its random numbers
  int num_inputs() const { return s_.num_inputs; }
  int num_outputs() const { return s_.num_outputs; }
  Tensor input(int i) const {
    if (i < 0 || i >= s_.num_inputs) throw std::invalid_argument("there is no input " + std::to_string(i));
    return Tensor(const_cast<penstock_tensor*>(s_.inputs[i]));
  }
  Tensor output(int i) const {
    if (i < 0 || i >= s_.num_outputs) throw std::logic_error("there is no output " + std::to_string(i));
    return Tensor(s_.outputs[i]);
  }
  // What setup() writes for run(): as much as Declaration::params() says.
  template <class P> P& params() const { return *static_cast<P*>(s_.params); }
  // Memory until the call returns.
  template <class T> T* scratch(int64_t n) const {
    void* memory = s_.scratch ? s_.scratch(&s_, uint64_t(n) * sizeof(T)) : nullptr;
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }

 private:
  const penstock_sample& s_;
};

// A batch on a GPU, whose context is current. All work goes into the stream.
class Batch {
 public:
  explicit Batch(const penstock_batch& b) : b_(b) {}
  int size() const { return b_.num_samples; }
  Sample operator[](int i) const { return Sample(*b_.samples[i]); }
  int device() const { return b_.device; }
  template <class S = void*> S stream() const { return static_cast<S>(b_.stream); }   // as a cudaStream_t, say
  // Memory of the GPU until that has done the batch's work.
  template <class T> T* scratch(int64_t n) const {
    void* memory = b_.scratch(&b_, uint64_t(n) * sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }

 private:
  const penstock_batch& b_;
};

// What an argument may be, besides a constant that may be left out.
enum : uint32_t { per_sample = PENSTOCK_PER_SAMPLE };

// What an operator is called and takes. Its strings end up in the library's table.
class Declaration {
 public:
  // The name in `fn`, with dots for groups, and the docstring.
  Declaration(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}
  Declaration& inputs(int n) { return inputs(n, n); }
  Declaration& inputs(int least, int most) { return least_ = least, most_ = most, *this; }
  Declaration& outputs(int n) { return outputs_ = n, *this; }
  Declaration& random() { return flags_ |= PENSTOCK_RANDOM, *this; }
  Declaration& setup_reads(int input) { return reads_ |= uint64_t(1) << input, *this; }
  Declaration& cpu_input(int input) { return cpu_ |= uint64_t(1) << input, *this; }
  template <class P> Declaration& params() {         // of each sample, see Sample::params()
    static_assert(std::is_trivially_copyable_v<P>, "the library copies parameters byte by byte");
    return params_ = sizeof(P), *this;
  }
  // T: bool, int64_t, double, std::string, DType, or a vector of int64_t, double or std::string.
  template <class T>
  Declaration& argument(const std::string& name, const std::string& doc, T value, uint32_t flags = 0) {
    add<T>(name, doc, flags).set(value);
    return *this;
  }
  template <class T> Declaration& required(const std::string& name, const std::string& doc, uint32_t flags = 0) {
    add<T>(name, doc, flags | PENSTOCK_REQUIRED);
    return *this;
  }
  template <class T> Declaration& optional(const std::string& name, const std::string& doc, uint32_t flags = 0) {
    add<T>(name, doc, flags);                        // None unless given: Arguments::given()
    return *this;
  }

  // Pointers into this object, which must stay where it is.
  penstock_operator c_struct() {
    for (Entry& e : entries_) e.finish();
    for (Entry& e : entries_) pointers_.push_back(&e.c);
    penstock_operator op{};
    op.size = sizeof op;
    op.name = name_.c_str();
    op.doc = doc_.c_str();
    op.flags = flags_;
    op.least_inputs = least_;
    op.most_inputs = most_;
    op.num_outputs = outputs_;
    op.num_arguments = int32_t(pointers_.size());
    op.params_bytes = uint32_t(params_);
    op.arguments = pointers_.data();
    op.setup_reads = reads_;
    op.cpu_inputs = cpu_;
    return op;
  }

 private:
  struct Entry {
    std::string name, doc;
    std::vector<int64_t> integers;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    std::vector<const char*> pointers;
    penstock_value value{};
    penstock_argument c{};
    bool has_default = false;

    void set(bool v) { put(integers, {int64_t(v)}); }
    void set(int64_t v) { put(integers, {v}); }
    void set(double v) { put(numbers, {v}); }
    void set(DType v) { put(integers, {int64_t(v)}); }
    void set(const std::string& v) { put(texts, {v}); }
    void set(const std::vector<int64_t>& v) { put(integers, v); }
    void set(const std::vector<double>& v) { put(numbers, v); }
    void set(const std::vector<std::string>& v) { put(texts, v); }
    template <class V> void put(std::vector<V>& to, std::vector<V> v) { to = std::move(v), has_default = true; }

    void finish() {
      for (const std::string& text : texts) pointers.push_back(text.c_str());
      value.size = sizeof value;
      value.given = 1;
      value.name = name.c_str();
      value.count = int64_t(std::max({integers.size(), numbers.size(), texts.size()}));
      value.integers = integers.data();
      value.numbers = numbers.data();
      value.strings = pointers.data();
      c.size = sizeof c;
      c.name = name.c_str();
      c.doc = doc.c_str();
      c.default_value = has_default ? &value : nullptr;
    }
  };

  template <class T> static constexpr int32_t kind() {
    if constexpr (std::is_same_v<T, bool>) return PENSTOCK_BOOLEAN;
    else if constexpr (std::is_same_v<T, int64_t>) return PENSTOCK_INTEGER;
    else if constexpr (std::is_same_v<T, double>) return PENSTOCK_NUMBER;
    else if constexpr (std::is_same_v<T, std::string>) return PENSTOCK_STRING;
    else if constexpr (std::is_same_v<T, DType>) return PENSTOCK_DTYPE;
    else if constexpr (std::is_same_v<T, std::vector<int64_t>>) return PENSTOCK_INTEGERS;
    else if constexpr (std::is_same_v<T, std::vector<double>>) return PENSTOCK_NUMBERS;
    else {
      static_assert(std::is_same_v<T, std::vector<std::string>>, "no argument is of this type");
      return PENSTOCK_STRINGS;
    }
  }
  template <class T> Entry& add(const std::string& name, const std::string& doc, uint32_t flags) {
    Entry& e = entries_.emplace_back();
    e.name = name;
    e.doc = doc;
    e.c.kind = kind<T>();
    e.c.flags = flags;
    return e;
  }

  std::string name_, doc_;
  int least_ = 1, most_ = 1, outputs_ = 1;
  uint32_t flags_ = 0;
  size_t params_ = 0;
  uint64_t reads_ = 0, cpu_ = 0;
  std::deque<Entry> entries_;
  std::vector<const penstock_argument*> pointers_;
};

}  // namespace penstock

#pragma GCC visibility pop

#include "penstock/table.hpp"
