#include "decode/jpeg/segments.h"

#include <bit>
#include <cstring>

#include "core/simd.h"

namespace ps::jpeg {
namespace {

#if defined(__AVX2__)
constexpr ptrdiff_t kStep = 32;
uint32_t copy_and_find_ff(const uint8_t* from, uint8_t* to) {
  __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
  return uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(-1))));
}
#else
constexpr ptrdiff_t kStep = 16;
uint32_t copy_and_find_ff(const uint8_t* from, uint8_t* to) {
  __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  return uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(-1))));
}
#endif

// `at` is behind an FF. Returns true where that FF is data, with `at` behind its stuffing; false before a marker's code
// or at the end. Several FF in a row are fill bytes before a marker; before a 00 they are damage (`sound` is false).
bool stuffed(const uint8_t*& at, const uint8_t* limit, bool& sound) {
  const uint8_t* first = at;
  while (at < limit && *at == 0xFF) at++;
  if (at == limit || *at != 0) return false;
  sound &= at == first;
  at++;
  return true;
}

// Copies up to the next marker; returns the end of the copy. May write kStep bytes more.
uint8_t* remove_stuffing(const uint8_t*& at, const uint8_t* limit, uint8_t* to, bool& sound) {
  for (;;) {
    while (limit - at >= kStep) {
      uint32_t ff = copy_and_find_ff(at, to);
      ptrdiff_t count = ff ? std::countr_zero(ff) : kStep;
      at += count, to += count;
      if (ff) break;
    }
    while (at < limit && *at != 0xFF) *to++ = *at++;
    if (at == limit) return to;
    if (!stuffed(++at, limit, sound)) return to;
    *to++ = 0xFF;
  }
}

}  // namespace

void Segments::start(const uint8_t* scan, size_t size, int64_t first) {
  at_ = scan;
  limit_ = scan + size;
  next_ = first;
  length_ = 0;
  if (bytes_.size() < size + kSlack) bytes_.resize(size + size / 4 + kSlack);
}

// From before a marker's code to behind it, if it is the one that ends segment next_.
bool Segments::pass_marker() {
  if (at_ == limit_ || *at_ != 0xD0 + (next_ & 7)) return false;
  at_++;
  next_++;
  return true;
}

bool Segments::open(int64_t number) {
  bool sound = true;
  while (next_ < number) {
    do {
      at_ = static_cast<const uint8_t*>(std::memchr(at_, 0xFF, size_t(limit_ - at_)));
      if (!at_) at_ = limit_;
      if (at_ < limit_) at_++;
    } while (at_ < limit_ && stuffed(at_, limit_, sound));
    if (!pass_marker()) return false;
  }
  if (next_ != number) return false;
  from_ = at_;
  uint8_t* end = remove_stuffing(at_, limit_, bytes_.data(), sound);
  length_ = size_t(end - bytes_.data());
  std::memset(end, 0, 64);
  if (!pass_marker()) limit_ = at_;   // nothing that follows belongs to the scan
  return sound;
}

}  // namespace ps::jpeg
