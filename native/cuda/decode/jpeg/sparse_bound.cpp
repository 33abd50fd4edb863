#include "cuda/decode/jpeg/sparse_bound.h"

#include <algorithm>

#include "device/jpeg/sparse.h"

namespace ps::gpu {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Of those symbols for which `counts` is true. 16 if there is none: the bits that an invalid code takes.
template <class Counts> int64_t least_bits(const jpeg::HuffmanSpec& spec, Counts counts) {
  int64_t least = 16;
  for (int length = 1, i = 0; length < least; length++)
    for (int n = 0; n < spec.counts[length - 1] && i < 256; n++, i++)
      if (counts(spec.symbols[i])) least = std::min(least, int64_t(length + spec.symbols[i] % 16));
  return least;
}

}  // namespace

JpegSparseBound::JpegSparseBound(const jpeg::Header& h) : symbol_(16) {
  for (int i = 0; i < h.components; i++) {
    const jpeg::Component& c = h.component[i];
    const auto is_end = [](int symbol) { return symbol % 16 == 0 && symbol != 0xF0; };
    const int64_t dc = least_bits(h.dc[c.dc], [](int) { return true; });
    const int64_t end = least_bits(h.ac[c.ac], is_end);
    const int64_t other = least_bits(h.ac[c.ac], [&](int symbol) { return !is_end(symbol); });
    blocks_ += c.h * c.v;
    mcu_ += c.h * c.v * (dc + std::min(end, other));
    symbol_ = std::min(symbol_, other);
  }
  segment_ = h.restart_interval ? std::max(h.restart_interval * mcu_, int64_t(8)) : INT64_MAX;
}

// A vector has room for some symbols, and for none behind the end of a segment or of the subsequence. Whole MCUs take
// their bits; of the one that the subsequence begins within, the blocks at its end may be those with the fewest; and
// the last block has up to 65 symbols behind the subsequence.
int64_t JpegSparseBound::vectors(int64_t subsequence_bits) const {
  const int64_t symbols = std::max(ceil_div(subsequence_bits * 2 * blocks_, mcu_), ceil_div(subsequence_bits, symbol_));
  constexpr int64_t each = device::JpegSparseVector::kSymbols;
  return ceil_div(symbols + 2 * blocks_ + 65 + (each - 1) * (subsequence_bits / segment_ + 2), each) + 1;
}

int64_t JpegSparseBound::bytes(int64_t subsequence_bits, int64_t subsequences) const {
  constexpr int64_t together = device::kJpegSparseColumns;
  return ceil_div(subsequences, together) * together * vectors(subsequence_bits) *
         int64_t(sizeof(device::JpegSparseVector));
}

}  // namespace ps::gpu
