// The fields of a message of protocol buffers, as they lie in memory: numbers and bytes by their number, unknown ones
// passed over. Whatever the bytes are, nothing outside them is read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "core/byte_order.h"
#include "core/error.h"

namespace ps {

using Bytes = std::span<const uint8_t>;

enum class Wire : uint32_t { varint = 0, fixed64 = 1, bytes = 2, begin_group = 3, end_group = 4, fixed32 = 5 };

[[noreturn]] inline void refuse_message() { fail(ErrorKind::read, "its protocol buffer is broken"); }

// A number of 7 bits a byte, of which all but the last have the eighth.
inline uint64_t take_varint(const uint8_t*& at, const uint8_t* end) {
  if (at != end && *at < 0x80) [[likely]] return *at++;
  uint64_t value = 0;
  for (int bits = 0; bits < 64; bits += 7) {
    if (at == end) refuse_message();
    const uint8_t byte = *at++;
    value |= uint64_t(byte & 0x7f) << bits;
    if (byte < 0x80) return value;
  }
  refuse_message();
}

class Message {
 public:
  explicit Message(Bytes bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  // The next field; false: there is none.
  bool next() {
    if (at_ == end_) return false;
    const uint64_t tag = take_varint(at_, end_);
    number_ = uint32_t(tag >> 3);
    wire_ = Wire(tag & 7);
    if (tag >> 32 || !number_) refuse_message();
    switch (wire_) {
      case Wire::varint: value_ = take_varint(at_, end_); break;
      case Wire::fixed64: bytes_ = take(8); break;
      case Wire::fixed32: bytes_ = take(4); break;
      case Wire::bytes: bytes_ = take(take_varint(at_, end_)); break;
      case Wire::begin_group: skip_group(); break;
      default: refuse_message();
    }
    return true;
  }

  // The field that next() has found.
  bool is(uint32_t number, Wire wire) const { return number_ == number && wire_ == wire; }
  uint32_t number() const { return number_; }
  Wire wire() const { return wire_; }
  uint64_t value() const { return value_; }        // of a varint
  Bytes bytes() const { return bytes_; }           // of others

 private:
  Bytes take(uint64_t n) {
    if (n > uint64_t(end_ - at_)) refuse_message();
    const Bytes found(at_, size_t(n));
    at_ += n;
    return found;
  }

  // What old programs put around several fields: passed over, with the groups within.
  void skip_group() {
    const uint32_t number = number_;
    int depth = 1;
    while (depth) {
      const uint64_t tag = take_varint(at_, end_);
      switch (Wire(tag & 7)) {
        case Wire::varint: take_varint(at_, end_); break;
        case Wire::fixed64: take(8); break;
        case Wire::fixed32: take(4); break;
        case Wire::bytes: take(take_varint(at_, end_)); break;
        case Wire::begin_group: depth++; break;
        case Wire::end_group: depth--; break;
        default: refuse_message();
      }
    }
    number_ = number;
    wire_ = Wire::begin_group;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  uint32_t number_ = 0;
  Wire wire_ = Wire::varint;
  uint64_t value_ = 0;
  Bytes bytes_;
};

// The numbers of a repeated field of a message, packed or one by one. T: int64_t and int32_t are varints, float and
// double their bits.
template <class T> inline constexpr Wire wire_of =
    std::is_integral_v<T> ? Wire::varint : sizeof(T) == 4 ? Wire::fixed32 : Wire::fixed64;

// Varints end where a byte lacks its eighth bit; a last one that does not is refused when they are read.
inline size_t count_varints(Bytes packed) {
  size_t n = 0;
  for (const uint8_t byte : packed) n += byte < 0x80;
  return n + (!packed.empty() && packed.back() >= 0x80);
}

template <class T> size_t count_numbers(Bytes message, uint32_t field) {
  size_t n = 0;
  for (Message m(message); m.next();) {
    if (m.is(field, wire_of<T>)) {
      n++;
    } else if (m.is(field, Wire::bytes)) {
      if constexpr (std::is_integral_v<T>) {
        n += count_varints(m.bytes());
      } else {
        if (m.bytes().size() % sizeof(T)) refuse_message();
        n += m.bytes().size() / sizeof(T);
      }
    }
  }
  return n;
}

// As many as were counted.
template <class T> T* copy_numbers(Bytes message, uint32_t field, T* to) {
  static_assert(std::is_integral_v<T> || std::endian::native == std::endian::little);
  for (Message m(message); m.next();) {
    if (m.is(field, wire_of<T>)) {
      if constexpr (std::is_integral_v<T>) *to++ = T(m.value());
      else std::memcpy(to++, m.bytes().data(), sizeof(T));
    } else if (m.is(field, Wire::bytes)) {
      const Bytes packed = m.bytes();
      if constexpr (std::is_integral_v<T>) {
        for (const uint8_t *at = packed.data(), *end = at + packed.size(); at != end;) *to++ = T(take_varint(at, end));
      } else if (!packed.empty()) {
        std::memcpy(to, packed.data(), packed.size());
        to += packed.size() / sizeof(T);
      }
    }
  }
  return to;
}

}  // namespace ps
