// FITS files: what their header and data units (HDUs) are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/tensor.h"
#include "read/bytes.h"

namespace ps {

// The cards of a header that have a value, by keyword; of several the first.
class FitsHeader {
 public:
  bool has(std::string_view keyword) const { return cards_.find(keyword) != cards_.end(); }
  // Throws Error(read) where the value is of another kind; `otherwise`: there is none.
  int64_t integer(std::string_view keyword, int64_t otherwise) const;
  int64_t integer(std::string_view keyword) const;                   // it must be there
  double number(std::string_view keyword, double otherwise) const;
  bool flag(std::string_view keyword) const;                         // false where there is none
  std::string text(std::string_view keyword) const;                  // "" where there is none; without spaces behind
  void add(std::string_view card);
  // An extent, a number of bytes or the like; throws Error(read) unless it lies within 0 and 2^50.
  int64_t extent(const std::string& keyword, int64_t otherwise = -1) const;

 private:
  std::map<std::string, std::string, std::less<>> cards_;
};

struct FitsUnit {
  FitsHeader header;
  int64_t begin = 0, bytes = 0;          // of the data, without what fills the last block
  bool primary = false;
};

// The unit of this number, from 1. Throws Error(read).
FitsUnit find_fits_unit(const Bytes& file, int64_t number);

// An image: its pixels as they are stored, and what numbers these stand for.
struct FitsImage {
  Shape shape;                           // rows of rows: the last axis is the innermost
  DType stored = DType::none;
  double scale = 1, zero = 0;
  bool compressed = false;               // in tiles, as rows of a table

  bool is_offset() const;                // the numbers of the type with the other sign, which FITS does not have
  DType dtype() const;                   // of the numbers
};
FitsImage fits_image(const FitsUnit& unit);   // throws Error(read) or Error(unsupported) where the unit has none

// From stored pixels to numbers, `count` of them; `to` may be `from` where both are of one size.
void fits_numbers(const FitsImage& image, const void* from, void* to, size_t count);

}  // namespace ps
