// A unit is a header, cards of 80 letters in blocks of 2880, and data, which fills blocks as well.
#include "read/fits.h"

#include <charconv>
#include <cstdlib>

#include "core/convert.h"
#include "core/error.h"

namespace ps {
namespace {

constexpr int64_t kBlock = 2880, kCard = 80, kMost = int64_t(1) << 50, kMostBlocks = 1 << 14;

[[noreturn]] void refuse(const std::string& problem) { fail(ErrorKind::read, "the FITS file is broken: " + problem); }

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Reads the header at a place, and moves the place behind it.
FitsHeader read_header(const Bytes& file, int64_t& at) {
  FitsHeader header;
  char block[kBlock];
  for (int64_t n = 0; n < kMostBlocks; n++) {
    if (file.size() - at < kBlock) refuse("it ends within a header");
    file.read(at, block, size_t(kBlock));
    at += kBlock;
    for (int64_t k = 0; k < kBlock; k += kCard) {
      const std::string_view card(block + k, size_t(kCard));
      if (trimmed(card.substr(0, 8)) == "END" && trimmed(card.substr(8)).empty()) return header;
      header.add(card);
    }
  }
  refuse("a header has no end");
}

int64_t product(int64_t a, int64_t b) {
  int64_t found = 0;
  if (__builtin_mul_overflow(a, b, &found) || found > kMost) refuse("its header tells of more bytes than any file has");
  return found;
}

int64_t data_bytes(const FitsHeader& h, bool primary) {
  const int64_t bits = std::llabs(h.integer("BITPIX")), axes = h.integer("NAXIS");
  if (axes < 0 || axes > 999) refuse("NAXIS=" + std::to_string(axes));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) refuse("BITPIX=" + std::to_string(bits));
  if (axes == 0) return 0;
  const bool groups = primary && h.flag("GROUPS") && h.extent("NAXIS1") == 0;
  int64_t elements = 1;
  for (int64_t i = groups ? 2 : 1; i <= axes; i++) elements = product(elements, h.extent("NAXIS" + std::to_string(i)));
  const int64_t more = h.extent("PCOUNT", 0), times = h.extent("GCOUNT", 1);
  return product(product(elements + more, times), bits / 8);
}

}  // namespace

void FitsHeader::add(std::string_view card) {
  if (card.substr(8, 2) != "= ") return;
  std::string_view value = trimmed(card.substr(10));
  std::string found;
  if (value.starts_with('\'')) {                     // two quotes within are one
    found = "'";
    for (size_t i = 1; i < value.size(); i++) {
      if (value[i] == '\'' && (i + 1 == value.size() || value[i + 1] != '\'')) break;
      if (value[i] == '\'') i++;
      found += value[i];
    }
  } else {
    found = trimmed(value.substr(0, value.find('/')));
  }
  cards_.emplace(trimmed(card.substr(0, 8)), std::move(found));
}

int64_t FitsHeader::integer(std::string_view keyword, int64_t otherwise) const {
  const auto card = cards_.find(keyword);
  if (card == cards_.end()) return otherwise;
  std::string_view text = card->second;
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(std::string(keyword) + " is no whole number in its header");
  return found;
}

int64_t FitsHeader::integer(std::string_view keyword) const {
  if (!has(keyword)) refuse("its header lacks " + std::string(keyword));
  return integer(keyword, 0);
}

int64_t FitsHeader::extent(const std::string& keyword, int64_t otherwise) const {
  const int64_t found = otherwise < 0 ? integer(keyword) : integer(keyword, otherwise);
  if (found < 0 || found > kMost) refuse(keyword + "=" + std::to_string(found));
  return found;
}

double FitsHeader::number(std::string_view keyword, double otherwise) const {
  const auto card = cards_.find(keyword);
  if (card == cards_.end()) return otherwise;
  std::string text = card->second;
  for (char& c : text)
    if (c == 'D' || c == 'd') c = 'E';               // of Fortran
  const std::string_view digits = std::string_view(text).substr(text.starts_with('+'));
  double found = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found);
  if (error != std::errc() || end != digits.data() + digits.size())
    refuse(std::string(keyword) + " is no number in its header");
  return found;
}

bool FitsHeader::flag(std::string_view keyword) const {
  const auto card = cards_.find(keyword);
  return card != cards_.end() && card->second == "T";
}

std::string FitsHeader::text(std::string_view keyword) const {
  const auto card = cards_.find(keyword);
  if (card == cards_.end()) return {};
  if (!card->second.starts_with('\'')) refuse(std::string(keyword) + " is no text in its header");
  return std::string(trimmed(std::string_view(card->second).substr(1)));
}

