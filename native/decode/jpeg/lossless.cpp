#include "decode/jpeg/lossless.h"

#include <algorithm>
#include <string>

#include "core/byte_order.h"
#include "core/error.h"

namespace ps::jpeg {
namespace {

enum Marker : int { SOF3 = 0xC3, DHT = 0xC4, RST0 = 0xD0, SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, DRI = 0xDD, TEM = 0x01 };

[[noreturn]] void broken(const std::string& why) {
  fail(ErrorKind::decode, "this lossless JPEG cannot be decoded: " + why);
}
[[noreturn]] void truncated() { broken("the file ends too early (it is truncated)"); }

// The next marker segment: its marker, and `at` behind its length.
int next_marker(const uint8_t* data, size_t size, size_t& at, size_t& bytes) {
  for (;;) {
    while (at < size && data[at] != 0xFF) at++;
    while (at < size && data[at] == 0xFF) at++;
    if (at >= size) truncated();
    const int marker = data[at++];
    if (marker == EOI) return marker;
    if (marker == 0 || marker == TEM || (marker >= RST0 && marker <= SOI)) continue;
    if (size - at < 2) truncated();
    const size_t length = be16(data + at);
    if (length < 2 || size - at < length) truncated();
    at += 2;
    bytes = length - 2;
    return marker;
  }
}

// From the neighbours: left, above, above and left.
template <int kPredictor> int predict(int a, int b, int c) {
  switch (kPredictor) {
    case 1: return a;
    case 2: return b;
    case 3: return c;
    case 4: return a + b - c;
    case 5: return a + ((b - c) >> 1);
    case 6: return b + ((a - c) >> 1);
    default: return (a + b) >> 1;
  }
}

}  // namespace

struct LosslessDecoder::Segment {
  Bits bits;
  const uint8_t* end;

