// The language of code for the GPU. It is compiled three times: by NVRTC for the GPU, by the host's compiler with
// the library (which fills the functors' fields in), and by the host's compiler as kernels that the tests run without
// a GPU. So kernels may be run by any number of threads per block, one among them: whatever a block does together is a
// loop from thread() in steps of threads(), and sync() stands between such loops.
#pragma once

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define PS_FN __device__ __forceinline__
#define PS_KERNEL extern "C" __global__ void
// With a bound on registers: so many blocks of so many threads fit on a multiprocessor.
#define PS_BOUNDED_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define PS_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#define PS_HOST 0
#define PS_UNROLL _Pragma("unroll")
#define PS_LOOP _Pragma("unroll 1")      // keep it a loop: registers are what kernels are short of
#define PS_TABLE(type) __device__ const type     // whose entries are asked for by numbers that nobody knows before
#elif defined(PS_SOFTWARE_GPU)
#include <cmath>
#include <cstdint>
#include <cstring>
#define PS_FN inline
#define PS_KERNEL extern "C" void
#define PS_BOUNDED_KERNEL(threads, blocks) PS_KERNEL
#define PS_HOST 0
#define PS_SHARED_MEMORY(name) unsigned char* name = ps::device::shared_memory
// Set by what tests/software_gpu adds to a kernel's source.
namespace ps::device { static thread_local unsigned block_index; static thread_local unsigned char* shared_memory; }
#if defined(PS_SOFTWARE_THREADS)       // set by tests that run a block by several threads of the host
namespace ps::device { static thread_local int thread_index; static int thread_count; static void (*wait_for_block)(); }
#endif
#else
#include <cmath>
#include <cstdint>
#include <cstring>
#define PS_FN inline
#define PS_HOST 1
#endif

#if !defined(PS_UNROLL)
#define PS_UNROLL
#define PS_LOOP
#define PS_TABLE(type) inline constexpr type
#endif

namespace ps::device {

#if defined(__CUDACC_RTC__)
PS_FN int thread() { return int(threadIdx.x); }
PS_FN int threads() { return int(blockDim.x); }
PS_FN int block() { return int(blockIdx.x); }
PS_FN void sync() { __syncthreads(); }
PS_FN float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
PS_FN float divide(float a, float b) { return __fdividef(a, b); }      // roughly
#else
PS_FN float fma(float a, float b, float c) { return std::fma(a, b, c); }
#if defined(PS_SOFTWARE_GPU)
#if defined(PS_SOFTWARE_THREADS)
PS_FN int thread() { return thread_index; }
PS_FN int threads() { return thread_count; }
PS_FN void sync() { wait_for_block(); }
#else
PS_FN int thread() { return 0; }
PS_FN int threads() { return 1; }
PS_FN void sync() {}
#endif
PS_FN int block() { return int(block_index); }
PS_FN float divide(float a, float b) { return a / b; }
#endif
#endif

// That a struct lies in memory as the host has it, which fills it in (native/cuda/record/layout.h).
#define PS_LAYOUT(bytes, align, ...)                                    \
  static_assert(sizeof(__VA_ARGS__) == bytes && alignof(__VA_ARGS__) == align, \
                "the host and the GPU differ in the layout of " #__VA_ARGS__)

template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };
template <class A, class B> inline constexpr bool is_same = same<A, B>::value;

template <class T> PS_FN T min(T a, T b) { return b < a ? b : a; }
template <class T> PS_FN T max(T a, T b) { return a < b ? b : a; }
template <class T> PS_FN T clamp(T v, T low, T high) { return min(max(v, low), high); }

// Tells the compiler that the pointer is to the GPU's global memory: then loads and stores need not find that out.
template <class T> PS_FN T* on_gpu(T* p) {
#if defined(__CUDACC_RTC__)
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

// What every kernel is launched with. `first_block` has an entry for each sample and one more: which blocks work on
// which sample. A sample's job lies at jobs + stride * sample.
struct Launch {
  const unsigned char* jobs;
  const int32_t* first_block;
  int32_t stride, samples;
};

#if !PS_HOST
// The sample that this block works on. Where samples are of one size, the first guess is right.
PS_FN int find_sample(const Launch& l) {
  int low = 0, high = l.samples;       // first_block[low] <= block < first_block[high]
  const auto guess = int(divide(float(block()) * float(l.samples), float(l.first_block[l.samples])));
  if (guess < high && l.first_block[guess] <= block()) low = guess;
  if (low + 1 < high && block() < l.first_block[low + 1]) return low;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (l.first_block[middle] <= block()) low = middle;
    else high = middle;
  }
  return low;
}
#endif

}  // namespace ps::device