FitsUnit find_fits_unit(const Bytes& file, int64_t number) {
  char magic[9];
  if (file.size() < kBlock)
    fail(ErrorKind::read, "it is no FITS file: it has " + std::to_string(file.size()) + " bytes");
  file.read(0, magic, sizeof magic);
  if (std::string_view(magic, sizeof magic) != "SIMPLE  =") fail(ErrorKind::read, "it is no FITS file");
  int64_t at = 0;
  for (int64_t i = 1;; i++) {
    if (i > 1 && file.size() - at < kBlock)
      fail(ErrorKind::read, "the FITS file has " + std::to_string(i - 1) + " units, and none of the number " +
           std::to_string(number));
    FitsUnit unit;
    unit.primary = i == 1;
    unit.header = read_header(file, at);
    unit.begin = at;
    unit.bytes = data_bytes(unit.header, unit.primary);
    if (i == number) {
      if (unit.bytes > file.size() - at)
        refuse("the data of unit " + std::to_string(i) + " has " + std::to_string(unit.bytes) + " bytes, but only " +
               std::to_string(file.size() - at) + " follow its header");
      return unit;
    }
    at += (unit.bytes + kBlock - 1) / kBlock * kBlock;
  }
}

FitsImage fits_image(const FitsUnit& unit) {
  const FitsHeader& h = unit.header;
  FitsImage found;
  const std::string extension = unit.primary ? "IMAGE" : h.text("XTENSION");
  found.compressed = extension == "BINTABLE" && h.flag("ZIMAGE");
  if (!found.compressed && extension != "IMAGE")
    fail(ErrorKind::read, "the unit of the FITS file is no image but '" + extension + "'");
  const std::string z = found.compressed ? "Z" : "";
  switch (h.integer(z + "BITPIX")) {
    case 8: found.stored = DType::u8; break;
    case 16: found.stored = DType::i16; break;
    case 32: found.stored = DType::i32; break;
    case 64: found.stored = DType::i64; break;
    case -32: found.stored = DType::f32; break;
    case -64: found.stored = DType::f64; break;
    default: refuse(z + "BITPIX=" + std::to_string(h.integer(z + "BITPIX")));
  }
  const int64_t axes = h.integer(z + "NAXIS");
  if (axes < 1) fail(ErrorKind::read, "the unit of the FITS file has no pixels: NAXIS=" + std::to_string(axes));
  if (axes > kMaxDims) fail(ErrorKind::unsupported, "the image has " + std::to_string(axes) + " axes");
  for (int64_t i = axes; i > 0; i--) found.shape.push(h.extent(z + "NAXIS" + std::to_string(i)));
  found.scale = h.number("BSCALE", 1);
  found.zero = h.number("BZERO", 0);
  Tensor t;
  t.dtype = found.dtype(), t.shape = found.shape;
  if (!t.is_sound()) refuse("it tells of an image of the shape " + to_string(found.shape));
  if (!found.compressed && (h.flag("GROUPS") || t.shape.volume() * int64_t(size_of(found.stored)) > unit.bytes))
    fail(ErrorKind::unsupported, "the unit of the FITS file has groups of pixels");
  return found;
}

bool FitsImage::is_offset() const {
  if (scale != 1) return false;
  return (stored == DType::u8 && zero == -128) || (stored == DType::i16 && zero == 0x1p15) ||
         (stored == DType::i32 && zero == 0x1p31) || (stored == DType::i64 && zero == 0x1p63);
}

DType FitsImage::dtype() const {
  if (scale == 1 && zero == 0) return stored;
  const bool offset = is_offset();
  switch (stored) {
    case DType::u8: return offset ? DType::i8 : DType::f32;
    case DType::i16: return offset ? DType::u16 : DType::f32;
    case DType::i32: return offset ? DType::u32 : DType::f64;
    case DType::i64: return offset ? DType::u64 : DType::f64;
    default: return stored;
  }
}

void fits_numbers(const FitsImage& image, const void* from, void* to, size_t count) {
  if (image.scale == 1 && image.zero == 0) {
    if (from != to) std::memcpy(to, from, count * size_of(image.stored));
  } else if (image.is_offset()) {                    // the highest bit is the other one
    visit_size(size_of(image.stored), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T bit = T(T(1) << (8 * sizeof(T) - 1));
      for (size_t i = 0; i < count; i++) static_cast<T*>(to)[i] = static_cast<const T*>(from)[i] ^ bit;
    });
  } else {
    visit(image.stored, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, half> && !std::is_same_v<T, bool>) {
        const auto number = [&](size_t i) { return double(static_cast<const T*>(from)[i]) * image.scale + image.zero; };
        for (size_t i = 0; i < count; i++) {
          if (image.dtype() == DType::f32) static_cast<float*>(to)[i] = float(number(i));
          else static_cast<double*>(to)[i] = number(i);
        }
      }
    });
  }
}

}  // namespace ps