  int difference(const CodeTable& table) {
    if (bits.next > end + 8) truncated();          // what follows is slack, which is no data
    bits.refill();
    const CodeTable::Code code = table.find(bits.window);
    if (code.length() == 0) broken("its data has a code that stands for nothing");
    bits.consume(uint64_t(code.length()));
    const int size = code.symbol();
    if (size == 0) return 0;
    if (size == 16) return 32768;
    const int value = signed_value(bits.window, 64 - size);
    bits.consume(uint64_t(size));
    return value;
  }
};

void LosslessDecoder::frame_header(const uint8_t* p, size_t bytes, int64_t rows) {
  if (bytes < 6) broken("its frame header is too short");
  bits_ = p[0];
  height_ = be16(p + 1);
  width_ = be16(p + 3);
  components_ = p[5];
  if (components_ < 1 || components_ > 4 || bytes < 6 + 3 * size_t(components_))
    broken("it has " + std::to_string(components_) + " components");
  if (bits_ < 2 || bits_ > 16) broken("it has " + std::to_string(bits_) + " bits");
  rows_ = std::min(rows, height_);
  if (width_ < 1 || rows_ < 1) broken("it is empty");
  for (int i = 0; i < components_; i++) {
    ids_[i] = p[6 + 3 * i];
    if (components_ > 1 && p[7 + 3 * i] != 0x11) broken("its components are subsampled, which is not decoded");
  }
}

// `bytes` of the file are left: each number takes a bit at the least, before memory is taken for what a header claims.
void LosslessDecoder::make_room(size_t bytes) {
  const size_t numbers = size_t(width_ * rows_ * components_);
  if (numbers / 8 > bytes) truncated();
  pixels_.resize(numbers);
}

void LosslessDecoder::huffman_tables(const uint8_t* p, size_t bytes) {
  while (bytes >= 17) {
    const int kind = p[0] >> 4, number = p[0] & 15;
    HuffmanSpec spec;
    uint32_t code = 0;
    for (int length = 1; length <= 16; length++) {
      spec.counts[length - 1] = p[length];
      spec.size += p[length];
      code = (code << 1) + p[length];
      if (code >= 1u << length) broken("a Huffman table is none");
    }
    if (kind > 1 || number > 3 || spec.size > 256 || bytes - 17 < size_t(spec.size)) broken("a Huffman table is none");
    std::copy_n(p + 17, spec.size, spec.symbols);
    p += 17 + spec.size;
    bytes -= 17 + size_t(spec.size);
    if (kind != 0) continue;                       // for DCT coefficients
    if (spec.size == 0 || std::any_of(spec.symbols, spec.symbols + spec.size, [](int s) { return s > 16; }))
      broken("a Huffman table has differences of more than 16 bits");
    tables_[number].build(spec);
    has_table_[number] = true;
  }
}

LosslessDecoder::Scan LosslessDecoder::scan_header(const uint8_t* p, size_t bytes) const {
  Scan s;
  if (components_ == 0) broken("a scan comes before the frame header");
  s.count = bytes > 0 ? p[0] : 0;
  if (s.count < 1 || s.count > components_ || bytes < 4 + 2 * size_t(s.count)) broken("a scan header is broken");
  for (int i = 0; i < s.count; i++) {
    const int* found = std::find(ids_, ids_ + components_, p[1 + 2 * i]);
    s.component[i] = int(found - ids_);
    s.table[i] = p[2 + 2 * i] >> 4;
    if (s.component[i] == components_ || s.table[i] > 3 || !has_table_[s.table[i]])
      broken("a scan header names what is not there");
  }
  s.predictor = p[1 + 2 * s.count];
  s.shift = p[3 + 2 * s.count] & 15;
  if (s.predictor < 1 || s.predictor > 7) broken("its predictor is " + std::to_string(s.predictor));
  if (s.shift >= bits_) broken("its point transform is " + std::to_string(s.shift));
  return s;
}

// `first`: there is no row above that counts.
template <int kPredictor> void LosslessDecoder::row(const Scan& s, Segment& from, int64_t y, bool first) {
  const int n = components_;
  const int64_t stride = width_ * n;
  uint16_t* line = pixels_.data() + y * stride;
  const uint16_t* above = line - (first ? 0 : stride);
  const int shift = s.shift;
  for (int64_t x = 0; x < width_; x++) {
    for (int i = 0; i < s.count; i++) {
      const int64_t at = x * n + s.component[i];
      int expected;
      if (x == 0) expected = first ? 1 << (bits_ - shift - 1) : above[at] >> shift;
      else if (first) expected = line[at - n] >> shift;
      else expected = predict<kPredictor>(line[at - n] >> shift, above[at] >> shift, above[at - n] >> shift);
      line[at] = uint16_t(unsigned(expected + from.difference(tables_[s.table[i]])) << shift);
    }
  }
}

void LosslessDecoder::scan(const Scan& s, const uint8_t* data, size_t size) {
  if (restart_interval_ % width_ != 0) broken("its restart interval is not a number of rows");
  constexpr void (LosslessDecoder::*kRows[])(const Scan&, Segment&, int64_t, bool) = {
      &LosslessDecoder::row<1>, &LosslessDecoder::row<2>, &LosslessDecoder::row<3>, &LosslessDecoder::row<4>,
      &LosslessDecoder::row<5>, &LosslessDecoder::row<6>, &LosslessDecoder::row<7>};
  const int64_t between = restart_interval_ ? restart_interval_ / width_ : rows_;
  segments_.start(data, size);
  Segment segment{};
  for (int64_t y = 0; y < rows_; y++) {
    const bool first = y % between == 0;
    if (first) {
      if (!segments_.open(y / between)) broken("a restart marker is missing");
      segment.bits.start(segments_.begin());
      segment.end = segments_.end();
    }
    (this->*kRows[s.predictor - 1])(s, segment, y, first);
    if (segment.bits.bits_from(segments_.begin()) > (segment.end - segments_.begin()) * 8) truncated();
  }
}

void LosslessDecoder::decode(const uint8_t* data, size_t size, int64_t rows) {
  components_ = 0;
  restart_interval_ = 0;
  std::fill(std::begin(has_table_), std::end(has_table_), false);
  bool done[4] = {};
  for (size_t at = 2, bytes = 0;; at += bytes) {
    const int marker = next_marker(data, size, at, bytes);
    const uint8_t* p = data + at;
    if (marker == EOI) truncated();
    if (marker == SOF3 && components_ == 0) frame_header(p, bytes, rows), make_room(size - at);
    else if (marker == DHT) huffman_tables(p, bytes);
    else if (marker == DRI && bytes >= 2) restart_interval_ = be16(p);
    if (marker != SOS) continue;
    const Scan s = scan_header(p, bytes);
    for (int i = 0; i < s.count; i++) {
      if (done[s.component[i]]) broken("a component comes twice");
      done[s.component[i]] = true;
    }
    scan(s, p + bytes, size - at - bytes);
    if (std::all_of(done, done + components_, [](bool d) { return d; })) return;
  }
}

}  // namespace ps::jpeg
