// Where the records of a RecordIO file lie, by their heads.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "read/records.h"
#include "read/scanner.h"

namespace ps {
namespace {

class RecordIO {
 public:
  explicit RecordIO(const char* path) : file_(path) {
    const uint8_t* head = file_.at(0, kRecordIOHead);
    if (file_.bytes() && !(head && RecordIOHead(head).begins_record()))
      fail(ErrorKind::read, std::string("the file ") + path + " is no RecordIO file: no record begins at byte 0");
  }

  RecordTable records() {
    RecordTable found;
    for (int64_t at = 0; at < file_.bytes();) {
      const int64_t end = end_of(at);
      found.add(at, end < 0 ? std::min(file_.bytes() - at, kRecordIOHead) : end - at);
      at = end < 0 ? next_beginning(at) : end;
    }
    return found;
  }

 private:
  // Where the record ends that begins here; -1: it is broken.
  int64_t end_of(int64_t at) {
    for (int64_t begin = at;;) {
      const uint8_t* bytes = file_.at(at, kRecordIOHead);
      if (!bytes) return -1;
      const RecordIOHead head(bytes);
      if (!(at == begin ? head.begins_record() : head.goes_on())) return -1;
      if (head.bytes() > file_.bytes() - at) return -1;
      at += head.bytes();
      if (head.part() == Part::whole || head.part() == Part::last) break;
    }
    return is_end(at) ? at : -1;
  }

  // Whether a record can end here. Behind it another one begins, or the file ends. If not, either that record's head is
  // wrong, which has the magic number all the same or leads to a good one, or the length of this record is.
  bool is_end(int64_t at) {
    const auto begins = [&](int64_t place) {
      if (place == file_.bytes()) return true;
      const uint8_t* bytes = file_.at(place, kRecordIOHead);
      return bytes && RecordIOHead(bytes).magic == kRecordIOMagic;
    };
    if (begins(at)) return true;
    const uint8_t* bytes = file_.at(at, kRecordIOHead);
    return bytes && begins(at + RecordIOHead(bytes).bytes());
  }

  // The first place behind this one where a record may begin: data never have the magic number at multiples of 4.
  int64_t next_beginning(int64_t at) {
    for (at += 4; at + kRecordIOHead <= file_.bytes(); at += 4)
      if (RecordIOHead(file_.at(at, kRecordIOHead)).begins_record()) return at;
    return file_.bytes();
  }

  Scanner file_;
};

}  // namespace

RecordTable scan_recordio(const char* path) { return RecordIO(path).records(); }

}  // namespace ps
