// What an operator is to the engine: setup() tells shapes, run() computes. Both see one sample; the engine calls
// them on any thread, for any number of samples at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/memory.h"
#include "core/philox.h"
#include "core/rows.h"
#include "core/table.h"
#include "core/tensor.h"
#include "core/texts.h"

namespace ps {

// What one worker thread keeps for one operator: scratch, tables, a row stage.
struct State {
  virtual ~State() = default;
};

// One operator's view of one sample.
struct Context {
  int index = 0, batch = 1;            // place in the batch, and how many samples that has: of those that are present
  const int* present = nullptr;        // their places among all; null: all are
  int64_t id = 0, epoch = 0;           // which sample of the data set, and how often that has been gone through before
  int64_t first_id = 0, first_epoch = 0;   // of the batch's first sample: for what all samples must draw alike
  uint64_t key = 0;                    // of the operator's random numbers
  const Tensor* const* inputs = nullptr;
  const Tensor* const* args = nullptr; // tensor arguments, in the order that the Spec says
  Tensor* const* outputs = nullptr;
  int num_inputs = 0, num_outputs = 0;
  void* params = nullptr;              // params_size() bytes, written by setup() and read by run()
  State* state = nullptr;              // this worker's, made by make_state()
  size_t params_stride = 0;            // bytes from one sample's to the next one's
  Arena* scratch = nullptr;            // free to use until the call returns
  Arena* lasting = nullptr;            // of setup(): memory until the iteration is done
  Texts* texts = nullptr;              // of setup(): for names of sources that are made up; live as long as the batch

  const Tensor& in(int i) const { return *inputs[i]; }
  Tensor& out(int i) const { return *outputs[i]; }
  template <class P> P& param() const { return *static_cast<P*>(params); }
  // For batchwise operators (run/plan.h): the same of another sample. What its setup() has written, run() may read.
  const Tensor& in(int i, int sample) const { return inputs[i][distance(sample)]; }
  template <class P> const P& param(int sample) const {
    return *reinterpret_cast<const P*>(static_cast<const uint8_t*>(params) + distance(sample) * int64_t(params_stride));
  }
  template <class S> S& st() const { return *static_cast<S*>(state); }
  Philox random() const { return Philox(key, id, epoch); }

 private:
  int64_t distance(int sample) const { return present ? present[sample] - present[index] : sample - index; }
};

// The value of one argument: constants, or which of the node's argument inputs holds it for each sample.
struct ArgValue {
  std::vector<double> numbers;
  std::vector<int64_t> integers;       // the same numbers, where all are whole (a double loses some of 64 bits)
  std::vector<std::string> strings;
  int input = -1;
  Table table = {};
};

// Of any numeric type; errors name the argument that the tensor is.
double element(const Tensor& t, int64_t i, std::string_view name = {});
int64_t element_i64(const Tensor& t, int64_t i, std::string_view name = {});
[[noreturn]] void fail_missing(const std::string& argument, int64_t i);   // value i of it is not there

// An argument with one or several numbers, constant or per sample: of type bool, int, int64_t, float or double.
template <class T>
class Arg {
 public:
  Arg() = default;
  Arg(std::string_view name, const ArgValue* v);
  bool given() const { return given_; }
  bool per_sample() const { return input_ >= 0; }
  int64_t size(const Context& c) const {
    if (!given_) return 0;
    return input_ < 0 ? int64_t(constant_.size()) : c.args[input_]->shape.volume();
  }
  // Of an argument that has one number.
  T get(const Context& c) const;
  T get(const Context& c, int64_t i) const;
  // What holds it, where it is given per sample.
  const Tensor* tensor(const Context& c) const { return input_ < 0 ? nullptr : c.args[input_]; }
  // All numbers; one number stands for n equal ones.
  void list(const Context& c, int64_t n, T* to) const;

 private:
  std::string name_;
  bool given_ = false;
  int input_ = -1;
  std::vector<T> constant_;
};

// A node's arguments by name, as penstock/op.py has declared, checked and completed them: defaults are filled in there,
// and nowhere else. Names are said twice, in Python and here, so they are compared: asking for a name that is not
// declared fails, and so does make_operator() where one is declared that the operator's constructor has not asked for.
class Spec {
 public:
  int num_inputs = 0, num_outputs = 1;
  std::string device = "cpu";            // the node's: "cpu", "gpu" or "mixed"
  int device_id = -1;                    // the pipeline's, where that is not "cpu"

  void declare(std::string name, std::optional<ArgValue> value);   // none: it is not given
  void check_all_read(std::string_view kernel) const;

