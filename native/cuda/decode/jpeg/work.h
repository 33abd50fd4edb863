// What the kernels have to do for a picture, as its JpegPicture tells them (penstock/device/jpeg/jpeg.h).
#pragma once

#include <vector>

#include "cuda/decode/jpeg/jpeg.h"
#include "cuda/decode/jpeg/sparse_bound.h"
#include "decode/jpeg/scan_list.h"
#include "device/jpeg/jpeg.h"
#include "device/jpeg/progressive/scan.h"

namespace ps::gpu {

// The Huffman tables of a batch, each once.
class JpegTablePool {
 public:
  int index(const jpeg::HuffmanSpec& spec, bool is_dc);
  const std::vector<device::JpegCodes>& codes() const { return codes_; }

 private:
  void make_room();
  std::vector<device::JpegCodes> codes_;
  std::vector<uint64_t> keys_;               // hashes, one for each
  std::vector<int> slots_;                   // open addressing by hash: indices of codes_, or -1
};

// A scan of a progressive picture.
struct JpegScanWork {
  const jpeg::ListedScan* from;
  device::JpegScan scan;                     // with the addresses of what it finds alone
};
// As much as the file says.
JpegScanWork scan_work(const jpeg::ListedScan& from);

struct JpegWork {
  device::JpegPicture picture{};             // without addresses
  int tables[device::kJpegTables] = {};      // their indices in the pool
  int table_count = 0;
  int64_t dc[3] = {}, plane[3] = {};         // bytes
  uint8_t* planes = nullptr;                 // where these are to be, if not among all the rest
  int64_t data = 0;                          // bytes, with what may be read behind them
  int64_t pixels = 0;                        // bytes, where they are converted to another type
  bool direct = false;                       // pixels are made without planes
  JpegSparseBound bound;
  std::vector<JpegScanWork> scans;           // of a progressive picture; others have none of these
  int16_t* values[3] = {};                   // of the first scans of each component

  int64_t sparse_bytes() const;              // of its coefficients, which are sparse unless it is progressive
  int64_t synchronizing_bytes() const;       // of what only synchronizing takes
  int64_t other_bytes() const;               // of all else, roughly
  bool progressive() const { return !scans.empty(); }
  int64_t scan_bits() const;                 // at most
  bool has_index() const { return picture.index_bits != 0; }
  // Subsequences of so many bits, of which a thread decodes `group` to synchronize, from a guess so far before them.
  void divide(uint32_t subsequence_bits, uint32_t group, uint32_t guess_bits);
  // Blocks of threads of the kernels that work on these. With an index there is nothing to synchronize.
  int group_blocks() const, boundary_blocks() const, resolve_blocks() const, seed_blocks() const;
  int subsequence_blocks() const, sum_blocks() const;
  // Of those that make samples, or pixels at once, or pixels of samples.
  int transform_blocks() const, direct_blocks() const, pixel_blocks() const;
  int64_t sparse_vectors() const, spans() const;       // of all subsequences; of the rows that are needed
};

// Subsequences are those of the index, if there is one that could be this file's; otherwise divide() sets them.
JpegWork jpeg_work(const CudaJpeg::Item& item, const DecodeOptions& options, JpegTablePool& tables);

// The item's index, if by its sizes it could be that file's; else null.
const jpeg::ScanIndex* index_of(const CudaJpeg::Item& item);

// Pieces of one block of memory: first their offsets, then, when the block is there, their addresses.
class MemoryLayout {
 public:
  template <class T> void add(T*& pointer, int64_t count) {
    places_.push_back({reinterpret_cast<void**>(const_cast<std::remove_const_t<T>**>(&pointer)), bytes_});
    bytes_ += (count * int64_t(sizeof(T)) + 255) / 256 * 256;
  }
  void expect(size_t pieces) { places_.reserve(pieces); }
  int64_t bytes() const { return bytes_; }
  void put(void* memory) const {
    for (const Place& p : places_) *p.pointer = static_cast<uint8_t*>(memory) + p.offset;
  }

 private:
  struct Place {
    void** pointer;
    int64_t offset;
  };
  std::vector<Place> places_;
  int64_t bytes_ = 0;
};

}  // namespace ps::gpu
