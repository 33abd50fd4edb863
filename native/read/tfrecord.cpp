// Where the records of a TFRecord file lie, by their heads.
#include <algorithm>

#include "core/error.h"
#include "read/crc32c.h"
#include "read/records.h"
#include "read/scanner.h"

namespace ps {
namespace {

[[noreturn]] void refuse(const char* path, const uint8_t* head) {
  const bool packed = head && ((head[0] == 0x1f && head[1] == 0x8b) || head[0] == 0x78);
  fail(ErrorKind::read, std::string("the file ") + path + " is no TFRecord file: the length of its first record does " +
       "not fit its checksum" + (packed ? ", for the file is compressed: unpack it first" : ""));
}

}  // namespace

RecordTable scan_tfrecord(const char* path) {
  Scanner file(path);
  RecordTable found;
  for (int64_t at = 0; at < file.bytes();) {
    const int64_t left = file.bytes() - at;
    const uint8_t* head = file.at(at, kTFRecordHead);
    const bool good = head && masked_crc32c(head, 8) == le32(head + 8);
    if (!good && at == 0) refuse(path, head);
    const uint64_t length = good ? le64(head) : UINT64_MAX;
    if (length > uint64_t(left) || int64_t(length) > left - kTFRecordFrame) {
      found.add(at, std::min(left, kTFRecordHead));   // where the next one begins nobody can tell
      break;
    }
    found.add(at, int64_t(length) + kTFRecordFrame);
    at += int64_t(length) + kTFRecordFrame;
  }
  return found;
}

}  // namespace ps