  const ArgValue* find(std::string_view name) const;  // nullptr: not given
  const ArgValue& get(std::string_view name) const;   // at least one number
  // What follows fails where another kind is given: numbers, a text or a table. Numbers, constant or per sample:
  template <class T> Arg<T> arg(std::string_view name) const { return Arg<T>(name, find(name, Kind::numbers)); }
  // Constants, which must be given.
  bool flag(std::string_view name) const { return integer(name) != 0; }
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  // Constants that stand for themselves where they are not given: no letters, no type, no table.
  std::string string(std::string_view name) const;
  DType dtype(std::string_view name) const;
  Table table(std::string_view name) const;                   // of any type
  Table table(std::string_view name, DType dtype) const;      // of this type and one axis

 private:
  enum class Kind { numbers, text, table };
  const ArgValue* find(std::string_view name, Kind kind) const;

  struct Declared {
    std::optional<ArgValue> value;
    mutable bool read = false;
  };
  std::map<std::string, Declared, std::less<>> declared_;
};

// How many inputs or outputs a node may have.
struct Count {
  int least = 1, most = 1;
  bool has(int n) const { return n >= least && n <= most; }
};
inline constexpr int kMany = 1 << 16;

class Operator {
 public:
  // Who takes others than one hides these. A node has as many, so the inputs up to the least number are there; what
  // more there is, Context::num_inputs says.
  static constexpr Count kInputs{}, kOutputs{};
  virtual ~Operator() = default;
  // Writes dtype, shape and layout of the outputs, and the parameters for run(). May point an output's `data` at
  // memory that outlives the batch (constants); the engine allocates the others. A batchwise alias points it at the
  // input's memory, of whichever sample.
  virtual void setup(const Context& c) const = 0;
  virtual void run(const Context& c) const = 0;
  virtual size_t params_size() const { return 0; }
  // Whether elements of this input are read, or only its type, shape and layout, which are known before.
  virtual bool reads_elements([[maybe_unused]] int input) const { return true; }
  virtual std::unique_ptr<State> make_state() const { return nullptr; }
};

// What keeps a sample from going the fused way, for users to read: texts that stay as long as the program runs.
using Misfit = const char*;
inline constexpr Misfit fits = nullptr;
namespace misfit {
inline constexpr Misfit no_picture = "the input is not one picture (height, width, channels)";
inline constexpr Misfit no_pictures = "the input has no height and width next to each other";
inline constexpr Misfit no_pixels = "there are no pixels";
inline constexpr Misfit broadcast = "the result has another shape than the picture";
inline constexpr Misfit outside = "the window reaches beyond the input";
}  // namespace misfit

// An operator whose work on pictures can be a stage of a row pipeline (see core/rows.h). It runs so alone too,
// which is why fused and unfused results are the same; run() is for what rows do not fit.
class RowOperator : public Operator {
 public:
  // After setup(): why this sample, with its layout, type and parameters, cannot be processed row by row; or `fits`.
  virtual Misfit rows_misfit(const Context& c) const = 0;
  // Sets the worker's stage (it lives in c.state) up for this sample, `in` and `out` too. Pictures inside a pipeline
  // have no memory: only shapes may be looked at, but the output's memory where stores() is true.
  virtual RowStage* begin(const Context& c) const = 0;
  virtual RowFormat format(const Tensor& t) const;      // of interleaved pictures: the last three axes are H, W, C
  // True: the stage writes the output tensor by itself (other layouts than interleaved), and ends the pipeline.
  virtual bool stores() const { return false; }
};

// An operator that gives the rows of a picture: a decoder.
class SourceOperator : public Operator {
 public:
  virtual void produce(const Context& c, const Window& window, RowSink& sink) const = 0;
  void run(const Context& c) const override;            // the whole picture into the output
};

using Factory = std::unique_ptr<Operator> (*)(const Spec&);
bool add_operator(const char* name, Factory make, Count inputs, Count outputs);
std::unique_ptr<Operator> make_operator(std::string_view name, const Spec& spec);

// In an operator's unit: PS_OPERATOR("crop", Crop), Crop being constructible from a Spec.
#define PS_OPERATOR(name, Class)                                                                             \
  namespace {                                                                                                \
  [[maybe_unused]] const bool ps_registered_##Class = ::ps::add_operator(                                    \
      name, [](const ::ps::Spec& s) -> std::unique_ptr<::ps::Operator> { return std::make_unique<Class>(s); }, \
      Class::kInputs, Class::kOutputs);                                                                      \
  }

}  // namespace ps
