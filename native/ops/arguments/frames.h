// Arguments that may have a value for each frame: their tensors begin with an axis F, as those of fn.per_frame do.
#pragma once

#include <string>

#include "core/operator.h"

namespace ps {

inline bool has_frames(const Tensor* t) { return t && t->layout.axes[0] == 'F' && t->shape.ndim > 0; }
// One frame's values are for all.
inline bool differs_by_frame(const Tensor* t) { return has_frames(t) && t->shape[0] != 1; }

class FrameArg {
 public:
  FrameArg(const Spec& s, const char* name) : arg_(s.arg<float>(name)), name_(name) {}

  bool given() const { return arg_.given(); }
  // How many frames have values; -1: all have the same.
  int64_t frames(const Context& c) const {
    const Tensor* t = arg_.tensor(c);
    return differs_by_frame(t) ? t->shape[0] : -1;
  }
  bool has_frames(const Context& c) const { return ps::has_frames(arg_.tensor(c)); }
  // How many values a frame has.
  int64_t size(const Context& c) const {
    const int64_t n = frames(c), all = arg_.size(c);
    return n < 0 ? all : n == 0 ? 0 : all / n;
  }
  float get(const Context& c, int64_t frame, int64_t i = 0) const {
    return arg_.get(c, frames(c) < 0 ? i : frame * size(c) + i);
  }
  // All values of a frame; one number stands for n equal ones.
  void list(const Context& c, int64_t frame, int64_t n, float* to) const {
    const int64_t have = size(c);
    if (have != 1 && have != n)
      fail(ErrorKind::argument, std::string(name_) + " has " + std::to_string(have) + " values: expected " +
                                    (n == 1 ? "1" : "1 or " + std::to_string(n)));
    for (int64_t i = 0; i < n; i++) to[i] = get(c, frame, have == 1 ? 0 : i);
  }
  // Fails unless there are just n values per frame, and as many frames as the input has (-1: it has none).
  void expect(const Context& c, int64_t n, int64_t frames_of_input) const {
    if (size(c) != n && frames(c) != 0)
      fail(ErrorKind::argument, std::string(name_) + " has " + std::to_string(size(c)) + " values: expected " +
                                    std::to_string(n));
    expect_frames(c, frames_of_input);
  }
  void expect_frames(const Context& c, int64_t frames_of_input) const {
    const int64_t n = frames(c);
    if (n < 0 || n == frames_of_input) return;
    fail(ErrorKind::argument, std::string(name_) + " has values for " + std::to_string(n) +
                                  " frames, but the input has " +
                                  (frames_of_input < 0 ? "no frames" : std::to_string(frames_of_input)));
  }
  const char* name() const { return name_; }

 private:
  Arg<float> arg_;
  const char* name_;
};

}  // namespace ps
