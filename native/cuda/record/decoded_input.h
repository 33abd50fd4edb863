// Pictures that a fused kernel reads where their decoder leaves them (device/jpeg/decoded_view.h).
#pragma once

#include <vector>

#include "core/rows.h"
#include "device/jpeg/decoded_view.h"

namespace ps {

struct Extent {
  int64_t width = 0, height = 0;
};

}  // namespace ps

namespace ps::gpu {

struct DecodedSample {
  bool planes = false;             // may be left as planes of samples: decoder and fused kernel permit it
  bool swapped = false;            // rows are columns of the file
  Window needed;                   // by the fused kernel, of the decoder's output
};

struct DecodedInput {
  std::vector<DecodedSample> samples;
  device::DecodedView* views = nullptr;      // of each, on the GPU: there when the fused kernel begins
};

}  // namespace ps::gpu
