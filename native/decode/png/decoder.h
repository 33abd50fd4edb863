// A decoder for PNG files, made for speed: what libpng makes of sound ones, to the last bit. Of a window it unpacks the
// rows down to the last one of it, and of each the columns up to the last one of it. Broken and rare files are left to
// libpng.
#pragma once

#include <vector>

#include "decode/channels.h"
#include "decode/png/chunks.h"

namespace ps::png {

class Decoder {
 public:
  // False: libpng has to decode the picture, from the start; rows that were pushed are right.
  bool decode(const uint8_t* data, size_t size, const PictureRequest& request, RowSink& sink);

 private:
  void start_rows(const PictureRequest& request, RowSink& sink);
  const uint8_t* next_row(size_t bytes);
  bool goes_on();
  bool ends_well();
  const uint8_t* pixels(const uint8_t* row, const Window& window);

  Header header_;
  ImageData data_;
  Inflate inflate_;
  std::vector<uint8_t> unpacked_;               // filtered rows, with those before that the stream refers to
  uint8_t *read_ = nullptr, *end_ = nullptr;    // of it: rows that are still to be read
  size_t wanted_ = 0;                           // bytes that are still to be unpacked
  uint32_t adler_ = 0;
  bool whole_ = false;
  std::vector<uint8_t> rows_[2], pixels_;
  ChannelRows channels_;
};

}  // namespace ps::png
