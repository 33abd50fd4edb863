// NVIDIA's video decoder: the functions of libnvcuvid.so.1 that this library uses, found when a video is first decoded
// on a GPU. The library comes with the driver. Types and numbers are those of its stable C ABI (Video Codec SDK 9.0 and
// later), declared here from NVIDIA's documentation: nothing of the SDK is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/driver/driver.h"

namespace ps::gpu::cuvid {

using Decoder = void*;
using Parser = void*;

enum Codec : int { kH264 = 4, kHevc = 8, kVp8 = 9, kVp9 = 10, kAv1 = 11 };
enum SurfaceFormat : int { kNv12 = 0, kP016 = 1 };
inline constexpr int k420 = 1, kWeave = 0;
inline constexpr unsigned kPreferCuvid = 4;                  // the engines themselves, no kernels of NVIDIA's
enum PacketFlag : unsigned { kEndOfStream = 1, kTimestamp = 2, kEndOfPicture = 8 };
enum Status : int { kInProgress = 1, kStatusError = 8, kStatusConcealed = 9 };

struct Rect16 {
  int16_t left, top, right, bottom;
};

struct Caps {
  int codec, chroma_format;
  unsigned bit_depth_minus_8, reserved[3];
  uint8_t is_supported, num_engines;
  uint16_t output_formats;                                   // a bit for each of SurfaceFormat
  unsigned max_width, max_height, max_macroblocks;
  uint16_t min_width, min_height;
  uint8_t histogram[4];
  unsigned reserved_end[10];
};

struct CreateInfo {
  unsigned long width, height, decode_surfaces;              // coded
  int codec, chroma_format;
  unsigned long flags, bit_depth_minus_8, intra_only, max_width, max_height, reserved;
  Rect16 display_area;
  int output_format, deinterlace;
  unsigned long target_width, target_height, output_surfaces;
  void* lock;
  Rect16 target;
  unsigned long histogram, reserved_end[4];
};

struct ReconfigureInfo {
  unsigned width, height, target_width, target_height, decode_surfaces, reserved[12];
  Rect16 display_area, target;
  unsigned reserved_end[11];
};

// What the parser found for one picture; handed on to the decoder as it is.
struct PictureParams {
  int width_in_macroblocks, height_in_macroblocks, picture;  // the surface that it is decoded to
  int field, bottom_field, second_field;
  unsigned bytes;
  const uint8_t* data;
  unsigned slices;
  const unsigned* slice_offsets;
  int is_reference, is_intra;
  unsigned reserved[30];
  unsigned of_codec[1024];
};

struct ProcessParams {
  int progressive, second_field, top_field_first, unpaired_field;
  unsigned reserved_flags, reserved_zero;
  unsigned long long raw_input;
  unsigned raw_input_pitch, raw_input_format;
  unsigned long long raw_output;
  unsigned raw_output_pitch, reserved_1;
  CUstream stream;
  unsigned reserved[46];
  unsigned long long* histogram;
  void* reserved_end[1];
};

struct DecodeStatus {
  int status;
  unsigned reserved[31];
  void* reserved_end[8];
};

struct VideoFormat {
  int codec;
  struct { unsigned numerator, denominator; } rate;
  uint8_t progressive, luma_minus_8, chroma_minus_8, least_surfaces;
  unsigned coded_width, coded_height;
  struct { int left, top, right, bottom; } display_area;
  int chroma_format;
  unsigned bit_rate;
  struct { int x, y; } aspect;
  uint8_t range, primaries, transfer, matrix;
  unsigned header_bytes;
};

struct DisplayInfo {
  int picture, progressive, top_field_first, repeat_first_field;
  long long timestamp;
};

struct ParserParams {
  int codec;
  unsigned decode_surfaces, clock_rate, error_threshold, display_delay, annex_b, reserved[4];
  void* user;
  int (*sequence)(void*, VideoFormat*);                      // 0: failed; more than 1: how many surfaces there are
  int (*decode)(void*, PictureParams*);                      // 0: failed
  int (*display)(void*, DisplayInfo*);                       // likewise; null: the end of the stream
  void* operating_point;
  void* reserved_end[6];
  void* extended_info;
};

struct SourcePacket {
  unsigned long flags, bytes;
  const uint8_t* data;
  long long timestamp;
};

static_assert(sizeof(Caps) == 88 && sizeof(CreateInfo) == 176 && sizeof(ReconfigureInfo) == 128);
static_assert(sizeof(PictureParams) == 4280 && sizeof(ProcessParams) == 264 && sizeof(DecodeStatus) == 192);
static_assert(sizeof(VideoFormat) == 64 && sizeof(DisplayInfo) == 24 && sizeof(ParserParams) == 136);
static_assert(sizeof(SourcePacket) == 32);

#define PS_CUVID_FUNCTIONS(F)                                                                                         \
  F(cuvidGetDecoderCaps, CUresult(Caps*))                                                                             \
  F(cuvidCreateDecoder, CUresult(Decoder*, CreateInfo*))                                                              \
  F(cuvidDestroyDecoder, CUresult(Decoder))                                                                           \
  F(cuvidDecodePicture, CUresult(Decoder, PictureParams*))                                                            \
  F(cuvidGetDecodeStatus, CUresult(Decoder, int, DecodeStatus*))                                                      \
  F(cuvidReconfigureDecoder, CUresult(Decoder, ReconfigureInfo*))                                                     \
  F(cuvidMapVideoFrame64, CUresult(Decoder, int, unsigned long long*, unsigned*, ProcessParams*))                     \
  F(cuvidUnmapVideoFrame64, CUresult(Decoder, unsigned long long))                                                    \
  F(cuvidCreateVideoParser, CUresult(Parser*, ParserParams*))                                                         \
  F(cuvidParseVideoData, CUresult(Parser, SourcePacket*))                                                             \
  F(cuvidDestroyVideoParser, CUresult(Parser))

struct Api {
#define PS_MEMBER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
  PS_CUVID_FUNCTIONS(PS_MEMBER)
#undef PS_MEMBER
};

// Loads the library, once: that which Python has named ("nvcuvid"), or the system's. Throws Error(device) where it is
// missing or too old; a container has it only where NVIDIA_DRIVER_CAPABILITIES has "video".
const Api& api();

}  // namespace ps::gpu::cuvid
