// An input on a larger canvas of one colour: what pad and paste have in common.
#pragma once

#include <cstring>
#include <vector>

#include "ops/arguments/fill_numbers.h"
#include "ops/arguments/region.h"
#include "ops/gather/gather.h"
#include "ops/gather/gpu.h"

namespace ps {

// The output is the region `r` of the input, which may reach beyond it. `fill`: an element of the output, or one for
// each of its channels, which are the last axis then.
inline void draw_canvas(const Tensor& in, const Tensor& out, const Region& r, const std::vector<uint8_t>& fill) {
  struct Body {
    size_t block;                                    // bytes
    std::vector<uint8_t> fills;                      // one block
    uint8_t* to;

    void copy(const uint8_t* from, int64_t, int64_t n, int64_t, int64_t) {
      std::memcpy(to, from, size_t(n) * block);      // they are neighbours
      to += size_t(n) * block;
    }
    void fill(int64_t n, int64_t, int64_t) {
      std::memcpy(to, fills.data(), block);
      repeat_bytes(to, block, n);
      to += size_t(n) * block;
    }
  };
  if (out.shape.volume() == 0) return;
  const size_t element = size_of(in.dtype);
  Gather gather(Border::constant);
  gather.add_region(in, r, -1);
  if (r.inside(in.shape)) {                          // all of it
    std::memcpy(out.data, in.data, in.bytes());
    return;
  }
  auto block = size_t(gather.take_block(element));
  std::vector<uint8_t> fills(std::max(block, fill.size()));
  if (block < fill.size()) {                         // channels one by one would need their own fills
    for (size_t at = 0; at < fill.size(); at += element)
      if (std::memcmp(fill.data(), fill.data() + at, element)) fail(ErrorKind::internal, "channels are not whole");
  }
  std::memcpy(fills.data(), fill.data(), fill.size());
  repeat_bytes(fills.data(), fill.size(), int64_t(fills.size() / fill.size()));
  gather.run(in.data, Body{block, std::move(fills), out.as<uint8_t>()});
}

// The same on a GPU. `find(context)` gives the region; each sample has `fills` elements in `fill`, one or as many as
// channels.
template <class Find>
void record_canvas(gpu::Recorder& r, const std::vector<uint8_t>& fill, int fills, const Find& find) {
  if (!r.size()) return;
  const DType type = r[0].out(0).dtype;
  const auto* there = static_cast<const uint8_t*>(r.constant(fill.data(), fill.size()));
  gpu::record_gather(r, gpu::kGather, type, type, Border::constant,
                     [&](const Context& c, Gather& gather, device::GatherHead& head) {
                       gather.add_region(c.in(0), find(c), fills > 1 ? c.in(0).shape.ndim - 1 : -1);
                       head.fills = there + size_t(c.index) * size_t(fills) * size_of(type);
                     });
}

}  // namespace ps
