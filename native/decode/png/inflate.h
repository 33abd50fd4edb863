// Unpacks a zlib stream piece by piece, as far as is asked for: photographs at twice zlib's speed and more. It takes
// streams that are right in every respect; what is wrong with others, and whether that matters, zlib has to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/png/huffman.h"

namespace ps::png {

struct ByteSource {
  virtual ~ByteSource() = default;
  // Fewer than `most`: no more will come.
  virtual size_t read(uint8_t* to, size_t most) = 0;
};

class Inflate {
 public:
  static constexpr size_t kHistory = 32768;    // bytes back at most that the stream refers to
  static constexpr size_t kSlack = 320;        // bytes past its goal that run() may write, some of which are garbage

  enum class Status { more, end, broken };

  Inflate();
  void start(ByteSource& source);
  // Writes from `out` on, and moves it, until it has reached `goal`, by a match's length more than that at most, or the
  // stream is at its end. What was written before lies in front of it, back to `history` if not further.
  Status run(const uint8_t* history, uint8_t*& out, uint8_t* goal);
  // At the stream's end: what it says of the bytes that were unpacked, and whether nothing lies behind it.
  uint32_t adler() const { return adler_; }
  bool used_up() const { return next_ == end_; }

 private:
  enum class Stage { header, block, stored, codes, trailer, end };

  void refill() {
    uint64_t bytes;
    __builtin_memcpy(&bytes, next_, 8);
    bits_ |= bytes << (count_ & 63);
    next_ += 7 - (count_ >> 3 & 7);
    count_ = 56 + (count_ & 7);
  }
  uint32_t take(int n) {
    const uint32_t v = uint32_t(bits_ & ((uint64_t(1) << n) - 1));
    bits_ >>= n;
    count_ -= uint64_t(n);
    return v;
  }
  void to_byte();
  void fetch();
  bool overrun() const;
  bool advance(const uint8_t* history, uint8_t*& out, uint8_t* goal);
  bool open_stream();
  bool open_block();
  bool open_stored();
  bool open_codes(bool fixed);
  bool read_lengths(uint8_t* lengths, int literals, int distances);
  bool copy_stored(uint8_t*& out, const uint8_t* goal);
  bool decode(const uint8_t* history, uint8_t*& out, const uint8_t* goal);
  bool close_stream();

  static constexpr int kLiteralBits = 11, kDistanceBits = 8;
  static constexpr size_t kInput = 32768, kInputSlack = 1024;

  ByteSource* source_ = nullptr;
  std::vector<uint8_t> input_;
  // Within input_. Behind the stream's last byte lie as many zeros as a block's header may take.
  const uint8_t *next_ = nullptr, *end_ = nullptr;
  bool last_ = false;
  uint64_t bits_ = 0, count_ = 0;                       // the next bits, lowest first; modulo 64, how many are valid
  Stage stage_ = Stage::header;
  bool final_ = false;
  size_t stored_ = 0;
  uint32_t adler_ = 0;
  uint32_t distance_symbols_[32];                       // by how far back the stream may refer
  uint32_t literals_[(1 << kLiteralBits) + 512], distances_[(1 << kDistanceBits) + 256];
};

}  // namespace ps::png
