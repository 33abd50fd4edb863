// What functions of others' libraries are called with: the C structs of one sample, and errors on their way back.
#pragma once

#include <vector>

#include "core/operator.h"
#include "include/penstock/operator.h"

namespace ps::custom {

// A node's arguments, in the order in which the operator declares them.
class Arguments {
 public:
  Arguments(const Spec& spec, const penstock_operator& op);
  const std::vector<penstock_value>& constant() const { return constant_; }   // those per sample have count -1
  int input(size_t i) const { return inputs_[i]; }                            // that holds argument i, or -1
  size_t size() const { return constant_.size(); }
  bool of_integers(size_t i) const;

 private:
  const penstock_operator& op_;
  std::vector<ArgValue> given_;
  std::vector<std::vector<const char*>> strings_;
  std::vector<penstock_value> constant_;
  std::vector<int> inputs_;
};

// A worker's, or a batch's for each sample: filled in again and again, it takes memory once.
class SampleView : public State {
 public:
  // `elements`: bits of the inputs whose memory is shown. `outputs`: whether theirs is.
  void fill(const Context& c, const penstock_operator& op, const Arguments& arguments, uint64_t elements, bool outputs);
  const penstock_sample& sample() const { return sample_; }
  // What setup() has made of the outputs, if there can be such tensors; an Error that says what is wrong if not.
  void take_outputs(const Context& c) const;

 private:
  void fill_argument(const Context& c, const Arguments& arguments, size_t i);

  penstock_sample sample_{};
  std::vector<penstock_tensor> tensors_;               // inputs, then outputs
  std::vector<penstock_tensor*> tensor_at_;
  std::vector<penstock_value> values_;
  std::vector<const penstock_value*> value_at_;
  std::vector<std::vector<int64_t>> integers_;         // of arguments per sample
  std::vector<std::vector<double>> numbers_;
};

inline constexpr uint64_t kAllInputs = ~uint64_t(0);

// Throws the error that a call reported by its result and in `error`.
void check_result(const char* function, int result, penstock_error& error, int samples);
[[noreturn]] void fail_thrown(const char* function);   // of an exception that comes out of the library

// Calls f(error) of the library. `samples`: of a batch, one of which the error may name.
template <class F> void call(const char* function, F f, int samples = 0) {
  penstock_error error;
  error.size = sizeof error;
  error.sample = -1;
  error.text[0] = 0;
  int result = 0;
  try {
    result = f(&error);
  } catch (...) {
    fail_thrown(function);
  }
  if (result != PENSTOCK_OK) check_result(function, result, error, samples);
}

}  // namespace ps::custom
