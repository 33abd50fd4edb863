// Which boxes erase overwrites, and how: in memory, and in rows on their way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "ops/arguments/axes.h"
#include "ops/arguments/fill_numbers.h"
#include "ops/arguments/region.h"

namespace ps {

class EraseBoxes {
 public:
  explicit EraseBoxes(const Spec& s)
      : anchor_(s.arg<float>("anchor")), shape_(s.arg<float>("shape")), axes_(s),
        centered_(s.flag("centered_anchor")), normalized_anchor_(s.flag("normalized_anchor")),
        normalized_shape_(s.flag("normalized_shape")) {
    if (s.flag("normalized")) normalized_anchor_ = normalized_shape_ = true;
  }

  // Inside the input, and not empty.
  std::vector<Region> find(const Context& c) const {
    const Tensor& in = c.in(0);
    int axes[kMaxDims];
    const int count = find_axes(c, axes);
    const int64_t anchors = anchor_.size(c), extents = shape_.size(c);
    if (anchors && anchors != extents)
      fail(ErrorKind::argument,
           "anchor has " + std::to_string(anchors) + " values, and shape " + std::to_string(extents));
    if (extents && (!count || extents % count))
      fail(ErrorKind::argument, "shape has " + std::to_string(extents) + " values, which is no multiple of the " +
                                    std::to_string(count) + " axes");
    std::vector<Region> boxes;
    for (int64_t at = 0; at < extents; at += count) {
      Region box = Region::whole(in.shape);
      for (int i = 0; i < count; i++) {
        const int axis = axes[i];
        const auto extent = float(in.shape[axis]);
        float size = shape_.get(c, at + i), start = anchors ? anchor_.get(c, at + i) : 0;
        if (normalized_shape_) size *= extent;
        if (normalized_anchor_) start *= extent;
        if (centered_) start -= size / 2;
        const int64_t begin = within(start, in.shape[axis]), end = within(start + size, in.shape[axis]);
        box.anchor[axis] = begin;
        box.shape[axis] = std::max<int64_t>(end - begin, 0);
      }
      if (box.shape.volume() > 0) boxes.push_back(box);
    }
    return boxes;
  }

 private:
  static int64_t within(float v, int64_t extent) {
    return v >= float(extent) ? extent : v > 0 ? std::min(int64_t(v), extent) : 0;   // not-a-number: 0
  }

  // All but the channels, where none are named.
  int find_axes(const Context& c, int* axes) const {
    const Tensor& in = c.in(0);
    int count = axes_.find(c, in.shape, in.layout, axes);
    if (count > 0) return count;
    for (int i = 0; i < in.shape.ndim; i++)
      if (in.layout.empty() || in.layout.axes[i] != 'C') axes[count++] = i;
    return count;
  }

  Arg<float> anchor_, shape_;
  AxesArgument axes_;
  bool centered_, normalized_anchor_, normalized_shape_;
};

// `fills`: one element, or one for each index on the axis `channels`.
inline void fill_box(const Tensor& t, const Region& box, const std::vector<uint8_t>& fills, int channels) {
  const size_t element = size_of(t.dtype);
  if (fills.size() == element) channels = -1;
  int64_t step[kMaxDims], size = int64_t(element);
  for (int i = t.shape.ndim; i-- > 0; size *= t.shape[i]) step[i] = size;
  // What a box has of the axes from `inner` on is one piece of memory: a line.
  int inner = t.shape.ndim;
  while (inner > 0 && box.shape[inner - 1] == t.shape[inner - 1]) inner--;
  inner = std::max(inner - 1, 0);
  int64_t block = 1, count = 1;                      // elements that fills repeat in; blocks
  for (int i = inner; i < t.shape.ndim; i++) count *= box.shape[i];
  if (channels > inner && channels == t.shape.ndim - 1) {
    block = t.shape[channels];
    count /= block;
  } else if (channels >= inner) {                    // the channels are elsewhere in the line: shorter lines
    inner = t.shape.ndim - 1;
    count = box.shape[inner];
  }
  const auto walk = [&](const auto& self, int axis, uint8_t* at, int64_t channel) -> void {
    if (axis < inner) {
      for (int64_t i = 0; i < box.shape[axis]; i++)
        self(self, axis + 1, at + (box.anchor[axis] + i) * step[axis],
             axis == channels ? box.anchor[axis] + i : channel);
      return;
    }
    at += box.anchor[axis] * step[axis];
    if (axis == channels) {                          // the line is one pixel's channels
      std::memcpy(at, fills.data() + size_t(box.anchor[axis]) * element, size_t(count) * element);
    } else {
      std::memcpy(at, fills.data() + size_t(channel) * element, size_t(block) * element);
      repeat_bytes(at, size_t(block) * element, count);
    }
  };
  walk(walk, 0, t.as<uint8_t>(), 0);
}

// Rows of interleaved pictures.
class EraseRows : public RowStage {
 public:
  void begin(std::vector<Region> boxes, std::vector<uint8_t> fills) {
    boxes_ = std::move(boxes);
    fills_ = std::move(fills);
  }

  Window demand(const Window& w) override {
    window_ = w;
    pixel_.resize(in.pixel_bytes());
    std::memcpy(pixel_.data(), fills_.data(), fills_.size());
    repeat_bytes(pixel_.data(), fills_.size(), int64_t(pixel_.size() / fills_.size()));
    return w;
  }
  void* place(int64_t y) override { return next->place(y); }
  bool keeps_places() const override { return next->keeps_places(); }
  void push(int64_t y, const void* row) override {
    const auto here = [&](const Region& b) { return y >= b.anchor[0] && y < b.anchor[0] + b.shape[0]; };
    if (std::none_of(boxes_.begin(), boxes_.end(), here)) return next->push(y, row);
    const size_t bytes = size_t(window_.width()) * in.pixel_bytes();
    auto* to = static_cast<uint8_t*>(next->place(y));
    if (!to) {
      row_.resize(bytes + kRowSlack);
      to = row_.data();
    }
    if (to != row) std::memcpy(to, row, bytes);
    for (const Region& b : boxes_) {
      const int64_t x0 = std::max(b.anchor[1], window_.x0), x1 = std::min(b.anchor[1] + b.shape[1], window_.x1);
      if (!here(b) || x0 >= x1) continue;
      uint8_t* at = to + size_t(x0 - window_.x0) * in.pixel_bytes();
      std::memcpy(at, pixel_.data(), pixel_.size());
      repeat_bytes(at, pixel_.size(), x1 - x0);
    }
    next->push(y, to);
  }

 private:
  std::vector<Region> boxes_;
  std::vector<uint8_t> fills_, pixel_, row_;
  Window window_;
};

}  // namespace ps
