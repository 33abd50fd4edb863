// Files of records: where each record lies, by what frames it or by a text that another program has made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/byte_order.h"

namespace ps {

// Each with all that frames it. One that is broken, so that its end is not known, has the bytes of its head alone, and
// is refused when it is read: so one fault costs one sample, as far as there is a way to go on behind it.
struct RecordTable {
  std::vector<int64_t> offsets, bytes;
  std::string names;                               // of LMDB: the keys, each with a zero at its end

  void add(int64_t offset, int64_t size) {
    offsets.push_back(offset);
    bytes.push_back(size);
  }
};

inline uint64_t le64(const uint8_t* p) { return uint64_t(le32(p + 4)) << 32 | le32(p); }

// A record of TFRecord: length (8 bytes), its checksum (4), the data, their checksum (4).
inline constexpr int64_t kTFRecordHead = 12, kTFRecordFrame = 16;

// A record of RecordIO is one part or several, each: magic number, length below three bits of what part it is, data,
// and zeros up to a multiple of 4. Where data had the magic number itself, a part ends, and the next goes on behind it.
inline constexpr uint32_t kRecordIOMagic = 0xced7230a;
inline constexpr int64_t kRecordIOHead = 8;
enum class Part : uint32_t { whole = 0, first = 1, middle = 2, last = 3 };
struct RecordIOHead {
  uint32_t magic, word;
  explicit RecordIOHead(const uint8_t* p) : magic(le32(p)), word(le32(p + 4)) {}
  Part part() const { return Part(word >> 29); }
  int64_t length() const { return word & ((uint32_t(1) << 29) - 1); }
  int64_t bytes() const { return kRecordIOHead + (length() + 3) / 4 * 4; }
  bool begins_record() const { return magic == kRecordIOMagic && (part() == Part::whole || part() == Part::first); }
  bool goes_on() const { return magic == kRecordIOMagic && (part() == Part::middle || part() == Part::last); }
};

// Of any storage. They throw Error(read) for what is no such file at all.
RecordTable scan_tfrecord(const char* path);
RecordTable scan_recordio(const char* path);
RecordTable scan_lmdb(const char* path);           // the values of its unnamed data base, in the order of their keys

// Lines of two whole numbers, which come out as offsets and bytes. Throws Error(read) that names the line.
RecordTable read_record_text(const char* path);

}  // namespace ps
