// What ops/gather/gather.h does on the CPU, for one element at a time: each axis of the output says which index of the
// input stands where. The axes are merged by the host (ops/gather/gpu.h), so N is small.
#pragma once

#include "device/base/divisor.h"
#include "device/base/truncate.h"

namespace ps::device {

enum class Edge : int32_t { none, clamp, reflect_1001, reflect_101, wrap };

// Which of n elements stands at index i; -1: none does. n is positive.
PS_FN int64_t edge_index(Edge edge, int64_t i, int64_t n) {
  if (uint64_t(i) < uint64_t(n)) return i;
  if (edge == Edge::none) return -1;
  if (edge == Edge::clamp) return i < 0 ? 0 : n - 1;
  const int64_t period = edge == Edge::wrap ? n : edge == Edge::reflect_1001 ? 2 * n : max(2 * n - 2, int64_t(1));
  i = (i % period + period) % period;
  return edge == Edge::wrap ? i : min(i, edge == Edge::reflect_1001 ? 2 * n - 1 - i : 2 * n - 2 - i);
}

struct GatherAxis {
  Divisor size;                        // of the output
  int64_t first, step, extent;         // index i of the output is index first + i * step of the input's `extent`
  int64_t stride;                      // elements from one index of the input to the next
};

// `fills`: a number of the output's type for each channel, for elements that the input does not have.
struct GatherHead {
  const void* in;
  void* out;
  const void* fills;
  const float *mean, *scale, *shift;   // of each channel, if there is something to normalize
  Edge edge;
  int32_t channel_axis;                // -1: all are channel 0
};

template <int N> struct GatherBase {
  GatherHead head;
  GatherAxis axes[N];

  // Where element i of the output is in the input; -1: nowhere.
  PS_FN int64_t find(int64_t i, int64_t& channel) const {
    int64_t at = 0;
    bool inside = true;
    channel = 0;
    uint64_t rest = uint64_t(i);
    PS_UNROLL
    for (int k = N - 1; k >= 0; k--) {
      const GatherAxis& axis = axes[k];
      uint64_t above = 0;              // the first axis takes what is left
      if (k > 0) above = axis.size.quotient(rest);
      const auto index = int64_t(rest - above * axis.size.number());
      rest = above;
      if (k == head.channel_axis) channel = index;
      const int64_t from = edge_index(head.edge, axis.first + index * axis.step, axis.extent);
      inside = inside && from >= 0;
      at += from * axis.stride;
    }
    return inside ? at : -1;
  }
};

// Elements in another type; those of crop and slice.
template <class From, class To, int N> struct Gather : GatherBase<N> {
  PS_FN void element(int64_t i) const {
    int64_t channel;
    const int64_t at = this->find(i, channel);
    static_cast<To*>(this->head.out)[i] = at >= 0 ? truncate<To>(static_cast<const From*>(this->head.in)[at])
                                                  : static_cast<const To*>(this->head.fills)[channel];
  }
};

}  // namespace ps::device
