#include "decode/fits_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/byte_order.h"
#include "core/convert.h"
#include "decode/fits_rice.h"
#include "decode/gzip.h"
#include "read/npy.h"

namespace ps {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  fail(ErrorKind::decode, "a compressed image of the FITS file is broken: " + problem);
}

int64_t be64(const uint8_t* p) { return int64_t(uint64_t(be32(p)) << 32 | be32(p + 4)); }

// A column of the table: where its field lies in a row, and of which kind it is; kind 0: there is none.
struct Field {
  int64_t at = 0;
  char kind = 0;                                     // 'P' and 'Q' are places in the heap, of 32 and 64 bits
  char element = 0;                                  // of what lies there
};

struct Piece {
  const uint8_t* data = nullptr;
  size_t bytes = 0;
};

class Table {
 public:
  Table(const Bytes& file, const FitsUnit& unit) : header_(unit.header), data_(size_t(unit.bytes)) {
    row_ = header_.extent("NAXIS1"), rows_ = header_.extent("NAXIS2");
    heap_ = header_.extent("THEAP", row_ * rows_);
    if (row_ * rows_ > unit.bytes || heap_ > unit.bytes) refuse("its table is larger than its data");
    file.read(unit.begin, data_.data(), data_.size());
    int64_t at = 0;
    const int64_t fields = header_.extent("TFIELDS");
    for (int64_t i = 1; i <= fields && i < 1000; i++) {
      const std::string number = std::to_string(i), form = header_.text("TFORM" + number);
      size_t digits = 0;
      int64_t count = 0;
      for (; digits < form.size() && digits < 9 && std::isdigit(static_cast<unsigned char>(form[digits])); digits++)
        count = count * 10 + (form[digits] - '0');
      if (!digits) count = 1;
      const char kind = digits < form.size() ? form[digits] : char(0);
      const char element = digits + 1 < form.size() ? form[digits + 1] : char(0);
      const int64_t size = size_of_kind(kind);
      names_.push_back({header_.text("TTYPE" + number), {at, kind, element}});
      at += kind == 'X' ? (count + 7) / 8 : count * size;
    }
    if (at > row_) refuse("its rows are shorter than their fields");
  }

  int64_t rows() const { return rows_; }
  Field field(const char* name) const {
    for (const auto& [other, field] : names_)
      if (other == name) return field;
    return {};
  }
  // What a field of a row tells of the heap.
  Piece piece(int64_t row, const Field& f) const {
    if (!f.kind) return {};
    const uint8_t* p = data_.data() + row * row_ + f.at;
    if (f.kind != 'P' && f.kind != 'Q') refuse("a column of compressed data has another type");
    const int64_t count = f.kind == 'P' ? int64_t(be32(p)) : be64(p);
    const int64_t at = f.kind == 'P' ? int64_t(be32(p + 4)) : be64(p + 8);
    const int64_t all = int64_t(data_.size()) - heap_;
    if (count < 0 || at < 0 || at > all || count > (all - at) / size_of_kind(f.element))
      refuse("a tile lies behind the data");
    return {data_.data() + heap_ + at, size_t(count * size_of_kind(f.element))};
  }
  double number(int64_t row, const Field& f, const char* keyword, double otherwise) const {
    if (!f.kind) return header_.number(keyword, otherwise);
    const uint8_t* p = data_.data() + row * row_ + f.at;
    if (f.kind == 'J') return double(int32_t(be32(p)));
    if (f.kind == 'E') return double(std::bit_cast<float>(be32(p)));
    if (f.kind == 'D') return std::bit_cast<double>(be64(p));
    refuse(std::string("the column ") + keyword + " has another type");
  }

 private:
  static int64_t size_of_kind(char kind) {
    switch (kind) {
      case 'L': case 'X': case 'B': case 'A': return 1;
      case 'I': return 2;
      case 'J': case 'E': return 4;
      case 'K': case 'D': case 'C': case 'P': return 8;
      case 'M': case 'Q': return 16;
      default: refuse("a column has an unknown type");
    }
  }

  const FitsHeader& header_;
  std::vector<uint8_t> data_;
  int64_t row_ = 0, rows_ = 0, heap_ = 0;
  std::vector<std::pair<std::string, Field>> names_;
};

// The random numbers that are subtracted from floats before they are made integers: the standard gives them.
class Dither {
 public:
  static constexpr int kNumbers = 10000;
  Dither() {
    double seed = 1;
    for (float& number : numbers_) {
      const double next = 16807.0 * seed;
      seed = next - 2147483647.0 * std::floor(next / 2147483647.0);
      number = float(seed / 2147483647.0);
    }
  }
  float operator[](int64_t i) const { return numbers_[i]; }

