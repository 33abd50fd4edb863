// An array that is part of a plan, such as which bytes of which files make the samples of a data set.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/tensor.h"

namespace ps {

// Copies show the same memory.
class Table {
 public:
  Table() = default;                               // there is none
  explicit Table(const Tensor& t) : tensor_(t), memory_(new uint8_t[t.bytes()]) {
    if (t.bytes()) std::memcpy(memory_.get(), t.data, t.bytes());
    tensor_.data = memory_.get();
    tensor_.source = nullptr;
  }
  explicit operator bool() const { return memory_ != nullptr; }
  DType dtype() const { return tensor_.dtype; }
  const Shape& shape() const { return tensor_.shape; }
  size_t bytes() const { return memory_ ? tensor_.bytes() : 0; }
  int64_t rows() const { return tensor_.shape.ndim ? tensor_.shape[0] : 0; }
  template <class T> const T* as() const { return tensor_.as<T>(); }

 private:
  Tensor tensor_;
  std::shared_ptr<uint8_t[]> memory_;
};

}  // namespace ps
