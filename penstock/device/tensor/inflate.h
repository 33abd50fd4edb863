// LZ4's blocks on a GPU: a block of threads for each, which all read the same tokens and copy together.
#pragma once

#include "device/base/base.h"

namespace ps::device {

inline constexpr int kInflateThreads = 32;

struct InflateChunk {
  int64_t from, bytes;                   // in the input
};

struct InflateJob {
  const uint8_t* in;
  uint8_t* out;
  const InflateChunk* chunks;
  uint8_t* broken;                       // of each chunk, whether it is
  int64_t size;                          // bytes of each chunk, inflated
};

#if !PS_HOST
class Inflater {
 public:
  PS_FN Inflater(const uint8_t* in, int64_t bytes, uint8_t* out, int64_t size)
      : at_(in), end_(in + bytes), out_(out), size_(size) {}

  // Whether the chunk is sound and has just so many bytes, as decode/lz4.cpp has it. If not, zeros follow.
  PS_FN bool run() {
    bool ended = false;
    while (at_ < end_) {
      const int token = *at_++;
      const int64_t literals = length(token >> 4);
      if (literals > end_ - at_ || literals > size_ - done_) break;
      for (int64_t i = thread(); i < literals; i += threads()) out_[done_ + i] = at_[i];
      at_ += literals;
      done_ += literals;
      sync();
      ended = at_ == end_;
      if (end_ - at_ < 2) break;
      const int64_t back = at_[0] | at_[1] << 8;
      at_ += 2;
      const int64_t n = length(token & 15) + 4;
      if (back == 0 || back > done_ || n > size_ - done_) break;
      // Bytes that the match itself makes are those before it again.
      const uint8_t* from = out_ + done_ - back;
      for (int64_t i = thread(); i < n; i += threads()) out_[done_ + i] = from[i < back ? i : i % back];
      done_ += n;
      sync();
    }
    for (int64_t i = done_ + thread(); i < size_; i += threads()) out_[i] = 0;
    return ended && done_ == size_;
  }

 private:
  PS_FN int64_t length(int64_t n) {
    if (n < 15) return n;
    int more = 255;
    while (more == 255 && at_ < end_) n += more = *at_++;
    return n;
  }

  const uint8_t *at_, *end_;
  uint8_t* out_;
  int64_t size_, done_ = 0;
};

PS_FN void run_inflate(const Launch& l) {
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const InflateJob*>(l.jobs + int64_t(l.stride) * sample);
  const int64_t number = block() - l.first_block[sample];
  const InflateChunk& chunk = job.chunks[number];
  const bool sound = Inflater(job.in + chunk.from, chunk.bytes, job.out + number * job.size, job.size).run();
  if (thread() == 0) job.broken[number] = !sound;
}
#define PS_INFLATE_KERNEL() \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_inflate(launch); }
#endif

}  // namespace ps::device
