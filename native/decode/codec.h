// What a picture format provides to the decoder above it. A format is one file, which registers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "decode/image.h"

namespace ps {

struct PictureRequest {
  ImageType type;                 // RGB, BGR, GRAY or ANY_DATA (the channels as stored)
  Window window;                  // in stored coordinates
  bool fancy_upsampling, fast_idct;
  const JpegIndex* jpeg_index = nullptr;
};

// Decodes one format; one per worker thread, used for picture after picture.
class PictureReader {
 public:
  virtual ~PictureReader() = default;
  // Pushes the window's rows, interleaved, of info.stored_type() in native byte order and at its full scale.
  virtual void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
                    RowSink& sink) = 0;
};

struct Codec {
  const char* name;               // of the format, as people call it
  const char* patterns;           // of its files' names
  const char* library;            // that decodes it ("libtiff"); "" where none is needed
  bool (*sniff)(const uint8_t* data, size_t size);   // by its first bytes; no two formats may agree on a file
  ImageInfo (*peek)(const uint8_t* data, size_t size);
  std::unique_ptr<PictureReader> (*make)();
  std::string_view sample;        // a picture of 8x8 pixels: decoding it shows whether the format works here
};

bool add_codec(const Codec& codec);                  // before main()
const std::vector<Codec>& codecs();                  // by their names

}  // namespace ps
