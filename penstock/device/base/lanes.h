// Threads that run in step. On the host each thread is a warp by itself, so that kernels that use these are right for
// any number of threads there; on a GPU a block has to consist of whole warps.
#pragma once

#include "device/base/base.h"

namespace ps::device {

#if !PS_HOST
#if defined(__CUDACC_RTC__)
inline constexpr int kLanes = 32;
PS_FN int lane() { return thread() & (kLanes - 1); }
PS_FN uint32_t value_of(int lane, uint32_t own) { return __shfl_sync(~0u, own, lane); }
PS_FN uint64_t value_of(int lane, uint64_t own) { return __shfl_sync(~0u, own, lane); }
// What lies in shared memory, with its address in a register: compilers make that anew in every loop otherwise.
template <class T> PS_FN T& held_in(unsigned char* shared) {
  auto address = uint32_t(__cvta_generic_to_shared(shared));
  asm("" : "+r"(address));
  return *static_cast<T*>(__cvta_shared_to_generic(address));
}
PS_FN uint32_t fetch_increment(uint32_t* next) { return atomicAdd(next, 1u); }   // atomic
PS_FN void sync_lanes() { __syncwarp(); }
// Of which lanes this is true, a bit for each.
PS_FN uint32_t lanes_where(bool holds) { return __ballot_sync(~0u, holds); }
// Between warps of a block: what all lanes wrote before publish() can be read when await() has seen that value.
PS_FN void publish(uint32_t* word, uint32_t value) {
  __threadfence_block();
  __syncwarp();
  if (lane() == 0) atomicExch(word, value);
}
PS_FN void await(uint32_t* word, uint32_t least) {
  if (lane() == 0)
    while (atomicOr(word, 0u) < least) __nanosleep(1000);
  __syncwarp();
  __threadfence_block();
}
// Loads from memory of any kind without a branch, into the same register: no lane waits before it uses the word.
PS_FN void load_if(uint32_t wanted, const uint32_t* from, uint32_t& word) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.u32 %0, [%2]; }"
               : "+r"(word) : "r"(wanted), "l"(from));
}
// Between two turns of a loop: hides from compilers what becomes of the word. Otherwise they may turn a branch that is
// rarely taken into a loop around this one, for which all lanes of a warp wait.
PS_FN void in_one_loop(uint32_t& going) { asm volatile("" : "+r"(going)); }
#else
PS_FN void in_one_loop(uint32_t&) {}
inline constexpr int kLanes = 1;
PS_FN int lane() { return 0; }
PS_FN uint32_t value_of(int, uint32_t own) { return own; }
PS_FN uint64_t value_of(int, uint64_t own) { return own; }
template <class T> PS_FN T& held_in(unsigned char* shared) { return *reinterpret_cast<T*>(shared); }
PS_FN void load_if(uint32_t wanted, const uint32_t* from, uint32_t& word) {
  if (wanted) word = *from;
}
PS_FN uint32_t fetch_increment(uint32_t* next) { return __atomic_fetch_add(next, 1u, __ATOMIC_RELAXED); }
PS_FN void sync_lanes() {}
PS_FN uint32_t lanes_where(bool holds) { return holds; }
PS_FN void publish(uint32_t* word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
PS_FN void await(uint32_t* word, uint32_t least) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < least) {}
}
#endif
#endif

}  // namespace ps::device
