// The chunks of PNG files that are as the standard wants them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/png/inflate.h"

namespace ps::png {

enum ColorType : uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

struct Header {
  int64_t width = 0, height = 0;
  uint8_t depth = 0, type = 0;           // bits of a sample; a ColorType
  uint8_t palette[256][4];               // red, green, blue; black where the file has no entry
  size_t data = 0;                       // where the first IDAT begins

  int samples() const { return type == kGrayAlpha ? 2 : type == kRgb ? 3 : type == kRgba ? 4 : 1; }
  int pixel_bits() const { return samples() * depth; }
  size_t row_bytes(int64_t pixels) const { return (size_t(pixels) * size_t(pixel_bits()) + 7) / 8; }
};

// What comes before the picture's data. False: broken, or rare (interlaced): libpng's to decode or to refuse.
bool parse(const uint8_t* data, size_t size, Header& header);

// The bytes of all IDAT chunks, one behind the other.
class ImageData : public ByteSource {
 public:
  void start(const uint8_t* data, size_t size, size_t first);
  size_t read(uint8_t* to, size_t most) override;
  // Whether all of them were read, and the file is whole to its last chunk.
  bool finished() const;
  bool broken() const { return broken_; }

 private:
  bool open();

  const uint8_t* data_ = nullptr;
  size_t size_ = 0, at_ = 0, left_ = 0;  // where it is, and how much of the chunk follows
  uint32_t crc_ = 0;
  bool broken_ = false, done_ = false;
};

}  // namespace ps::png
