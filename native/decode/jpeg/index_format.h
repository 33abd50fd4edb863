// The file that holds the indexes of many JPEG files, little-endian:
//
//   IndexHead
//   for each file: IndexRecord, its rows, its subsequences; each begins at a multiple of 8 bytes
//   IndexEntry for each file, by rising keys
//
// A file is found by what it contains, not by a name: it may lie in a folder, an archive or a data base.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "decode/jpeg/content_hash.h"
#include "decode/jpeg/index.h"

namespace ps::jpeg {

struct IndexHead {
  static constexpr char kMagic[17] = "Penstock JPEG ix";
  static constexpr uint32_t kVersion = 1;
  char magic[16];
  uint32_t version, unused;
  uint64_t bytes;                      // of this file
  uint64_t entries, table;             // how many, and where they begin
  uint64_t sum;                        // of all above
  uint64_t expected_sum() const { return ContentHash().add(this, offsetof(IndexHead, sum)).value(); }
};

struct IndexEntry {
  uint64_t key, place;                 // of the file; of its record
};

struct IndexRecord {
  uint64_t sum;                        // of all that follows, rows and subsequences too
  uint64_t check;                      // of the file: a second key
  uint64_t content;                    // ScanIndex::content
  uint64_t file_bytes;
  uint32_t row_count, subsequence_count, bits, unused;

  uint64_t bytes() const {
    return sizeof *this + row_count * sizeof(IndexRow) + subsequence_count * sizeof(IndexSubsequence);
  }
  uint64_t expected_sum(const void* rows_and_subsequences) const {
    return ContentHash().add(&check, sizeof *this - offsetof(IndexRecord, check))
        .add(rows_and_subsequences, bytes() - sizeof *this).value();
  }
};
static_assert(sizeof(IndexRow) == 16 && sizeof(IndexSubsequence) == 4);
static_assert(sizeof(IndexHead) == 56 && sizeof(IndexRecord) == 48);

// Of a file: what it is found by. That looks at its size, its beginning, where its scan begins, and its end: a camera's
// files may all begin with the same thumbnail, and a renderer's pictures all have the same sky.
struct FileKey {
  static constexpr size_t kSample = 4096;
  uint64_t key, check;

  FileKey(const uint8_t* data, size_t size, size_t scan) {
    ContentHash hash;
    hash.add(&size, sizeof size);
    for (const size_t at : {size_t(0), scan, size - std::min(size, kSample)})
      hash.add(data + at, std::min(size - at, kSample));
    key = hash.value(1);
    check = hash.value(2);
  }
};

inline uint64_t content_of(const uint8_t* data, size_t size) { return ContentHash().add(data, size).value(); }

}  // namespace ps::jpeg
