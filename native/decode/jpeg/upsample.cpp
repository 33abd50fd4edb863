#include "decode/jpeg/upsample.h"

#include <algorithm>
#include <cstring>

namespace ps::jpeg {
namespace {

// Pairs of samples are stored as one 16-bit word, a form in which compilers vectorise these loops whole.
void store_pair(uint8_t* out, int left, int right) {
  uint16_t pair = uint16_t(left | right << 8);
  std::memcpy(out, &pair, 2);
}

}  // namespace

void replicate(const uint8_t* __restrict in, int factor, int n, uint8_t* __restrict out) {
  if (factor == 1)
    std::memcpy(out, in, size_t(n));
  else if (factor == 2)
    for (int i = 0; i < n; i++) store_pair(out + 2 * i, in[i], in[i]);
  else
    for (int i = 0; i < n; i++)
      for (int j = 0; j < factor; j++) out[factor * i + j] = in[i];
}

void triangle_h2(const uint8_t* __restrict in, int n, uint8_t* __restrict out) {
  for (int i = 0; i < n; i++) {
    uint16_t middle = uint16_t(3 * in[i]);
    uint16_t left = uint16_t(middle + in[i - 1] + 1) >> 2, right = uint16_t(middle + in[i + 1] + 2) >> 2;
    store_pair(out + 2 * i, left, right);
  }
}

void triangle_v2(const uint8_t* __restrict near, const uint8_t* __restrict far, bool odd_row, int n,
                 uint8_t* __restrict out) {
  uint16_t bias = odd_row ? 2 : 1;
  for (int i = 0; i < n; i++) out[i] = uint8_t(uint16_t(3 * near[i] + far[i] + bias) >> 2);
}

void triangle_h2v2(const uint8_t* __restrict near, const uint8_t* __restrict far, int n, uint8_t* __restrict out) {
  constexpr int kStep = 256;
  uint16_t column[kStep + 2];   // vertically filtered, of samples begin - 1 .. end
  for (int begin = 0; begin < n; begin += kStep) {
    int count = std::min(kStep, n - begin);
    for (int i = 0; i < count + 2; i++) column[i] = uint16_t(3 * near[begin + i - 1] + far[begin + i - 1]);
    for (int i = 0; i < count; i++) {
      uint16_t middle = uint16_t(3 * column[i + 1]);
      uint16_t left = uint16_t(middle + column[i] + 8) >> 4, right = uint16_t(middle + column[i + 2] + 7) >> 4;
      store_pair(out + 2 * (begin + i), left, right);
    }
  }
}

}  // namespace ps::jpeg
