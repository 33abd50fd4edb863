// Blocks of bytes that lie side by side, copied to places a fixed distance apart: what joins and splits tensors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/record/layout.h"
#include "cuda/record/recorder.h"
#include "device/tensor/copy_blocks.h"

namespace ps {

struct BlockCopy {
  const uint8_t* from = nullptr;
  uint8_t* to = nullptr;
  int64_t block = 0, pitch = 0;        // bytes of a block, and from one block to the next where they go
  int64_t count = 0;                   // blocks

  int64_t bytes() const { return block * count; }
  // The same for a part of the blocks.
  BlockCopy part(int64_t first, int64_t n) const { return {from + first * block, to + first * pitch, block, pitch, n}; }
};

namespace detail {

template <int kBytes> void put_blocks(const BlockCopy& c) {
  const uint8_t* __restrict from = c.from;
  uint8_t* __restrict to = c.to;
  for (int64_t i = 0; i < c.count; i++) std::memcpy(to + i * c.pitch, from + i * kBytes, kBytes);
}

// Elements of N inputs in turn: in one loop, so that the compiler writes whole registers.
template <class T, int N> void interleave(const BlockCopy* copies) {
  const T* __restrict from[N];
  for (int k = 0; k < N; k++) from[k] = reinterpret_cast<const T*>(copies[k].from);
  auto* __restrict to = reinterpret_cast<T*>(copies[0].to);
  const int64_t n = copies[0].count;
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < N; k++) to[i * N + k] = from[k][i];
}

template <class T> bool interleave(const std::vector<BlockCopy>& copies) {
  switch (copies.size()) {
    case 2: interleave<T, 2>(copies.data()); return true;
    case 3: interleave<T, 3>(copies.data()); return true;
    case 4: interleave<T, 4>(copies.data()); return true;
    default: return false;
  }
}

}  // namespace detail

inline void copy_blocks(const BlockCopy& c) {
  if (c.pitch == c.block || c.count == 1) {
    if (c.bytes()) std::memcpy(c.to, c.from, size_t(c.bytes()));
    return;
  }
  switch (c.block) {
    case 0: return;
    case 1: return detail::put_blocks<1>(c);
    case 2: return detail::put_blocks<2>(c);
    case 3: return detail::put_blocks<3>(c);
    case 4: return detail::put_blocks<4>(c);
    case 8: return detail::put_blocks<8>(c);
    case 12: return detail::put_blocks<12>(c);
    default:
      for (int64_t i = 0; i < c.count; i++) std::memcpy(c.to + i * c.pitch, c.from + i * c.block, size_t(c.block));
  }
}

// Copies that fill one memory in turns: of each the same number of blocks. The blocks of one turn go side by side, in
// this order.
inline void copy_in_turns(const std::vector<BlockCopy>& copies) {
  if (copies.empty()) return;
  const int64_t block = copies[0].block, count = copies[0].count;
  if (count > 1 && std::all_of(copies.begin(), copies.end(), [&](const BlockCopy& c) { return c.block == block; })) {
    switch (block) {
      case 1: if (detail::interleave<uint8_t>(copies)) return; break;
      case 2: if (detail::interleave<uint16_t>(copies)) return; break;
      case 4: if (detail::interleave<uint32_t>(copies)) return; break;
      case 8: if (detail::interleave<uint64_t>(copies)) return; break;
    }
  }
  constexpr int64_t kInCache = 16 << 10;   // what small blocks of one input leave open, those of the next find there
  const int64_t turns = std::max<int64_t>(1, kInCache / std::max<int64_t>(1, copies[0].pitch));
  for (int64_t i = 0; i < count; i += turns)
    for (const BlockCopy& c : copies) copy_blocks(c.part(i, std::min(turns, count - i)));
}

namespace gpu {

// All these copies, of whichever samples, as one kernel.
inline void record_copies(Recorder& r, const std::vector<BlockCopy>& copies) {
  if (copies.empty()) return;
  using Job = device::ElementJob<device::CopyBlocks<uint8_t>>;
  constexpr int64_t per_block = device::kElementThreads * device::kElementsPerThread;
  constexpr size_t stride = (sizeof(Job) + 15) / 16 * 16;
  uint64_t parts = 8;                  // all numbers are multiples of the unit: their lowest bits say of which
  for (const BlockCopy& c : copies)
    if (c.bytes()) parts |= uint64_t(c.block) | uint64_t(c.pitch) | reinterpret_cast<uintptr_t>(c.from) |
                            reinterpret_cast<uintptr_t>(c.to);
  const int64_t unit = int64_t(1) << std::countr_zero(parts);
  std::vector<uint8_t> jobs(stride * copies.size());
  std::vector<int> blocks(copies.size());
  for (size_t i = 0; i < copies.size(); i++) {
    const BlockCopy& c = copies[i];
    const device::Divisor block(uint64_t(std::max(c.block / unit, int64_t(1))));
    Job job{c.bytes() / unit, {c.from, c.to, block, c.pitch / unit}};
    std::memcpy(jobs.data() + stride * i, &job, sizeof job);
    blocks[i] = int((job.count + per_block - 1) / per_block);
  }
  const std::string functor = PS_DEVICE_TEMPLATE(CopyBlocks, uint8_t).of("uint" + std::to_string(8 * unit) + "_t");
  r.launch("#include \"device/tensor/elements.h\"\n#include \"device/tensor/copy_blocks.h\"\n" + PS_LAYOUT_OF(Launch) +
               layout<Job>(PS_DEVICE_TEMPLATE(ElementJob, device::CopyBlocks<uint8_t>).of(functor)) +
               "PS_ELEMENT_KERNEL(" + functor + ")\n",
           blocks, jobs, stride, device::kElementThreads);
}

}  // namespace gpu
}  // namespace ps
