// Pixels that are decoded already, in memory, for the conversions that all formats share.
#pragma once

#include "decode/channels.h"

namespace ps {

class DecodedPixels : public PictureReader {
 public:
  // Interleaved, without gaps: `window` of the stored picture, with so many channels. As the reader's ImageInfo says,
  // UINT8, or UINT16 for more than 8 bits, with numbers of just so many bits. Colours, if any, are RGB.
  DecodedPixels(const uint8_t* data, const Window& window, int channels)
      : data_(data), window_(window), channels_(channels) {}
  // `data` and `size` are not looked at. Numbers are brought to full scale of their type.
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override;

 private:
  const uint8_t* data_;
  Window window_;
  int channels_;
};

}  // namespace ps
