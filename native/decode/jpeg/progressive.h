// A decoder for progressive JPEG files: bit for bit as libjpeg-turbo, for whole pictures and for windows.
//
// What it does not support, files whose scans leave something out (libjpeg smooths these) and those whose data
// contradicts itself are left to another decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/rows.h"
#include "decode/jpeg/decoder.h"

namespace ps::jpeg {

// One for each thread, as Decoder.
class ProgressiveDecoder {
 public:
  ProgressiveDecoder();
  ~ProgressiveDecoder();

  // As Decoder::decode, of a file with a progressive header, whose tables become those of the last scan. Of each scan,
  // nothing is decoded below the window.
  Status decode(const uint8_t* data, size_t size, Header& header, const Window& window, Color color,
                bool fancy_upsampling, RowSink& sink);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ps::jpeg
