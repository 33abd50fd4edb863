// Each value as the index of a table.
#pragma once

#include "device/picture/picture.h"
#include "device/tensor/elements.h"

namespace ps::device {

// `table` has `size` entries, and one more behind them for all other values.
template <class Out> struct LookupTable {
  const void* table;
  uint32_t size;
  template <class In> PS_FN Out operator()(In v) const {
    const auto index = uint64_t(int64_t(v));         // negative: a large one
    return static_cast<const Out*>(table)[index < size ? uint32_t(index) : size];
  }
  template <class Up> PS_FN auto at(const Up& up, int x, int y, int c) const {
    const auto in = up.at(x, y, c);
    Vec<Out, Up::kChannels> out;
    PS_UNROLL
    for (int k = 0; k < Up::kChannels; k++) out[k] = (*this)(in[k]);
    return out;
  }
};

template <class In, class Out> struct LookUpElements {
  const In* in;
  Out* out;
  LookupTable<Out> table;
  PS_FN void element(int64_t i) const { out[i] = table(in[i]); }
};

}  // namespace ps::device
