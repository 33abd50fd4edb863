// How one operand's elements are read in the order of the result's: with NumPy's broadcasting, block by block.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/converter.h"
#include "ops/tensor/arithmetic/types.h"

namespace ps::arithmetic {

inline constexpr size_t kBlock = 1024;      // elements: operands and result of a block stay in the first cache
inline constexpr int64_t kMaxPeriod = 256;  // elements that are repeated so densely that they are laid out in advance

class Operand {
 public:
  // Elements of `t` as `compute`, broadcast to a shape that t's shape is known to fit.
  void set(const Tensor& t, const Shape& shape, DType compute) {
    data_ = static_cast<const uint8_t*>(t.data);
    bytes_ = size_of(t.dtype);
    convert_ = same_bits(t.dtype, compute) || (t.dtype == DType::boolean && compute == DType::u8)
                   ? nullptr : converter(t.dtype, compute);
    compute_bytes_ = size_of(compute);
    find_groups(t.shape, shape);
    const bool one = groups_ == 0 || (groups_ == 1 && !stride_[0]);
    const bool repeated = groups_ == 2 && !stride_[0] && extent_[1] <= kMaxPeriod;
    period_ = one ? 1 : repeated ? extent_[1] : 0;
    if (period_) lay_out();
    else buffer_.resize(kBlock * compute_bytes_);
  }
  // The same, for elements that come in pieces, each given to at().
  void set_pieces(DType dtype, DType compute) {
    Tensor t;
    t.dtype = dtype;
    t.shape = Shape{int64_t(1) << 40};
    set(t, t.shape, compute);
  }
  void at(const void* data) { data_ = static_cast<const uint8_t*>(data); }

  // n <= kBlock elements from the result's element `start` on; the pointer is valid until the next call.
  const void* read(int64_t start, size_t n) {
    if (period_) return buffer_.data() + size_t(start % period_) * compute_bytes_;
    const uint8_t* from = data_ + size_t(start) * bytes_;
    if (groups_ != 1) {
      if (!convert_) return gather(start, n, buffer_.data());
      gathered_.resize(kBlock * bytes_);
      from = gather(start, n, gathered_.data());
    }
    if (!convert_) return from;
    convert_(from, buffer_.data(), n);
    return buffer_.data();
  }

  // Elements after which it repeats itself; 0: none, or many.
  static int64_t period(const Shape& own, const Shape& shape) {
    Operand o;
    o.find_groups(own, shape);
    if (o.groups_ == 0 || (o.groups_ == 1 && !o.stride_[0])) return 1;
    return o.groups_ == 2 && !o.stride_[0] && o.extent_[1] <= kMaxPeriod ? o.extent_[1] : 0;
  }

 private:
  // Axes side by side are one group where the operand is broadcast along all of them, or along none.
  void find_groups(const Shape& own, const Shape& shape) {
    int64_t stride = 1;
    groups_ = 0;
    for (int i = shape.ndim - 1, k = own.ndim - 1; i >= 0; i--, k--) {
      if (shape[i] == 1) continue;
      const bool broadcast = k < 0 || own[k] == 1;
      if (groups_ && (stride_[groups_ - 1] == 0) == broadcast) {
        extent_[groups_ - 1] *= shape[i];
      } else {
        extent_[groups_] = shape[i];
        stride_[groups_++] = broadcast ? 0 : stride;
      }
      if (!broadcast) stride *= shape[i];
    }
    std::reverse(extent_, extent_ + groups_);
    std::reverse(stride_, stride_ + groups_);
  }

  // A block from any place of the period on is one piece of memory.
  void lay_out() {
    const size_t period = size_t(period_), total = kBlock + period;
    buffer_.resize(total * compute_bytes_);
    if (convert_) convert_(data_, buffer_.data(), period);
    else std::memcpy(buffer_.data(), data_, period * compute_bytes_);
    visit_size(compute_bytes_, [&](auto tag) {
      auto* elements = reinterpret_cast<typename decltype(tag)::type*>(buffer_.data());
      for (size_t i = period; i < total; i++) elements[i] = elements[i - period];
    });
  }

  const uint8_t* gather(int64_t start, size_t n, uint8_t* to) const {
    visit_size(bytes_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      gather_elements(reinterpret_cast<const T*>(data_), start, int64_t(n), reinterpret_cast<T*>(to));
    });
    return to;
  }

  template <class T> void gather_elements(const T* from, int64_t start, int64_t n, T* to) const {
    if (groups_ == 2 && !stride_[1]) return repeat(from, start, n, to);
    int64_t index[kMaxDims], offset = 0;
    for (int g = groups_ - 1; g >= 0; g--) {
      index[g] = start % extent_[g];
      offset += index[g] * stride_[g];
      start /= extent_[g];
    }
    const int inner = groups_ - 1;
    while (n > 0) {
      const int64_t count = std::min(n, extent_[inner] - index[inner]);
      if (stride_[inner]) for (int64_t i = 0; i < count; i++) to[i] = from[offset + i];
      else for (int64_t i = 0; i < count; i++) to[i] = from[offset];
      to += count;
      n -= count;
      offset -= index[inner] * stride_[inner];
      index[inner] = 0;
      for (int g = inner - 1; g >= 0; g--) {
        offset += stride_[g];
        if (++index[g] < extent_[g]) break;
        offset -= extent_[g] * stride_[g];
        index[g] = 0;
      }
    }
  }

  // Each element several times: one number per pixel, for all its channels.
  template <class T> void repeat(const T* from, int64_t start, int64_t n, T* to) const {
    const int64_t times = extent_[1];
    from += start / times;
    const int64_t first = std::min(n, (times - start % times) % times);
    if (first) to = std::fill_n(to, first, *from++);
    const int64_t whole = (n - first) / times, last = (n - first) % times;
    switch (times) {
      case 2: repeat_fixed<2>(from, whole, to); break;
      case 3: repeat_fixed<3>(from, whole, to); break;
      case 4: repeat_fixed<4>(from, whole, to); break;
      default: for (int64_t i = 0; i < whole; i++) std::fill_n(to + i * times, times, from[i]);
    }
    if (last) std::fill_n(to + whole * times, last, from[whole]);
  }
  template <int times, class T> static void repeat_fixed(const T* from, int64_t count, T* to) {
    for (int64_t i = 0; i < count; i++)
      for (int k = 0; k < times; k++) to[i * times + k] = from[i];
  }

  const uint8_t* data_ = nullptr;
  size_t bytes_ = 0, compute_bytes_ = 0;
  Convert convert_ = nullptr;
  int groups_ = 0;
  int64_t extent_[kMaxDims], stride_[kMaxDims];
  int64_t period_ = 0;
  std::vector<uint8_t> buffer_, gathered_;
};

}  // namespace ps::arithmetic
