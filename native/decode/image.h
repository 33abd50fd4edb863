// Pictures in files: their format (by the first bytes), and their pixels, as rows of the window that is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/rows.h"
#include "decode/convert.h"
#include "decode/orient.h"

namespace ps {

struct Codec;
class JpegIndex;
class PictureReader;

// What a file's header says; width and height as they are stored, before any rotation.
struct ImageInfo {
  const Codec* codec = nullptr;
  int64_t width = 0, height = 0;
  int channels = 0;               // of the picture: 3 where a palette is stored, 4 for CMYK
  int bits = 8;                   // of one channel's numbers, after a palette is looked up; 32: they are FLOAT
  int orientation = 1;            // EXIF: 1 (upright) to 8

  DType stored_type() const { return bits > 16 ? DType::f32 : bits > 8 ? DType::u16 : DType::u8; }
};

struct DecodeOptions {
  ImageType type = ImageType::rgb;
  DType dtype = DType::u8;        // other types than the file's: full scale is mapped to full scale (FLOAT: to 1)
  bool adjust_orientation = true;
  bool fancy_upsampling = true;   // JPEG: interpolated chroma; false: repeated
  bool fast_idct = false;         // JPEG: libjpeg's less exact inverse DCT
  std::shared_ptr<const JpegIndex> jpeg_index;   // null: none
  int64_t max_pixels = int64_t(1) << 29;   // see decode/limit.h

  int orientation(const ImageInfo& i) const { return adjust_orientation ? i.orientation : 1; }
};

// Throws Error(decode): not a known format, a broken header, larger than options permit.
ImageInfo peek(const uint8_t* data, size_t size);
// Of pixels with more than 4 channels each 4 count as one.
void check_size(const ImageInfo& info, int64_t max_pixels);

// Of the whole picture as decode() gives it: size after rotation, channels and type as asked for.
RowFormat output_format(const ImageInfo& info, const DecodeOptions& options);

// One per worker thread: keeps its scratch memory and the libraries' state from picture to picture.
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();
  // Pushes the rows of `window`, which lies inside output_format(info, options). Throws Error(decode).
  void decode(const uint8_t* data, size_t size, const ImageInfo& info, const DecodeOptions& options,
              const Window& window, RowSink& sink);
  // The same from a reader of the caller's, whatever info.codec says.
  void decode(PictureReader& reader, const uint8_t* data, size_t size, const ImageInfo& info,
              const DecodeOptions& options, const Window& window, RowSink& sink);

 private:
  PictureReader& reader(const Codec& codec);
  std::vector<std::unique_ptr<PictureReader>> readers_;   // by the table's order, made when first needed
  PixelConverter converter_;
  Orienter orienter_;
};

}  // namespace ps
