// From the channels that a file stores to those that are asked for, row by row.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/codec.h"

namespace ps {

// What the first channels are. Whatever more there is, such as alpha, only ANY_DATA shows.
enum class Colours { gray, rgb, bgr, cmyk };    // CMYK: 0 is no ink

// How integers of red, green and blue are weighed for GRAY: by floats, or by whole numbers of so many bits, or by those
// of libpng. No standard says which, nearly all round to the nearest, they differ by a level once in some thousand
// pixels, and DALI has all of them.
enum class Luma { floats, bits14, bits15, libpng };

class ChannelRows {
 public:
  // Rows of `stored` channels of type UINT8, UINT16 or FLOAT will be pushed, of request.window's width.
  void begin(DType type, int stored, Colours colours, const PictureRequest& request, RowSink& sink,
             Luma luma = Luma::floats);
  // Nothing is read behind the row's end.
  void push(int64_t y, const void* row);

 private:
  using Convert = void (*)(const void* from, void* to, int64_t width, int stored);
  template <class T> static Convert pick(int stored, Colours colours, ImageType type, Luma luma);

  RowSink* sink_ = nullptr;
  Convert convert_ = nullptr;
  int stored_ = 0;
  int64_t width_ = 0;
  std::vector<uint8_t> row_;
};

// Three channels or more are colours, fewer are gray.
inline Colours usual_colours(int channels) { return channels >= 3 ? Colours::rgb : Colours::gray; }

}  // namespace ps
