// Affine warps on the CPU: as a stage of row pipelines, and from memory to memory.
#pragma once

#include <vector>

#include "core/converter.h"
#include "core/operator.h"
#include "ops/geometry/warp/rows.h"

namespace ps {

struct WarpParams {
  bool nearest = false, clamp = false;
  double fill = 0;
};

// Calls f(in, out) with the types that warps have: the same, or FLOAT on one side.
template <class F> decltype(auto) visit_warp(DType in, DType out, F&& f) {
  const auto from = [&](auto tag) {
    if (in == out) return f(tag, tag);
    if (out == DType::f32) return f(tag, std::type_identity<float>{});
    if (in == DType::f32) {
      const std::type_identity<float> real;
      if (out == DType::u8) return f(real, std::type_identity<uint8_t>{});
      if (out == DType::i16) return f(real, std::type_identity<int16_t>{});
      if (out == DType::i32) return f(real, std::type_identity<int32_t>{});
    }
    const char* others = in == DType::f32 ? ", or UINT8, INT16 or INT32; got " : ", or FLOAT; got ";
    fail(ErrorKind::type, std::string("dtype: expected the input's type, ") + name_of(in) + others + name_of(out));
  };
  switch (in) {
    case DType::u8: return from(std::type_identity<uint8_t>{});
    case DType::i16: return from(std::type_identity<int16_t>{});
    case DType::i32: return from(std::type_identity<int32_t>{});
    case DType::f32: return from(std::type_identity<float>{});
    default: fail(ErrorKind::type, std::string("expected UINT8, INT16, INT32 or FLOAT, got ") + name_of(in));
  }
}

// The fill as an element of the type that pixels have on the way: the output's, or the input's where they are blended.
// It is rounded to the output's before, as DALI has it.
inline void write_fill(const WarpParams& p, DType from, DType to, void* element) {
  double rounded;
  converter(DType::f64, to)(&p.fill, &rounded, 1);
  converter(to, p.nearest ? to : from)(&rounded, element, 1);
}

// One picture or volume: D axes of space. Rows are given out by row(z, y, pixels).
template <int D> class Warper {
 public:
  using Fields = device::AffineMatrix<D>;

  // Extents in x, y and z of the input and the output.
  void begin(const WarpParams& p, const Fields& matrix, const int64_t* in, const int64_t* out, int channels, DType from,
             DType to) {
    matrix_ = matrix;
    channels_ = channels;
    params_ = p;
    to_ = to;
    source_ = {};
    for (int d = 0; d < D; d++) {
      source_.size[d] = int32_t(in[d]);
      out_[d] = out[d];
    }
    source_.channels = channels;
    source_.clamp = p.clamp;
    const DType fill = p.nearest ? to : from;
    fill_.assign(size_t(channels) * size_of(fill) + 16, 0);
    for (int c = 0; c < channels; c++) write_fill(p, from, to, fill_.data() + size_t(c) * size_of(fill));
    source_.fill = fill_.data();
    pixel_ = int64_t(size_of(from)) * channels;
    rows_ = visit_warp(from, to, [&](auto f, auto t) {
      using In = typename decltype(f)::type;
      using Out = typename decltype(t)::type;
      return p.nearest ? choose<In, Out, true>() : choose<In, Out, false>();
    });
  }

  // Which pixels of the input, at most, are needed for those of the output from `x` to `end` (exclusive).
  void needed(const int64_t* x, const int64_t* end, int32_t* lo, int32_t* hi) const {
    for (int d = 0; d < D; d++) {
      double low = matrix_.at(d, D), high = low, large = std::fabs(low);
      for (int k = 0; k < D; k++) {
        const double a = double(matrix_.at(d, k)) * double(x[k]), b = double(matrix_.at(d, k)) * double(end[k]);
        low += std::min(a, b);
        high += std::max(a, b);
        large += std::max(std::fabs(a), std::fabs(b));
      }
      const double margin = 2 + 1e-4 * large;               // for neighbours, and for roundings
      const auto within = [&](double v) {
        const double last = source_.size[d] - 1;
        return int32_t(v > 0 ? v < last ? v : last : 0);    // not-a-number too
      };
      lo[d] = within(std::floor(low - margin));
      hi[d] = within(std::ceil(high + margin));
    }
  }

  // Pixels lo to hi, inclusive, are in memory; `bytes` of it can be read.
  void set_source(const void* data, int64_t row, int64_t plane, const int32_t* lo, const int32_t* hi, size_t bytes) {
    source_.data = static_cast<const uint8_t*>(data);
    source_.pixel = pixel_;
    source_.row = row;
    source_.plane = plane;
    source_.bytes = bytes;
    std::copy(lo, lo + D, source_.lo);
    std::copy(hi, hi + D, source_.hi);
  }

  // Pixels x0 to x1 (exclusive) of so many rows, at most kWarpRows, from row y of plane z on.
  void rows(int64_t z, int64_t y, int count, int64_t x0, int64_t x1, uint8_t* const* to) const {
    (this->*rows_)(z, y, count, x0, x1, to);
  }
  // All of the output.
  void run(void* to) const {
    const size_t bytes = size_of(to_) * size_t(channels_) * size_t(out_[0]);
    auto* at = static_cast<uint8_t*>(to);
    for (int64_t z = 0; z < (D == 3 ? out_[D - 1] : 1); z++)
      for (int64_t y = 0; y < out_[1]; y += kWarpRows) {
        const int count = int(std::min<int64_t>(kWarpRows, out_[1] - y));
        uint8_t* rows_to[kWarpRows];
        for (int r = 0; r < count; r++, at += bytes) rows_to[r] = at;
        rows(z, y, count, 0, out_[0], rows_to);
      }
  }

 private:
  using Rows = void (Warper::*)(int64_t, int64_t, int, int64_t, int64_t, uint8_t* const*) const;

  template <class In, class Out, bool kNearest> Rows choose() const {
    switch (channels_) {
      case 1: return &Warper::run_rows<In, Out, kNearest, 1>;
      case 3: return &Warper::run_rows<In, Out, kNearest, 3>;
      case 4: return &Warper::run_rows<In, Out, kNearest, 4>;
      default: return &Warper::run_rows<In, Out, kNearest, 0>;
    }
  }

  template <class In, class Out, bool kNearest, int C>
  void run_rows(int64_t z, int64_t y, int count, int64_t x0, int64_t x1, uint8_t* const* to) const {
#if defined(__AVX2__)
    if constexpr (D == 2 && C > 0 && sizeof(In) == 1 && !kNearest) {
      using Bytes = WarpBytes<Out, C>;
      if (Bytes::fits(source_)) return walk<Out, kNearest>(Bytes(source_), z, y, count, x0, x1, to);
    }
#endif
    walk<Out, kNearest>(WarpPixels<In, Out, kNearest, D, C>(source_), z, y, count, x0, x1, to);
  }

  template <class Out, bool kNearest, class Pixels>
  void walk(const Pixels& pixels, int64_t z, int64_t y, int count, int64_t x0, int64_t x1, uint8_t* const* to) const {
    WarpWalk<D> walk(matrix_, z, y, x0);
    WarpPositions<D> positions;
    Out* at[kWarpRows];
    for (int r = 0; r < count; r++) at[r] = reinterpret_cast<Out*>(to[r]);
    for (int64_t x = x0; x < x1;) {
      const int64_t n = walk.template next<kNearest>(x1 - x, positions);
      pixels.run(positions, n, count, at);
      for (int r = 0; r < count; r++) at[r] += n * channels_;
      x += n;
    }
  }

  WarpParams params_;
  Fields matrix_;
  WarpSource source_;
  int64_t out_[3] = {}, pixel_ = 0;
  int channels_ = 0;
  DType to_ = DType::u8;
  Rows rows_ = nullptr;
  std::vector<uint8_t> fill_;
};

extern template class Warper<2>;           // pictures.cpp
extern template class Warper<3>;           // volumes.cpp

// Any row may be needed for the first row of the output, so rows are kept until all are there.
class WarpStage : public RowStage {
 public:
  void begin(const WarpParams& p, const device::AffineMatrix<2>& matrix, const RowFormat& from, const RowFormat& to) {
    in = from;
    out = to;
    const int64_t read[] = {in.width, in.height}, written[] = {out.width, out.height};
    warper_.begin(p, matrix, read, written, in.channels, in.dtype, out.dtype);
  }

