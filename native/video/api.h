// What the library that decodes videos (libpenstock_video.so, linked with FFmpeg) gives to the main one, which loads it
// when the first video comes: plain C, so that neither sees the other's insides, and no exception crosses.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PSV_VERSION = 2 };

// Bytes that a video is read from. `read` gives as many as are there at once, 0 at the end, -1 where it failed.
typedef struct {
  void* user;
  int64_t bytes;
  int64_t (*read)(void* user, int64_t at, void* to, int64_t most);
} psv_source;

// Why a call failed: `kind` is one of ps_error_kind (penstock.h).
typedef struct {
  int32_t kind;
  char text[500];
} psv_failure;

enum psv_matrix { PSV_UNKNOWN = 0, PSV_BT601 = 1, PSV_BT709 = 2, PSV_BT2020 = 3 };

// A frame as it is decoded: planes of bytes, or of 16 bits in native order where `depth` is more than 8. Valid for the
// call that shows it.
typedef struct {
  const uint8_t* planes[3];          // Y, U, V; or R, G, B; or the one plane of gray
  int64_t strides[3];                // bytes from row to row; may be negative
  int32_t width, height;
  int32_t components;                // 1 or 3
  int32_t depth;                     // bits of a sample
  int32_t shift_x, shift_y;          // of chroma: log2 of how many pixels share a sample
  int32_t is_rgb, full_range, matrix;
} psv_picture;

enum psv_codec { PSV_OTHER_CODEC = 0, PSV_H264 = 1, PSV_HEVC = 2, PSV_VP8 = 3, PSV_VP9 = 4, PSV_AV1 = 5 };

// What a video is to a decoder in hardware.
typedef struct {
  int32_t codec, profile;            // psv_codec; as FFmpeg numbers profiles
  int32_t depth;                     // bits of a sample
  int32_t is_420;                    // planes of Y, U and V, of which four pixels share a sample
  int32_t full_range, matrix;        // matrix: of psv_matrix
} psv_coding;

// Takes a frame; other than 0: stop.
typedef int (*psv_take)(void* user, int64_t frame, const psv_picture* picture);

typedef struct psv_decoder psv_decoder;
typedef struct psv_index psv_index;
typedef struct psv_feed psv_feed;

typedef struct {
  int32_t version;
  // Goes through a video without decoding it. Null: it failed. The index is bytes: see index.h.
  psv_index* (*make_index)(const psv_source*, int64_t most_pixels, psv_failure*);
  const void* (*index_data)(const psv_index*, size_t* bytes);
  void (*free_index)(psv_index*);
  // Of an index that is sound, and lives as long as the decoder, as `source` does. Null: it failed.
  psv_decoder* (*open)(const psv_source*, const void* index, int64_t most_pixels, psv_failure*);
  // Shows these frames, which rise, in their order. 0: it failed; the decoder is to be closed then.
  int (*decode)(psv_decoder*, const int64_t* frames, int64_t count, psv_take take, void* user, psv_failure*);
  void (*close)(psv_decoder*);
  // For decoders in hardware: packets without decoding them. Lifetimes and errors as for open() and decode().
  void (*coding)(const void* index, psv_coding*);
  psv_feed* (*open_feed)(const psv_source*, const void* index, psv_failure*);
  // Packet `number`, valid until the next call: H.264 and HEVC by Annex B of these, others as they are. `restarts`:
  // decoding begins with it, and headers are before it; else it follows the packet that was asked for last.
  int (*packet)(psv_feed*, int64_t number, int restarts, const uint8_t** data, int64_t* bytes, psv_failure*);
  void (*close_feed)(psv_feed*);
  const char* (*libraries)(void);    // "libavformat 59.27.100, libavcodec 59.37.100"
} psv_api;

typedef const psv_api* (*psv_get_api)(void);   // the one function that is exported: "penstock_video_api"

#ifdef __cplusplus
}
#endif
