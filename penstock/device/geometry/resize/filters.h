// The filters of resampling, as tables with linear interpolation between entries, as ops/geometry/resize/taps.h has
// them on the CPU (tests/native/gpu_taps_check.cpp compares). They are even: tables begin at the centre.
#pragma once

#include "device/base/base.h"

namespace ps::device {

// exp(-4 x^2) at multiples of 1/32.
PS_TABLE(float) kGaussian[] = {
    0x1p+0f, 0x1.fe01p-1f, 0x1.f80feap-1f, 0x1.ee501p-1f, 0x1.e0facp-1f, 0x1.d05d24p-1f, 0x1.bcd554p-1f,
    0x1.a6cedep-1f, 0x1.8ebefap-1f, 0x1.752078p-1f, 0x1.5a6fcp-1f, 0x1.3f26fcp-1f, 0x1.23ba94p-1f, 0x1.089628p-1f,
    0x1.dc3448p-2f, 0x1.a933d8p-2f, 0x1.78b564p-2f, 0x1.4b25e6p-2f, 0x1.20d51cp-2f, 0x1.f3ed66p-3f, 0x1.ad48bcp-3f,
    0x1.6dc13p-3f, 0x1.3533a6p-3f, 0x1.035bep-3f, 0x1.afb718p-4f, 0x1.648258p-4f, 0x1.241cf6p-4f, 0x1.daf8fcp-5f,
    0x1.7f251ap-5f, 0x1.32aa54p-5f, 0x1.e7156p-6f, 0x1.7fd004p-6f, 0x1.2c155cp-6f,
};

// sinc(x) sinc(x / 3) at multiples of 1/32.
PS_TABLE(float) kLanczos[] = {
    0x1p+0f, 0x1.ff1632p-1f, 0x1.fc5a76p-1f, 0x1.f7d1d2p-1f, 0x1.f1849ap-1f, 0x1.e97e5cp-1f, 0x1.dfcdc2p-1f,
    0x1.d4847p-1f, 0x1.c7b6dep-1f, 0x1.b97c24p-1f, 0x1.a9edc6p-1f, 0x1.992774p-1f, 0x1.8746d4p-1f, 0x1.746b2ep-1f,
    0x1.60b536p-1f, 0x1.4c46b2p-1f, 0x1.374238p-1f, 0x1.21cadcp-1f, 0x1.0c03ep-1f, 0x1.ec20dcp-2f, 0x1.c02688p-2f,
    0x1.945ce2p-2f, 0x1.69061p-2f, 0x1.3e61cp-2f, 0x1.14aca4p-2f, 0x1.d84p-3f, 0x1.89e276p-3f, 0x1.3ea3p-3f,
    0x1.edb5bp-4f, 0x1.65b30ap-4f, 0x1.cb91bep-5f, 0x1.b9b42cp-6f, 0x1.32b9b2p-52f, -0x1.94cdf6p-6f, -0x1.81f0b8p-5f,
    -0x1.132f0ep-4f, -0x1.5bcd2ep-4f, -0x1.9adcdcp-4f, -0x1.d07c02p-4f, -0x1.fcdb5cp-4f, -0x1.101eaep-3f,
    -0x1.1d7a74p-3f, -0x1.26b1fcp-3f, -0x1.2bfd0ap-3f, -0x1.2d995cp-3f, -0x1.2bc9dap-3f, -0x1.26d5bap-3f,
    -0x1.1f079ap-3f, -0x1.14aca4p-3f, -0x1.0813aep-3f, -0x1.f318b2p-4f, -0x1.d2cc76p-4f, -0x1.afe026p-4f,
    -0x1.8aedfap-4f, -0x1.648b7ep-4f, -0x1.3d4834p-4f, -0x1.15ac5ep-4f, -0x1.dc6fc6p-5f, -0x1.8ec2bcp-5f,
    -0x1.432a98p-5f, -0x1.f4d58ap-6f, -0x1.6a603ap-6f, -0x1.d040bap-7f, -0x1.bc4678p-8f, -0x1.2956eep-56f,
    0x1.91df4p-8f, 0x1.7bcf3p-7f, 0x1.0c0e2ep-6f, 0x1.4ed592p-6f, 0x1.8650ap-6f, 0x1.b2b852p-6f, 0x1.d468b8p-6f,
    0x1.ebdd96p-6f, 0x1.f9aecep-6f, 0x1.fe8c98p-6f, 0x1.fb3b94p-6f, 0x1.f090dp-6f, 0x1.df6dc6p-6f, 0x1.c8bc62p-6f,
    0x1.ad6b1cp-6f, 0x1.8e693ep-6f, 0x1.6ca344p-6f, 0x1.48ff88p-6f, 0x1.245b2p-6f, 0x1.ff0e24p-7f, 0x1.b68b96p-7f,
    0x1.7091fp-7f, 0x1.2e5f6p-7f, 0x1.e213f6p-8f, 0x1.72fb24p-8f, 0x1.10f47cp-8f, 0x1.7a4e8ep-9f, 0x1.e1879ap-10f,
    0x1.0c6c96p-10f, 0x1.d74d7ep-12f, 0x1.cfe9fp-14f, 0x0p+0f,
};

enum class Filter : int32_t { nearest, linear, cubic, lanczos3, gaussian };

// Entries of a table, less one.
PS_FN constexpr int entries(Filter f) {
  return f == Filter::cubic ? 128 : f == Filter::lanczos3 ? 192 : f == Filter::gaussian ? 64 : 2;
}

// Entry i, which may be outside.
PS_FN float entry(Filter f, int i) {
  const int half = entries(f) / 2, k = i < half ? half - i : i - half;
  if (k > half) return 0;
  if (f == Filter::gaussian) return kGaussian[k];
  if (f == Filter::lanczos3) return kLanczos[k];
  // Catmull-Rom at k / 32: these numerators of 2^16 are whole, and exact.
  const int numerator = k <= 32 ? (3 * k - 160) * k * k + 65536 : ((160 - k) * k - 8192) * k + 131072;
  return float(numerator) * 0x1p-16f;
}

// At t entries from the beginning of the table.
PS_FN float filter_at(Filter f, float t) {
  if (f == Filter::linear) return max(0.0f, 1 - fabsf(t - 1));
  if (!(t > -1) || t >= float(entries(f) + 1)) return 0;
  const float floor = floorf(t), part = t - floor;
  const float a = entry(f, int(floor)), b = entry(f, int(floor) + 1);
  return a + part * (b - a);
}

}  // namespace ps::device
