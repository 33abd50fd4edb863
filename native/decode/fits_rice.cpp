#include "decode/fits_rice.h"

#include <algorithm>

#include "core/error.h"

namespace ps {
namespace {

class Bits {
 public:
  Bits(const uint8_t* in, size_t bytes) : at_(in), end_(in + bytes) {}
  uint32_t take(int n) {                             // up to 32
    uint32_t found = 0;
    while (n > 0) {
      if (!left_) next();
      const int now = std::min(n, left_);
      found = found << now | (byte_ >> (left_ - now) & ((1u << now) - 1));
      left_ -= now;
      n -= now;
    }
    return found;
  }
  uint32_t zeros() {                                 // before the next one, which is taken, too
    uint32_t n = 0;
    while (true) {
      if (!left_) next();
      const uint32_t rest = byte_ & ((1u << left_) - 1);
      if (rest) {
        const int high = 31 - __builtin_clz(rest);
        n += uint32_t(left_ - 1 - high);
        left_ = high;
        return n;
      }
      n += uint32_t(left_);
      left_ = 0;
    }
  }

 private:
  void next() {
    if (at_ == end_) fail(ErrorKind::decode, "a tile of the FITS file is broken: it ends too early");
    byte_ = *at_++;
    left_ = 8;
  }
  const uint8_t *at_, *end_;
  uint32_t byte_ = 0;
  int left_ = 0;
};

}  // namespace

void decode_rice(const uint8_t* in, size_t bytes, int pixel_bytes, int64_t block, int32_t* to, int64_t count) {
  const int counter = pixel_bytes == 1 ? 3 : pixel_bytes == 2 ? 4 : 5, whole = 8 * pixel_bytes;
  const uint32_t most = pixel_bytes == 1 ? 6 : pixel_bytes == 2 ? 14 : 25;
  Bits bits(in, bytes);
  uint32_t last = bits.take(whole);
  for (int64_t begin = 0; begin < count; begin += block) {
    const uint32_t said = bits.take(counter);
    const int64_t end = std::min(begin + block, count);
    for (int64_t i = begin; i < end; i++) {
      uint32_t mapped = 0;                           // said == 0: all are as the last one
      if (said == most + 1) {
        mapped = bits.take(whole);
      } else if (said > most + 1) {
        fail(ErrorKind::decode, "a tile of the FITS file is broken: it has a wrong number of bits");
      } else if (said) {
        const int low = int(said - 1);
        mapped = bits.zeros();
        if (low) mapped = mapped << low | bits.take(low);
      }
      last += mapped & 1 ? ~(mapped >> 1) : mapped >> 1;
      to[i] = pixel_bytes == 1 ? int32_t(uint8_t(last)) : pixel_bytes == 2 ? int32_t(int16_t(last)) : int32_t(last);
    }
  }
}

}  // namespace ps
