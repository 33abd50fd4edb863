// Pictures that a chain of operators reads where their decoder leaves them (device/picture/decoded_view.h).
#pragma once

#include <vector>

#include "core/rows.h"
#include "device/picture/decoded_view.h"

namespace ps {

struct Extent {
  int64_t width = 0, height = 0;
};

}  // namespace ps

namespace ps::gpu {

struct DecodedSample {
  bool planes = false;             // may be left as planes of samples: the decoder can, and the chain's kernel
  bool swapped = false;            // rows are columns of the file
  Window needed;                   // by the chain, of the decoder's output
};

struct DecodedInput {
  std::vector<DecodedSample> samples;
  device::DecodedView* views = nullptr;      // of each, on the GPU: there when the chain begins
};

}  // namespace ps::gpu
