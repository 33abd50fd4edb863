// PNG: what its two decoders share.
#pragma once

#include <memory>

#include "core/rows.h"
#include "decode/codec.h"

namespace ps {

// libpng: decodes every kind of PNG, and its results are the reference. libpng reports errors by longjmp; this class
// destroys what it leaves half done.
class LibPng {
 public:
  LibPng();
  ~LibPng();
  LibPng(const LibPng&) = delete;
  LibPng& operator=(const LibPng&) = delete;
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request, RowSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ps
