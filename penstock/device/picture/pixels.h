// What operators have in common that change each pixel by itself: on the CPU, stages of row pipelines; on the GPU,
// stages of fused kernels, or kernels of their own.
#pragma once

#include "device/picture/picture.h"

namespace ps::device {

// A stage by itself, whatever the picture's axes are, for pixels of N elements that lie one behind the other.
template <class In, class Out, int N, class Stage> struct Pixels {
  const In* in;
  Out* out;
  Stage stage;
  PS_FN void element(int64_t i) const {
    const Source<In, N, true> source{in + i * N, {}};
    const auto pixel = stage.at(source, 0, 0, 0);
    PS_UNROLL
    for (int k = 0; k < N; k++) out[i * N + k] = pixel[k];
  }
};

// The same with fields of its own for each frame.
template <class In, class Out, int N, class Stage> struct FramePixels {
  const In* in;
  Out* out;
  const Stage* stages;
  Divisor pixels;                      // of a frame
  PS_FN void element(int64_t i) const {
    Pixels<In, Out, N, Stage>{in, out, stages[pixels.quotient(uint64_t(i))]}.element(i);
  }
};

}  // namespace ps::device
