// The header is a literal of Python's: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#include "read/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "core/byte_order.h"

namespace ps {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLongest = size_t(1) << 20;

[[noreturn]] void refuse(ErrorKind kind, const std::string& problem) {
  fail(kind, "a .npy file is broken: " + problem);
}

class Literal {
 public:
  Literal(std::string_view text, ErrorKind kind) : left_(text), kind_(kind) {}

  NpyHeader header() {
    NpyHeader found;
    bool has[3] = {};
    expect('{');
    while (!take('}')) {
      const std::string_view key = text();
      expect(':');
      if (key == "descr") has[0] = true, type(found);
      else if (key == "fortran_order") has[1] = true, found.fortran = truth();
      else if (key == "shape") has[2] = true, found.shape = shape();
      else refuse(kind_, "its header has the key " + shown(key));
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!has[0] || !has[1] || !has[2]) refuse(kind_, "its header lacks descr, fortran_order or shape");
    return found;
  }

 private:
  static std::string shown(std::string_view text) {
    std::string found = "'";
    for (const char c : text.substr(0, 40)) found += c >= ' ' && c <= '~' ? c : '?';
    return found + "'";
  }
  void space() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size())); }
  bool take(char c) {
    space();
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(kind_, std::string("its header lacks a '") + c + "' before " + shown(left_));
  }
  std::string_view text() {
    space();
    const char quote = left_.empty() ? 0 : left_[0];
    const size_t end = quote == '\'' || quote == '"' ? left_.find(quote, 1) : left_.npos;
    if (end == left_.npos) refuse(kind_, "its header lacks a text before " + shown(left_));
    const std::string_view found = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return found;
  }
  bool truth() {
    space();
    for (const std::string_view word : {"True", "False"})
      if (left_.starts_with(word)) {
        left_.remove_prefix(word.size());
        return word == "True";
      }
    refuse(kind_, "its header lacks True or False before " + shown(left_));
  }
  Shape shape() {
    Shape found;
    expect('(');
    while (!take(')')) {
      space();
      int64_t extent = 0;
      const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), extent);
      if (error != std::errc() || extent < 0) refuse(kind_, "its header lacks an extent before " + shown(left_));
      left_.remove_prefix(size_t(end - left_.data()));
      take('L');                                     // of Python 2
      if (found.ndim == kMaxDims) fail(ErrorKind::unsupported, "the array has more than 12 axes");
      found.push(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return found;
  }
  void type(NpyHeader& to) {
    space();
    if (left_.starts_with('[')) fail(ErrorKind::unsupported, "the array is of records, not of numbers");
    const std::string_view name = text();
    const char order = name.empty() ? 0 : name[0];
    const bool has_order = order == '<' || order == '>' || order == '=' || order == '|';
    const std::string_view kind = name.substr(has_order);
    static constexpr std::pair<std::string_view, DType> known[] = {
        {"b1", DType::boolean}, {"?", DType::boolean}, {"u1", DType::u8}, {"u2", DType::u16}, {"u4", DType::u32},
        {"u8", DType::u64}, {"i1", DType::i8}, {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64},
        {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}};
    const auto* found = std::find_if(std::begin(known), std::end(known), [&](auto& k) { return k.first == kind; });
    if (found == std::end(known))
      fail(ErrorKind::unsupported, "the array is of the type " + shown(name) + ", of which no tensor is");
    to.dtype = found->second;
    const bool big = order == '>', little = order == '<';
    to.swapped = size_of(to.dtype) > 1 && (std::endian::native == std::endian::little ? big : little);
  }

  std::string_view left_;
  ErrorKind kind_;
};

}  // namespace

size_t npy_header_bytes(const uint8_t* data, size_t size, ErrorKind kind) {
  if (size < kMagic.size() || std::memcmp(data, kMagic.data(), kMagic.size()))
    fail(kind, "it is no .npy file: it does not begin with \\x93NUMPY");
  if (size < kNpyFirst) refuse(kind, "it ends within its header");
  const int version = data[6];
  if (version < 1 || version > 3) fail(ErrorKind::unsupported, "a .npy file has version " + std::to_string(version));
  const size_t length = version == 1 ? 10 + size_t(le16(data + 8)) : 12 + size_t(le32(data + 8));
  if (length > kLongest) refuse(kind, "its header has " + std::to_string(length) + " bytes");
  return length;
}

NpyHeader read_npy_header(const uint8_t* data, size_t size, ErrorKind kind) {
  const size_t length = npy_header_bytes(data, size, kind), first = data[6] == 1 ? 10 : 12;
  if (length > size) refuse(kind, "it ends within its header");
  NpyHeader found = Literal({reinterpret_cast<const char*>(data) + first, length - first}, kind).header();
  found.begin = int64_t(length);
  Tensor t;
  t.dtype = found.dtype, t.shape = found.shape;
  if (!t.is_sound()) refuse(kind, "its header tells of the shape " + to_string(found.shape));
  return found;
}

void swap_bytes(void* data, size_t element, size_t count) {
  const auto swap = [&]<class T>(T) {
    auto* numbers = static_cast<T*>(data);
    for (size_t i = 0; i < count; i++) {
      if constexpr (sizeof(T) == 2) numbers[i] = __builtin_bswap16(numbers[i]);
      else if constexpr (sizeof(T) == 4) numbers[i] = __builtin_bswap32(numbers[i]);
      else numbers[i] = __builtin_bswap64(numbers[i]);
    }
  };
  if (element == 2) swap(uint16_t());
  if (element == 4) swap(uint32_t());
  if (element == 8) swap(uint64_t());
}

}  // namespace ps
