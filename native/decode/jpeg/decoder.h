// A decoder for baseline JPEG files, made for training crops: it decodes what a window needs and no more.
//
// Samples are equal to those of libjpeg-turbo (accurate integer DCT) bit for bit, for whole pictures and for windows.
// What it does not support, and files whose data contradicts itself, are left to another decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/rows.h"
#include "decode/jpeg/color.h"
#include "decode/jpeg/header.h"
#include "decode/jpeg/index.h"

namespace ps::jpeg {

enum class Status {
  ok,
  inconsistent,   // some rows may have been pushed; another decoder has to decode the picture, from the start
};

// One for each thread: it owns tables and buffers, so that in the steady state nothing is allocated.
class Decoder {
 public:
  Decoder();
  ~Decoder();

  // Decodes `window` (not empty, within the picture, in stored orientation) of a file with a supported header. Rows are
  // interleaved uint8. GRAY is the luma plane; YCbCr is studio range, as in DALI. `fancy_upsampling`: triangle filter.
  // With an index, what lies before the window and beside it need not be decoded; one of another file is ignored.
  Status decode(const uint8_t* data, size_t size, const Header& header, const Window& window, Color color,
                bool fancy_upsampling, RowSink& sink, const ScanIndex* index = nullptr);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ps::jpeg
