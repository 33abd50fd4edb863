// The two ways to normalize a picture: row by row, and element by element.
#pragma once

#include "core/operator.h"
#include "ops/color/crop_mirror_normalize/rows.h"

namespace ps {

// Calls f(input tag, output tag) for the types that are supported.
template <class F> void visit_types(DType input, DType output, F&& f) {
  const auto with_output = [&](auto from) {
    switch (output) {
      case DType::u8: return f(from, std::type_identity<uint8_t>{});
      case DType::i8: return f(from, std::type_identity<int8_t>{});
      case DType::f16: return f(from, std::type_identity<half>{});
      default: return f(from, std::type_identity<float>{});
    }
  };
  switch (input) {
    case DType::u8: return with_output(std::type_identity<uint8_t>{});
    case DType::u16: return with_output(std::type_identity<uint16_t>{});
    case DType::i16: return with_output(std::type_identity<int16_t>{});
    case DType::i32: return with_output(std::type_identity<int32_t>{});
    case DType::f16: return with_output(std::type_identity<half>{});
    case DType::f32: return with_output(std::type_identity<float>{});
    default:
      fail(ErrorKind::type, std::string("the input is ") + name_of(input) +
                                ": expected UINT8, UINT16, INT16, INT32, FLOAT16 or FLOAT");
  }
}

// Writes the rows of one picture to where they belong in the output.
struct NormalizeStage : State, RowStage {
  enum class Order { planes, interleaved, other };   // of the output, where the input is interleaved

  Normalization normalization;
  NormalizedRow row;
  NormalizeRow normalize = nullptr;
  Order order = Order::other;
  Window window;                                     // of the input
  uint8_t* to = nullptr;
  size_t element = 0, row_bytes = 0;                 // of the output

  Window demand(const Window&) override { return window; }

  void push(int64_t y, const void* pixels) override {
    normalize(normalization, row, pixels, to + size_t(y - window.y0) * row_bytes);
  }

  // Planes that the input does not have.
  void pad() {
    for (int c = normalization.channels; order == Order::planes && c < normalization.out_channels; c++)
      for (int64_t y = 0; y < window.height(); y++)
        for (int64_t x = 0; x < window.width(); x++)
          std::memcpy(to + size_t(c * row.plane + x) * element + size_t(y) * row_bytes,
                      normalization.fill.data() + size_t(c) * element, element);
  }
};

// What a Gather (ops/gather/gather.h) does with the elements.
template <class In, class Out> struct NormalizeElements {
  const Normalization& normalization;
  Out* to;

  void copy(const uint8_t* from, int64_t stride, int64_t n, int64_t channel, int64_t channel_step) {
    for (int64_t i = 0; i < n; i++) {
      In v;
      std::memcpy(&v, from + i * stride, sizeof(In));
      to[i] = convert<Out>(normalization.apply(v, size_t(channel + i * channel_step)));
    }
    to += n;
  }
  void fill(int64_t n, int64_t channel, int64_t channel_step) {
    for (int64_t i = 0; i < n; i++)
      std::memcpy(to + i, normalization.fill.data() + size_t(channel + i * channel_step) * sizeof(Out), sizeof(Out));
    to += n;
  }
};

}  // namespace ps
