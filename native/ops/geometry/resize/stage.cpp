#include "ops/geometry/resize/stage.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "ops/geometry/resize/float.h"

namespace ps {

namespace {

// A buffer only ever grows, and is readable for a while behind its end.
template <class T> T* room(std::vector<uint8_t>& buffer, int64_t elements) {
  const size_t bytes = size_t(elements) * sizeof(T) + kRowSlack;
  if (buffer.size() < bytes) buffer.resize(bytes);
  return reinterpret_cast<T*>(buffer.data());
}

template <class In> const In* const* as_rows(const void* const* rows) {
  return reinterpret_cast<const In* const*>(rows);
}

template <size_t kBytes>
void gather(const uint8_t* row, const int32_t* first, int64_t n, size_t pixel, uint8_t* out) {
  const size_t bytes = kBytes ? kBytes : pixel;
  for (int64_t x = 0; x < n; x++, out += bytes) std::memcpy(out, row + size_t(first[x]) * bytes, bytes);
}

// After how many outputs an axis' weights recur, or a large number.
int64_t period(const Taps& taps) {
  const double scale = (double(taps.axis.hi) - double(taps.axis.lo)) / double(taps.axis.out);
  constexpr int64_t kMost = 512;
  for (int64_t n = 1; n < kMost; n++)
    if (std::abs(scale * double(n) - std::round(scale * double(n))) < 1e-5) return n;
  return kMost;
}

// Whether the integer passes agree with the float ones in all but a few of a thousand pixels. They do not where sums
// often lie half-way between two integers, since there the last bit of a weight decides: at simple ratios such as 4:3
// the weights are fractions with small denominators. Nor where there are so many weights that each is tiny.
bool integers_agree(const Taps& x, const Taps& y) {
  constexpr int kMostTaps = 40;
  constexpr int64_t kRareTies = 512;
  if (!x.nonnegative || !y.nonnegative || x.count > kMostTaps || y.count > kMostTaps) return false;
  const int64_t denominators = (x.copies ? 1 : 2 * period(x)) * (y.copies ? 1 : 2 * period(y));
  return denominators >= kRareTies;
}

}  // namespace

void ResizeStage::begin(const ResizeParams& params, const RowFormat& input, DType output) {
  in = out = input;
  out.width = params.x.out;
  out.height = params.y.out;
  out.dtype = output;
  if (columns_.build(params.x)) fixed_channels_ = 0;
  if (rows_.build(params.y)) fixed_rows_bits_ = 0;
  // Columns cost far more than rows, so they go where there are fewer rows. The window that will be demanded must
  // not matter here: a part of a picture is to be the same as that part of the whole.
  rows_first_ = std::abs(params.y.hi - params.y.lo) >= float(params.y.out);
  if (columns_.copies && rows_.copies && in.dtype == output) return choose_copy();
  if (in.dtype != output && output != DType::f32)
    fail(ErrorKind::type, std::string("resize gives its input's type or FLOAT, not ") + name_of(output));
  const bool same = in.dtype == output;
  switch (in.dtype) {
    case DType::u8:
      if (same && FixedColumns::supports(in.channels) && integers_agree(columns_, rows_))
        return rows_first_ ? choose_integers<uint8_t, int16_t>() : choose_integers<int16_t, uint8_t>();
      return same ? choose<uint8_t, uint8_t>() : choose<uint8_t, float>();
    case DType::i16: return same ? choose<int16_t, int16_t>() : choose<int16_t, float>();
    case DType::u16: return same ? choose<uint16_t, uint16_t>() : choose<uint16_t, float>();
    case DType::f32: return choose<float, float>();
    default:
      fail(ErrorKind::type, std::string("resize takes UINT8, INT16, UINT16 or FLOAT, got ") + name_of(in.dtype));
  }
}

void ResizeStage::choose_copy() {
  method_ = Method::copy;
  rows_first_ = true;
}

// Blends rows of type In to a row of type Out; the columns are blended after that, or before.
template <class In, class Out> void ResizeStage::choose_integers() {
  method_ = Method::integers;
  if (fixed_channels_ != in.channels) fixed_columns_.build(columns_, fixed_channels_ = in.channels);
  const int bits = rows_first_ ? row_bits(rows_.count) : kColumnBits;
  if (fixed_rows_bits_ != bits) fixed_rows_.build(rows_, fixed_rows_bits_ = bits);
  blend_rows_ = [](ResizeStage& s, int64_t y, const void* const* rows, void* to) {
    const int64_t length = (s.rows_first_ ? s.needed_.width() : s.wanted_.width()) * s.in.channels;
    blend_rows(as_rows<In>(rows), s.fixed_rows_.at(y), s.fixed_rows_.pairs * 2, s.fixed_rows_.bits,
               static_cast<Out*>(to), length);
  };
  blend_columns_ = [](ResizeStage& s, const void* row, void* to) {
    const int64_t skipped = s.needed_.x0 * s.in.channels;
    if constexpr (sizeof(In) == 1) {
      const int16_t* wide = static_cast<const int16_t*>(row);
      s.fixed_columns_.run(wide - skipped, s.wanted_.x0, s.wanted_.x1, static_cast<uint8_t*>(to));
    } else {
      const int64_t length = s.needed_.width() * s.in.channels;
      int16_t* wide = room<int16_t>(s.between_, length + s.fixed_columns_.slack());
      widen(static_cast<const uint8_t*>(row), wide, length);
      s.fixed_columns_.run(wide - skipped, s.wanted_.x0, s.wanted_.x1, static_cast<int16_t*>(to));
    }
  };
}

template <class In, class Out> void ResizeStage::choose() {
  method_ = Method::floats;
  if (rows_first_) {
    blend_rows_ = [](ResizeStage& s, int64_t y, const void* const* rows, void* to) {
      blend_rows(as_rows<In>(rows), &s.rows_.weight[size_t(y * s.rows_.count)], s.rows_.n[size_t(y)],
                 static_cast<float*>(to), s.needed_.width() * s.in.channels);
    };
    blend_columns_ = [](ResizeStage& s, const void* row, void* to) {
      const int64_t length = s.wanted_.width() * s.in.channels;
      float* blended = std::is_same_v<Out, float> ? static_cast<float*>(to) : room<float>(s.blended_, length);
      blend_columns(static_cast<const float*>(row) - s.needed_.x0 * s.in.channels, s.columns_, s.in.channels,
                    s.wanted_.x0, s.wanted_.x1, blended);
      if (blended != to) from_floats(blended, static_cast<Out*>(to), length);
    };
  } else {
    blend_columns_ = [](ResizeStage& s, const void* row, void* to) {
      const int64_t length = s.needed_.width() * s.in.channels;
      float* wide = room<float>(s.between_, length);
      std::copy_n(static_cast<const In*>(row), length, wide);
      blend_columns(wide - s.needed_.x0 * s.in.channels, s.columns_, s.in.channels, s.wanted_.x0, s.wanted_.x1,
                    static_cast<float*>(to));
    };
    blend_rows_ = [](ResizeStage& s, int64_t y, const void* const* rows, void* to) {
      blend_rows(as_rows<float>(rows), &s.rows_.weight[size_t(y * s.rows_.count)], s.rows_.n[size_t(y)],
                 static_cast<Out*>(to), s.wanted_.width() * s.in.channels);
    };
  }
}

Window ResizeStage::demand(const Window& output) {
  wanted_ = output;
  needed_ = {};
  next_row_ = output.y0;
  picture_ = nullptr;
  if (output.width() <= 0 || output.height() <= 0) return needed_;
  const auto extent = [](const Taps& taps, int64_t from, int64_t to, int64_t& begin, int64_t& end) {
    begin = taps.axis.in, end = 0;
    for (int64_t i = from; i < to; i++) {
      begin = std::min<int64_t>(begin, taps.first[size_t(i)]);
      end = std::max<int64_t>(end, taps.first[size_t(i)] + taps.n[size_t(i)]);
    }
  };
  extent(columns_, output.x0, output.x1, needed_.x0, needed_.x1);
  extent(rows_, output.y0, output.y1, needed_.y0, needed_.y1);

  // When an output row can be made, how far back do it and those after it reach?
  capacity_ = rows_.count;
  if (takes_rows()) {
    int64_t oldest = rows_.axis.in;
    for (int64_t y = output.y1; y-- > output.y0;) {
      oldest = std::min<int64_t>(oldest, rows_.first[size_t(y)]);
      capacity_ = std::max(capacity_, last_row(y) - oldest + 1);
    }
  }
  sources_.resize(size_t(rows_.count + 1));
  const int64_t row_elements = (rows_first_ ? needed_.width() : wanted_.width()) * in.channels;
  const size_t size = rows_first_ ? size_of(in.dtype) : method_ == Method::integers ? sizeof(int16_t) : sizeof(float);
  slot_bytes_ = (size_t(row_elements) * size + kRowSlack + 63) / 64 * 64;
  room<uint8_t>(ring_, int64_t(size_t(capacity_) * slot_bytes_));
  if (rows_first_) {
    if (method_ == Method::integers) room<int16_t>(between_, row_elements + fixed_columns_.slack());
    if (method_ == Method::floats) room<float>(between_, row_elements);
  }
  room<uint8_t>(row_, int64_t(size_t(wanted_.width()) * out.pixel_bytes()));
  return needed_;
}

void* ResizeStage::place(int64_t y) {
  return method_ != Method::copy && rows_first_ && y >= needed_.y0 && y < needed_.y1 ? slot(y) : nullptr;
}

void ResizeStage::push(int64_t y, const void* row) {
  if (method_ == Method::copy) {
    picture_ = static_cast<const uint8_t*>(row) - needed_.x0 * int64_t(in.pixel_bytes());   // for emit(): row y is here
    stride_ = 0;
  } else if (!rows_first_) {
    blend_columns_(*this, row, slot(y));
  } else if (row != slot(y)) {
    std::memcpy(slot(y), row, size_t(needed_.width()) * in.pixel_bytes());
  }
  while (next_row_ < wanted_.y1 && last_row(next_row_) <= y) emit(next_row_++);
}

void ResizeStage::resample(const void* picture, int64_t stride) {
  picture_ = static_cast<const uint8_t*>(picture);
  stride_ = stride;
  in_slot_.assign(size_t(capacity_), -1);
  for (int64_t y = wanted_.y0; y < wanted_.y1; y++) emit(y);
  picture_ = nullptr;
}

const void* ResizeStage::source_row(int64_t y) {
  if (!picture_) return slot(y);
  const uint8_t* row = picture_ + y * stride_ + needed_.x0 * int64_t(in.pixel_bytes());
  if (rows_first_) return row;
  int64_t& held = in_slot_[size_t(y % capacity_)];
  if (held != y) {
    blend_columns_(*this, row, slot(y));
    held = y;
  }
  return slot(y);
}

void ResizeStage::emit(int64_t y) {
  void* to = next->place(y);
  if (!to) to = row_.data();
  const int64_t first = rows_.first[size_t(y)];
  if (method_ == Method::copy) {
    const uint8_t* row = picture_ + first * stride_;
    const int32_t* from = &columns_.first[size_t(wanted_.x0)];
    const size_t pixel = in.pixel_bytes();
    const int64_t n = wanted_.width();
    auto* bytes = static_cast<uint8_t*>(to);
    if (columns_.shifts) std::memcpy(bytes, row + size_t(*from) * pixel, size_t(n) * pixel);
    else switch (pixel) {
      case 1: gather<1>(row, from, n, pixel, bytes); break;
      case 3: gather<3>(row, from, n, pixel, bytes); break;
      case 4: gather<4>(row, from, n, pixel, bytes); break;
      case 12: gather<12>(row, from, n, pixel, bytes); break;
      default: gather<0>(row, from, n, pixel, bytes);
    }
  } else {
    const int last = rows_.n[size_t(y)] - 1;
    for (int k = 0; k < int(sources_.size()); k++)
      sources_[size_t(k)] = k <= last ? source_row(first + k) : sources_[size_t(last)];
    void* blended = rows_first_ ? between_.data() : to;
    blend_rows_(*this, y, sources_.data(), blended);
    if (rows_first_) blend_columns_(*this, blended, to);
  }
  next->push(y, to);
}

}  // namespace ps
