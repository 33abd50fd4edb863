// JPEG: what its two decoders share.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rows.h"
#include "decode/codec.h"

namespace ps {

// libjpeg(-turbo): decodes every kind of JPEG, and its results are the reference. libjpeg reports errors by longjmp;
// this class destroys what it leaves half done.
class LibJpeg {
 public:
  LibJpeg();
  ~LibJpeg();
  LibJpeg(const LibJpeg&) = delete;
  LibJpeg& operator=(const LibJpeg&) = delete;
  void read(const uint8_t* data, size_t size, const PictureRequest& request, RowSink& sink);

 private:
  struct State;
  void create();
  std::unique_ptr<State> state_;
};

}  // namespace ps
