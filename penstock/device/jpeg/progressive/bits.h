// The bits of a scan, from its bytes in the file. A warp takes out the stuffing together, a few bytes for each lane,
// and keeps what comes next in shared memory; then each lane reads the same bits.
#pragma once

#include "device/jpeg/huffman.h"
#include "device/jpeg/progressive/scan.h"

namespace ps::device {

inline constexpr uint32_t kJpegAheadBytes = 1024;
inline constexpr uint32_t kJpegUnitBits = 2048;  // more than a block, or an MCU of DC values, may have: 63 * (16 + 15)

#if !PS_HOST
class JpegScanBits {
 public:
  PS_FN explicit JpegScanBits(uint32_t* words) : words_(words) {}

  PS_FN void open(const uint8_t* file, const JpegSegment& segment) {
    file_ = file, begin_ = segment.begin, at_ = segment.begin, end_ = segment.end;
    filled_ = bit_ = 0, bytes_ = 0;
    prepare(kJpegUnitBits);
  }
  // So many bits may be looked at and passed. Behind the segment's end come zeros.
  PS_FN void prepare(uint32_t bits) {
    if (filled_ * 8 < bit_ + bits + 128) fill(bits + 128);
  }
  PS_FN uint32_t window() const { return bits_at(first_, second_, bit_); }
  PS_FN void skip(uint32_t length) {   // less than 32 bits
    const uint32_t before = bit_;
    bit_ += length;
    if (((before ^ bit_) & 32) == 0) return;
    first_ = second_, second_ = third_, third_ = word(next_++);
  }
  // The next bits, less than 32 of them.
  PS_FN uint32_t take(uint32_t count) {
    const uint32_t bits = window() >> 1 >> (31 - count);
    skip(count);
    return bits;
  }
  // One of the bits that follow, by its index among them.
  PS_FN uint32_t ahead(uint32_t index) const {
    const uint32_t at = bit_ + index;
    return word(at >> 5) >> (31 - (at & 31)) & 1;
  }
  PS_FN void pass(uint32_t count) {
    bit_ += count;
    seek();
  }
  // More was taken than there is.
  PS_FN bool beyond() const { return at_ == end_ && int(bit_) > bytes_ * 8; }
  // Nothing is left but what fills up the last byte.
  PS_FN bool ended() const { return at_ == end_ && int(bit_) + 8 > bytes_ * 8; }

 private:
  PS_FN uint32_t word(uint32_t index) const { return words_[index]; }
  PS_FN void seek() {
    next_ = bit_ >> 5;
    first_ = word(next_++), second_ = word(next_++), third_ = word(next_++);
  }
  PS_FN void put(uint32_t at, uint32_t byte) { reinterpret_cast<uint8_t*>(words_)[at ^ 3] = uint8_t(byte); }

  // Four bytes of the file for each lane, the first one lowest. Words are aligned, as is the file, which can be read up
  // to the end of its last one.
  PS_FN uint32_t four(uint32_t at) const {
    const auto* words = reinterpret_cast<const uint32_t*>(file_);
    const uint32_t index = at >> 2, last = (end_ - 1) >> 2;
    return shift_pair(words[min(index, last)], words[min(index + 1, last)], (at & 3) * 8);
  }
  PS_FN void fill(uint32_t bits) {
    move_to_front();
    PS_LOOP while (filled_ * 8 < bit_ + bits) {
      if (at_ == end_) add_zeros();
      else add_bytes();
    }
    seek();
  }
  // What was passed is not needed any more. There is always more of that than of what is moved, once that is moved.
  PS_FN void move_to_front() {
    const uint32_t passed = bit_ >> 5, count = filled_ / 4 + 1 - passed;
    if (passed < count) return;
    sync_lanes();                                  // others may not have read what is written over here
    for (uint32_t i = uint32_t(lane()); i < count; i += kLanes) words_[i] = words_[passed + i];
    sync_lanes();
    bit_ -= passed * 32, filled_ -= passed * 4, bytes_ -= int(passed) * 4;
  }
  PS_FN void add_zeros() {
    constexpr uint32_t count = 128;
    for (uint32_t i = uint32_t(lane()); i < count; i += kLanes) put(filled_ + i, 0);
    filled_ += count;
    sync_lanes();
  }
  PS_FN void add_bytes() {
    const uint32_t at = at_ + uint32_t(lane()) * 4, left = at < end_ ? min(end_ - at, 4u) : 0;
    const uint32_t bytes = left ? four(at) : 0;
    uint32_t before = left && at > begin_ ? file_[at - 1] : 0, kept = 0, count = 0;
    PS_UNROLL for (uint32_t i = 0; i < 4; i++) {
      const uint32_t byte = bytes >> (8 * i) & 255;
      if (i < left && !(before == 255 && byte == 0)) kept |= 1u << i, count++;
      before = byte;
    }
    const uint32_t sum = scan_lanes(count, JoinSums());
    uint32_t to = filled_ + sum - count;
    PS_UNROLL for (uint32_t i = 0; i < 4; i++)
      if (kept >> i & 1) put(to++, bytes >> (8 * i) & 255);
    at_ = min(at_ + kLanes * 4u, end_);
    filled_ += value_of(kLanes - 1, sum);
    bytes_ = int(filled_);
    sync_lanes();
  }

  uint32_t* words_;                                // in shared memory
  const uint8_t* file_ = nullptr;
  uint32_t begin_ = 0, at_ = 0, end_ = 0;          // in the file: of the segment, and what was not read yet
  int32_t bytes_ = 0;                              // of the segment, from the first word here on
  uint32_t filled_ = 0;                            // with the zeros behind them
  uint32_t bit_ = 0;
  uint32_t first_ = 0, second_ = 0, third_ = 0;    // words: the bit's one and those behind
  uint32_t next_ = 0;                              // the word behind these
};
#endif

}  // namespace ps::device
