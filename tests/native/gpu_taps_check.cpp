// Checks the weights that GPU kernels compute for themselves (device/geometry/resize/axis.h) against the CPU's
// (ops/geometry/resize/taps.h), on random axes: the same taps, and the same bits.
//
//   gpu_taps_check [--cases N] [--seed N]     exit status 0: all is well (other arguments are ignored)
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "ops/geometry/resize/gpu.h"

using namespace ps;

namespace {

std::mt19937 random_bits;
int64_t uniform(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_bits); }
float real(double low, double high) { return float(std::uniform_real_distribution<double>(low, high)(random_bits)); }

ResampleAxis random_axis() {
  constexpr Interp filters[] = {Interp::nearest, Interp::linear, Interp::cubic, Interp::lanczos3, Interp::gaussian};
  ResampleAxis a;
  a.in = uniform(1, uniform(0, 1) ? 12 : 700);
  a.out = uniform(1, uniform(0, 1) ? 20 : 400);
  a.hi = float(a.in);
  if (uniform(0, 1)) a.lo = real(-0.3, 0.9) * float(a.in), a.hi = a.lo + real(0.01, 1.2) * float(a.in);
  if (uniform(0, 3) == 0) a.lo += 3 * float(a.in), a.hi += 3 * float(a.in);    // beyond the input
  if (uniform(0, 2) == 0) std::swap(a.lo, a.hi);
  a.filter = filters[uniform(0, 4)];
  a.antialias = uniform(0, 1);
  a.summed = uniform(0, 1);
  return a;
}

// Entries where the table's two halves differ in bits too low to matter: next to Lanczos' zeros.
bool same(float a, float b) { return a == b || std::abs(a - b) < 1e-15f; }

bool check(const ResampleAxis& a) {
  Taps taps;
  taps.build(a);
  const device::ResampledAxis axis = resampled_axis(a);
  int before[2] = {};
  for (int64_t x = 0; x < a.out; x++) {
    const device::AxisTaps found(axis, int(x));
    const int first = taps.first[size_t(x)], n = taps.n[size_t(x)];
    bool good = found.first == first && found.last == first + n - 1;
    for (int k = 0; good && k < n; k++)
      good = same(found.weight(first + k), taps.weight[size_t(x * taps.count + k)]);
    // What kernels rely on.
    good = good && n <= axis.most && found.begin <= found.first && found.last <= found.end;
    const int direction = a.flipped() ? -1 : 1;
    if (x) good = good && (found.begin - before[0]) * direction >= 0 && (found.end - before[1]) * direction >= 0;
    before[0] = found.begin, before[1] = found.end;
    int64_t total = 0;
    device::WholeWeights whole;
    for (int k = 0; k < n; k++) total += whole.next(found.weight(found.first + k), k == n - 1);
    if (a.filter != Interp::cubic && a.filter != Interp::lanczos3)
      good = good && total == device::WholeWeights::kOne;
    if (good) continue;
    std::printf("in %lld out %lld lo %g hi %g filter %d antialias %d summed %d: output %lld: %d to %d, not %d to %d\n",
                static_cast<long long>(a.in), static_cast<long long>(a.out), double(a.lo), double(a.hi), int(a.filter),
                a.antialias, a.summed, static_cast<long long>(x), found.first, found.last, first, first + n - 1);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int cases = 3000;
  for (int i = 1; i + 1 < argc; i++) {
    if (!std::strcmp(argv[i], "--cases")) cases = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--seed")) random_bits.seed(unsigned(std::atoi(argv[i + 1])));
  }
  for (int i = 0; i < cases; i++)
    if (!check(random_axis())) return 1;
  std::printf("%d axes agree\n", cases);
}
