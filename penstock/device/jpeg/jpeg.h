// Decoding JPEG files, a batch at a time: what the kernels of device/jpeg know of each picture. They run
// one after the other over all pictures:
//
//   unstuff.h       the scans without byte stuffing, cut into segments at their restart markers
//   table.h         look-up tables of Huffman codes
//   synchronize.h   where each subsequence of a scan begins: Huffman codes are self-synchronizing, so a decoder that
//                   begins at a wrong bit soon decodes the same blocks as one that began at the start
//   index.h         ... or as an index of the file says
//   coefficients.h  all subsequences decoded once more, from the right bits: sparse coefficients (sparse.h), and
//                   whether all is consistent
//   dc.h            DC values from their differences
//   transform.h     dequantisation and inverse DCT (idct.h): planes of samples
//   pixels.h        upsampling (upsample.h), colours, orientation
//   direct.h        ... instead of both, where all components have a sample for each pixel
//   convert.h       other types than bytes
//
// Progressive files have progressive/scans.h instead of all that comes before transform.h.
//
// A file that is inconsistent in any way is left to other decoders, see JpegStatus. docs/jpeg-decoder.md cites the
// literature.
#pragma once

#include "device/base/divisor.h"

namespace ps::device {

inline constexpr int kJpegThreads = 256;
inline constexpr int kJpegPieceBytes = 16384, kJpegRunBytes = 32;   // of a file, for a block and for a thread
inline constexpr int kJpegRuns = kJpegPieceBytes / kJpegRunBytes;
inline constexpr int kJpegScanThreads = 256, kJpegCoefficientThreads = 128;       // that decode subsequences
inline constexpr uint32_t kJpegBehind = 320 * 8;                   // bits that decoders may look at: blocks have 1984
inline constexpr uint32_t kJpegStretch = 17408;                    // words of a scan in shared memory, at most
inline constexpr int kJpegBoundaries = 512;                        // between subsequences, for a block
inline constexpr int kJpegOverflow = 24;                           // subsequences that a decoder goes on through
inline constexpr uint32_t kJpegSerialBits = 1 << 22;               // bits that one thread decodes, and the others wait
inline constexpr uint32_t kJpegSeeded = 1024;                      // subsequences that an index gives, for a block
inline constexpr int kJpegSums = 8192;                             // DC values, for a block
inline constexpr int kJpegTables = 4, kJpegBlocksInMcu = 10;       // of a picture, at most
inline constexpr int kJpegTransformThreads = 128, kJpegTileBlocks = 128;     // of 8 x 8 samples, for a block
inline constexpr int kJpegDirectBlocks = 32;                       // ... of each component
inline constexpr int kJpegTileWidth = 128, kJpegTileHeight = 64;   // pixels made by a block

// A Huffman table as files state it.
struct JpegCodes {
  uint8_t counts[16], symbols[256];    // of codes of 1 to 16 bits
  uint32_t is_dc, unused[3];
};

// Its codes of more than 10 bits.
struct alignas(16) JpegLongCodes {
  uint32_t limit[8];                   // codes of 11 + i bits, shifted to 16, are below it
  int32_t offset[8];                   // from a code of 11 + i bits to its place in `entries`
  uint16_t entries[256];               // of all codes
};

// One to look symbols up. An entry: bits 0-4 how many bits the code and what belongs to it take, 5-8 how many of these
// are a value's, from 9 by how much the index of the next coefficient rises; see table.h.
struct JpegTable {
  static constexpr int kBits = 10;
  // By the next 10 bits; where these are among the last 8, and so with nearly all long codes, by the next 16.
  static constexpr uint32_t kQuick = 1536, kShift = (1 << 16) - kQuick, kFirstLong = 1016;
  JpegLongCodes longer;
  uint16_t quick[kQuick];              // 0: the code is longer
  uint32_t runs[kQuick];               // the same; << 16: an entry for all symbols of which the codes lie in these bits
};

// Bytes without stuffing, and restart markers. The uppermost bit of `markers`: the scan ended here.
struct JpegPiece {
  uint32_t bytes, markers;
  PS_FN bool ended() const { return markers >> 31; }
};

// Where a decoder stands between two blocks: at which bit, before which block of an MCU, and how many it has passed.
struct JpegState {
  uint32_t bit, counts;                // counts: blocks << 4 | block of the MCU
  PS_FN uint32_t block() const { return counts & 15; }
  PS_FN uint32_t blocks() const { return counts >> 4; }
};

// All but the first mean that another decoder has to take the picture.
struct JpegStatus {
  uint32_t complete;                   // the scan has all blocks that are needed
  uint32_t broken;                     // invalid codes, markers out of order, subsequences that do not fit or take long
  uint32_t extreme;                    // DC values that no picture has: decoders differ in how they overflow
  uint32_t unresolved;                 // subsequences have to be decoded one after the other
};

struct JpegComponent {
  uint8_t* plane;                      // samples of the blocks wanted, pitch 8 * columns
  int16_t *differences, *dc;           // DC values of all blocks in the scan's order: from the one before; sums
  int32_t width, height;               // in samples, without those that only fill the last blocks
  int32_t blocks;                      // in each MCU
  int32_t h, v;                        // ... across and down
  int32_t column, row, columns, rows;  // the blocks wanted: the first one, and how many
  int32_t across, down;                // of a progressive file: the blocks in scans of this component alone
  Divisor by_h;
  int32_t shift_x, shift_y;            // of the picture's coordinates
  int32_t filter_x, filter_y;          // interpolated, or else repeated
  alignas(16) uint16_t quant[64];      // column by column
};

struct JpegPicture {
  const uint8_t* file;                 // aligned to 16, as is `data`, and readable up to there
  uint8_t* data;                       // without stuffing: words of 32 bits, most significant byte first in value
  uint32_t scan, end;                  // bytes of the file that may be the scan's
  uint32_t pieces, first_piece;        // of the file, from the one in which the scan begins
  JpegPiece* piece;                    // of each
  uint32_t* segment;                   // the bit that each begins at, and the end of the last one
  uint32_t segments, segment_blocks;   // between restart markers; blocks in each but the last
  uint32_t has_restarts;
  uint32_t subsequence_bits, group;    // bits of each; how many a thread decodes to synchronize
  uint32_t guess_bits;                 // how far before its group it begins
  uint32_t subsequences;               // how many, at most
  JpegState *entry, *exit;             // where a decoder enters each group, and where it leaves each subsequence
  uint8_t* overflow;                   // how many the previous decoder goes on through until it is synchronized
  JpegState* overflow_states;          // ... and where it leaves them
  uint32_t* sum;                       // blocks up to the end of each
  const uint32_t* index;               // by subsequence, how a decoder leaves it; null: synchronize
  uint32_t index_bits;                 // of the scan, as the index has it
  JpegStatus* status;
  const JpegTable* table[kJpegTables];
  uint32_t blocks, needed;             // in the scan; up to the last one that the window needs
  int32_t blocks_in_mcu;
  uint8_t dc_table[16], ac_table[16];  // by block in the MCU
  uint8_t component_of[16], rank[16];  // its component, its index among the blocks of that component
  uint8_t place[64];                   // of coefficients in the file's order: column * 8 + row
  int32_t mcus_across;
  int32_t mcu_column, mcu_row, mcu_columns, mcu_rows;   // those with samples that are wanted
  struct JpegSparseVector* sparse;     // coefficients of each subsequence
  uint32_t *sparse_length, sparse_vectors;   // vectors that each has, and has room for
  struct JpegSpan* spans;              // MCUs of a row that are transformed together, of all rows that are needed
  int32_t span_mcus, spans_across;
  int32_t first_span, wanted_spans;    // in a row
  const struct JpegScan* scans;        // of a progressive file, else null
  uint32_t scan_count;
  int32_t components;
  JpegComponent component[3];
  uint8_t* out;                        // interleaved
  int32_t width, height, channels;     // of it
  int32_t x, y, stored_width, stored_height;   // the window in the stored picture
  int32_t swap, flip_x, flip_y;        // as native/decode/orient.h has it
  int32_t ycc, bgr, studio;            // components are YCbCr; the output is BGR; it is the YCbCr of video
  void* converted;                     // to another type; to_ycbcr: from RGB to the YCbCr of video, too
  int32_t to_ycbcr;
};

// The only job of each of these kernels; its samples are the pictures.
struct JpegJob {
  const JpegPicture* pictures;
  uint64_t unused;
};

#if !PS_HOST
struct JpegBlock {
  const JpegPicture& picture;
  int index;                           // of this block, among those of the picture
};
PS_FN JpegBlock jpeg_block(const Launch& l) {
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const JpegJob*>(l.jobs);
  return {on_gpu(job.pictures)[sample], block() - l.first_block[sample]};
}
PS_FN bool is_sound(const JpegPicture& p) {
  const JpegStatus& status = *on_gpu(p.status);
  return (status.complete != 0) & ((status.broken | status.extreme) == 0);      // loaded together
}
// `blocks`: of which a multiprocessor should have registers.
#define PS_JPEG_KERNEL(function, blocks) \
  PS_BOUNDED_KERNEL(256, blocks) kernel(ps::device::Launch launch) { ps::device::function(launch); }
#endif

}  // namespace ps::device
