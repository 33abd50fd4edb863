// A block is a row of sequences: a token, bytes that are copied as they are (literals), and a match, which is bytes
// that the output has further before. The token has the lengths of both, four bits each; 15 says that bytes follow
// which are added, up to the first that is not 255. The last sequence has no match.
#include "decode/lz4.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/byte_order.h"
#include "core/error.h"

namespace ps {
namespace {

constexpr size_t kLeastMatch = 4;
constexpr size_t kWide = 16;            // bytes that are copied at once where there is room for more than is needed

[[noreturn]] void refuse(const char* problem) {
  fail(ErrorKind::decode, std::string("the LZ4 block is broken: ") + problem);
}

class Reader {
 public:
  Reader(const uint8_t* in, size_t bytes, uint8_t* out, size_t size)
      : at_(in), end_(in + bytes), to_(out), begin_(out), stop_(out + size) {}

  void run() {
    while (true) {
      if (at_ == end_) refuse("it ends before a token");
      const unsigned token = *at_++;
      literals(length(token >> 4));
      if (at_ == end_) break;
      if (end_ - at_ < 2) refuse("it ends within a match");
      const size_t back = le16(at_);
      at_ += 2;
      match(back, length(token & 15) + kLeastMatch);
    }
    if (to_ != stop_)
      fail(ErrorKind::decode, "the LZ4 block has " + std::to_string(to_ - begin_) + " bytes, but the shape has " +
           std::to_string(stop_ - begin_));
  }

 private:
  size_t length(size_t n) {
    if (n < 15) return n;
    uint8_t more = 0;
    do {
      if (at_ == end_) refuse("it ends within a length");
      n += more = *at_++;
    } while (more == 255);
    return n;
  }

  void literals(size_t n) {
    if (n > size_t(end_ - at_)) refuse("it ends within literals");
    check_room(n);
    if (n <= kWide && size_t(end_ - at_) >= kWide && size_t(stop_ - to_) >= kWide) std::memcpy(to_, at_, kWide);
    else std::memcpy(to_, at_, n);
    at_ += n;
    to_ += n;
  }

  void match(size_t back, size_t n) {
    if (back == 0 || back > size_t(to_ - begin_)) refuse("a match lies before the output's beginning");
    check_room(n);
    const uint8_t* from = to_ - back;
    uint8_t* to = to_;
    to_ += n;
    if (back >= kWide && size_t(stop_ - to_) >= kWide) {         // up to so many bytes too many, written again later
      for (; to < to_; to += kWide, from += kWide) std::memcpy(to, from, kWide);
    } else if (back >= n) {
      std::memcpy(to, from, n);
    } else if (back == 1) {
      std::memset(to, *from, n);
    } else {                                                      // what is copied is copied again
      size_t done = back;
      std::memcpy(to, from, std::min(back, n));
      for (size_t k; done < n; done += k) std::memcpy(to + done, to, k = std::min(done / back * back, n - done));
    }
  }

  void check_room(size_t n) const {
    if (n > size_t(stop_ - to_)) refuse("it has more bytes than the shape");
  }

  const uint8_t *at_, *end_;
  uint8_t *to_, *begin_, *stop_;
};

}  // namespace

void inflate_lz4(const uint8_t* in, size_t bytes, uint8_t* out, size_t size) { Reader(in, bytes, out, size).run(); }

}  // namespace ps