 private:
  float numbers_[kNumbers];
};

class Tiles {
 public:
  Tiles(const Bytes& file, const FitsUnit& unit, const FitsImage& image)
      : table_(file, unit), h_(unit.header), image_(image), n_(image.shape.ndim),
        how_(h_.text("ZCMPTYPE")), data_(table_.field("COMPRESSED_DATA")),
        gzipped_(table_.field("GZIP_COMPRESSED_DATA")), plain_(table_.field("UNCOMPRESSED_DATA")),
        scale_(table_.field("ZSCALE")), zero_(table_.field("ZZERO")), blank_(table_.field("ZBLANK")) {
    int64_t tiles = 1;
    for (int i = 0; i < n_; i++) {
      const int64_t extent = image.shape[i];
      tile_[i] = h_.extent("ZTILE" + std::to_string(n_ - i), i == n_ - 1 ? extent : 1);
      if (tile_[i] < 1) refuse("its tiles have no pixels");
      count_[i] = extent ? (extent - 1) / tile_[i] + 1 : 0;
      if (__builtin_mul_overflow(tiles, count_[i], &tiles)) refuse("it has too many tiles");
    }
    if (tiles != table_.rows())
      refuse("it has " + std::to_string(tiles) + " tiles, and its table " + std::to_string(table_.rows()) + " rows");
    if (how_ != "RICE_1" && how_ != "RICE_ONE" && how_ != "GZIP_1" && how_ != "GZIP_2" && how_ != "NOCOMPRESS")
      fail(ErrorKind::unsupported, "the image in the FITS file is compressed by '" + how_ + "'; RICE_1, GZIP_1 and "
           "GZIP_2 can be read");
    for (int64_t i = 1; h_.has("ZNAME" + std::to_string(i)) && i < 100; i++) {
      const std::string name = h_.text("ZNAME" + std::to_string(i)), value = "ZVAL" + std::to_string(i);
      if (name == "BLOCKSIZE") block_ = h_.integer(value);
      if (name == "BYTEPIX") pixel_bytes_ = h_.integer(value);
    }
    if (block_ < 1 || (pixel_bytes_ != 1 && pixel_bytes_ != 2 && pixel_bytes_ != 4))
      refuse("BLOCKSIZE=" + std::to_string(block_) + ", BYTEPIX=" + std::to_string(pixel_bytes_));
    const std::string quantized = h_.text("ZQUANTIZ");
    dither_ = quantized == "SUBTRACTIVE_DITHER_1" ? 1 : quantized == "SUBTRACTIVE_DITHER_2" ? 2 : 0;
    seed_ = h_.integer("ZDITHER0", 1);
    if (dither_ && (seed_ < 1 || seed_ > Dither::kNumbers)) refuse("ZDITHER0=" + std::to_string(seed_));
  }

  void decode(void* to) {
    for (int64_t row = 0; row < table_.rows(); row++) {
      int64_t first[kMaxDims] = {}, extent[kMaxDims] = {}, pixels = 1;
      for (int64_t i = n_, rest = row; i-- > 0; rest /= count_[i]) {
        first[i] = rest % count_[i] * tile_[i];
        extent[i] = std::min(tile_[i], image_.shape[int(i)] - first[i]);
        pixels *= extent[i];
      }
      pixels_.resize(size_t(pixels) * size_of(image_.stored));
      tile(row, pixels);
      place(first, extent, 0, 0, static_cast<uint8_t*>(to), pixels_.data());
    }
  }