  Window demand(const Window& w) override {
    wanted_ = w;
    const int64_t begin[] = {w.x0, w.y0}, end[] = {w.x1, w.y1};
    warper_.needed(begin, end, lo_, hi_);
    stride_ = size_t(hi_[0] - lo_[0] + 1) * in.pixel_bytes();
    return {lo_[0], lo_[1], hi_[0] + 1, hi_[1] + 1};
  }

  bool take(const void* picture, size_t stride) override {
    emit(picture, stride, size_t(hi_[1] - lo_[1]) * stride + stride_);
    return true;
  }
  void* place(int64_t y) override {
    reserve(picture_, size_t(hi_[1] - lo_[1] + 1) * stride_);
    return picture_.data() + size_t(y - lo_[1]) * stride_;
  }
  void push(int64_t y, const void* row) override {
    void* to = place(y);
    if (to != row) std::memcpy(to, row, stride_);
    if (y == hi_[1]) emit(picture_.data(), stride_, picture_.size());
  }

 private:
  static void reserve(std::vector<uint8_t>& v, size_t bytes) {
    if (v.size() < bytes + kRowSlack) v.resize(bytes + kRowSlack);
  }

  void emit(const void* picture, size_t stride, size_t bytes) {
    warper_.set_source(picture, int64_t(stride), 0, lo_, hi_, bytes);
    const size_t row = size_t(wanted_.width()) * out.pixel_bytes() + kRowSlack;
    reserve(rows_, row * kWarpRows);
    for (int64_t y = wanted_.y0; y < wanted_.y1; y += kWarpRows) {
      const int count = int(std::min<int64_t>(kWarpRows, wanted_.y1 - y));
      uint8_t* to[kWarpRows];
      for (int r = 0; r < count; r++) {
        to[r] = next->keeps_places() ? static_cast<uint8_t*>(next->place(y + r)) : nullptr;
        if (!to[r]) to[r] = rows_.data() + row * size_t(r);
      }
      warper_.rows(0, y, count, wanted_.x0, wanted_.x1, to);
      for (int r = 0; r < count; r++) next->push(y + r, to[r]);
    }
  }

  Warper<2> warper_;
  Window wanted_;
  int32_t lo_[2] = {}, hi_[2] = {};
  size_t stride_ = 0;
  std::vector<uint8_t> picture_, rows_;
};

}  // namespace ps
