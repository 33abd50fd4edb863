// Each sample less a share of the one before it.
#pragma once

#include "device/base/convert.h"

namespace ps::device {

// As what samples of type T are computed with.
template <class T> struct FilterType { using type = float; };
template <> struct FilterType<double> { using type = double; };

struct PreemphasisFields {
  const void* in;
  void* out;
  int64_t first;                       // which sample stands before the first one; -1: none, it stays as it is
  float share;
};

template <class In, class Out> struct Preemphasis : PreemphasisFields {
  PS_FN void element(int64_t i) const {
    using C = typename FilterType<In>::type;
    const In* from = static_cast<const In*>(in);
    const int64_t before = i ? i - 1 : first;
    static_cast<Out*>(out)[i] = before < 0 ? convert<Out>(from[i])  // not by way of C, which may have fewer digits
                                           : convert<Out>(C(convert<C>(from[i]) - C(share) * convert<C>(from[before])));
  }
};

}  // namespace ps::device
