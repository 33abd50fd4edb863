// Where a decoder has left a picture, for the kernel that reads it (device/jpeg/decoded.h).
#pragma once

#include "device/jpeg/jpeg.h"

namespace ps::device {

struct DecodedView {
  const JpegPicture* picture;          // whose planes hold it; null: there are pixels
  const uint8_t* pixels;               // interleaved, without gaps
  int32_t x, y, width, height;         // the part of the picture that there is
};

// Runs of eight pixels in two rows are made at a time, and of those that a tile needs some only in part.
PS_FN constexpr int staged_columns(int columns) { return (columns + 14) / 8 * 8; }
PS_FN constexpr int staged_rows(int rows) { return (rows + 2) / 2 * 2; }
PS_FN constexpr int staged_pitch(int columns, int channels) { return (columns * channels + 3) / 4 * 4; }
// Bytes of shared memory, at most, for so many pixels of a picture. `swapped`: its rows are columns of the file.
PS_FN constexpr int64_t staged_bytes(int columns, int rows, int channels, bool swapped) {
  const int across = swapped ? staged_rows(columns) : staged_columns(columns);
  return int64_t(staged_pitch(across, channels)) * (swapped ? staged_columns(rows) : staged_rows(rows));
}

}  // namespace ps::device