 private:
  // Decodes a tile into pixels_.
  void tile(int64_t row, int64_t count) {
    const size_t element = size_of(image_.stored);
    const bool floats = is_float(image_.stored);
    const Piece data = table_.piece(row, data_), gzipped = table_.piece(row, gzipped_);
    const Piece plain = table_.piece(row, plain_);
    const bool quantized = floats && (scale_.kind || h_.has("ZSCALE"));
    if (data.bytes == 0 && plain.bytes) return raw(plain, element, count);
    if (data.bytes == 0) return unzip(gzipped, element, count, false);
    integers_.resize(size_t(count));
    if (how_.starts_with("RICE")) {
      decode_rice(data.data, data.bytes, int(pixel_bytes_), block_, integers_.data(), count);
    } else {
      const bool plainly = how_ == "NOCOMPRESS";
      if (quantized) pixels_.resize(integers_.size() * sizeof(int32_t));
      const size_t stored = quantized ? sizeof(int32_t) : element;
      if (plainly) raw(data, stored, count);
      else unzip(data, stored, count, how_ == "GZIP_2");
      if (!quantized) return;
      std::memcpy(integers_.data(), pixels_.data(), pixels_.size());
      pixels_.resize(size_t(count) * element);
    }
    if (floats) return floats_of(row, count);
    visit(image_.stored, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T>)
        for (int64_t i = 0; i < count; i++) reinterpret_cast<T*>(pixels_.data())[i] = T(integers_[size_t(i)]);
    });
  }

  void raw(const Piece& from, size_t element, int64_t count) {
    if (from.bytes != size_t(count) * element) refuse("a tile has " + std::to_string(from.bytes) + " bytes");
    std::memcpy(pixels_.data(), from.data, from.bytes);
    swap_bytes(pixels_.data(), element, size_t(count));
  }

  // `shuffled`: first the highest bytes of all pixels, then the next ones ...
  void unzip(const Piece& from, size_t element, int64_t count, bool shuffled) {
    const size_t bytes = size_t(count) * element;
    if (!shuffled || element == 1) {
      inflate_gzip(from.data, from.bytes, pixels_.data(), bytes);
    } else {
      shuffled_.resize(bytes);
      inflate_gzip(from.data, from.bytes, shuffled_.data(), bytes);
      for (size_t b = 0; b < element; b++)
        for (size_t i = 0; i < size_t(count); i++) pixels_[i * element + b] = shuffled_[b * size_t(count) + i];
    }
    swap_bytes(pixels_.data(), element, size_t(count));
  }

  // Floats that were made integers of: (integer - random number + 1/2) * scale + zero.
  void floats_of(int64_t row, int64_t count) {
    static const Dither dither;
    const double scale = table_.number(row, scale_, "ZSCALE", 1), zero = table_.number(row, zero_, "ZZERO", 0);
    const bool has_blank = blank_.kind || h_.has("ZBLANK");
    const auto blank = has_blank ? int64_t(table_.number(row, blank_, "ZBLANK", 0)) : int64_t(-2147483647);
    int64_t seed = (row + seed_ - 1) % Dither::kNumbers, next = dither_ ? int64_t(dither[seed] * 500) : 0;
    visit(image_.stored, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<T>) {
        auto* to = reinterpret_cast<T*>(pixels_.data());
        for (int64_t i = 0; i < count; i++) {
          const int32_t v = integers_[size_t(i)];
          if (v == blank) to[i] = std::numeric_limits<T>::quiet_NaN();
          else if (dither_ == 2 && v == -2147483646) to[i] = 0;
          else if (dither_) to[i] = T((double(v) - double(dither[next]) + 0.5) * scale + zero);
          else to[i] = T(double(v) * scale + zero);
          if (dither_ && ++next == Dither::kNumbers) {
            seed = (seed + 1) % Dither::kNumbers;
            next = int64_t(dither[seed] * 500);
          }
        }
      }
    });
  }

  // Copies the tile's rows to where they belong; returns what follows in it.
  const uint8_t* place(const int64_t* first, const int64_t* extent, int axis, int64_t at, uint8_t* to,
                       const uint8_t* from) const {
    const size_t element = size_of(image_.stored);
    if (axis == n_ - 1) {
      const size_t bytes = size_t(extent[axis]) * element;
      std::memcpy(to + size_t(at * image_.shape[axis] + first[axis]) * element, from, bytes);
      return from + bytes;
    }
    for (int64_t i = 0; i < extent[axis]; i++)
      from = place(first, extent, axis + 1, at * image_.shape[axis] + first[axis] + i, to, from);
    return from;
  }

  Table table_;
  const FitsHeader& h_;
  const FitsImage& image_;
  int n_;
  std::string how_;
  Field data_, gzipped_, plain_, scale_, zero_, blank_;
  int64_t tile_[kMaxDims] = {}, count_[kMaxDims] = {};
  int64_t block_ = 32, pixel_bytes_ = 4, seed_ = 1;
  int dither_ = 0;
  std::vector<uint8_t> pixels_, shuffled_;
  std::vector<int32_t> integers_;
};

}  // namespace

void decode_fits_tiles(const Bytes& file, const FitsUnit& unit, const FitsImage& image, void* to) {
  if (image.shape.volume() == 0) return;
  Tiles(file, unit, image).decode(to);
}

}  // namespace ps
