// Records of MXNet's RecordIO: a header with one label or several, and an encoded picture.
#include <cstring>
#include <string>

#include "ops/read/records.h"
#include "read/records.h"

namespace ps {
namespace {

// Number of labels behind the header (0: the one in it), that label, two numbers of the record.
constexpr size_t kHeader = 24;

class MXNet : public RecordReader {
 public:
  static constexpr Count kOutputs{2, 2};
  explicit MXNet(const Spec& s) : RecordReader(s) {}

 protected:
  // The picture of a record that is in one part.
  Middle middle(Bytes first, size_t size) const override {
    const RecordIOHead head(first.data());
    const size_t before = kHeader + size_t(le32(first.data() + kRecordIOHead)) * sizeof(float);
    if (head.magic != kRecordIOMagic || head.part() != Part::whole || size_t(head.length()) < before ||
        size_t(head.length()) > size - size_t(kRecordIOHead))
      return {};
    return {size_t(kRecordIOHead) + before, size_t(head.length()) - before};
  }

  void parse(Record record, std::vector<Found>& found) const override {
    const Bytes data = joined(record);
    if (data.size() < kHeader)
      fail(ErrorKind::read, "it has " + std::to_string(data.size()) + " bytes, but its header alone would have 24");
    const size_t labels = le32(data.data()), bytes = labels * sizeof(float);
    if (bytes > data.size() - kHeader)
      fail(ErrorKind::read, "it says that it has " + std::to_string(labels) + " labels, but there are only " +
           std::to_string(data.size() - kHeader) + " bytes behind its header");
    found.push_back(bytes_found(data.subspan(kHeader + bytes)));
    found.push_back(bytes_found(labels ? data.subspan(kHeader, bytes) : data.subspan(4, sizeof(float))));
    found[1].dtype = DType::f32;
    found[1].shape = {labels ? int64_t(labels) : 1};
  }

 private:
  // The data of all parts, one behind the other, where the first part has its own: with the magic numbers between that
  // they were cut at.
  static Bytes joined(Record record) {
    uint8_t* const begin = record.data() + kRecordIOHead;
    uint8_t* end = begin;
    for (size_t at = 0;;) {
      if (record.size() - at < size_t(kRecordIOHead)) fail(ErrorKind::read, "its file ends in it");
      const RecordIOHead head(record.data() + at);
      if (!(at == 0 ? head.begins_record() : head.goes_on()))
        fail(ErrorKind::read, "its part at byte " + std::to_string(at) + " does not begin as one of RecordIO does");
      if (size_t(head.length()) > record.size() - at - size_t(kRecordIOHead))
        fail(ErrorKind::read, "its part at byte " + std::to_string(at) + " would have " +
             std::to_string(head.length()) + " bytes, but it ends before them, or another record begins");
      if (at) {
        std::memcpy(end, record.data() + at, 4);
        end += 4;
      }
      if (at) std::memmove(end, record.data() + at + kRecordIOHead, size_t(head.length()));
      end += head.length();
      if (head.part() == Part::whole || head.part() == Part::last) return {begin, end};
      at += size_t(head.bytes());
      if (at > record.size()) fail(ErrorKind::read, "its file ends in it");
    }
  }
};

PS_OPERATOR("read_mxnet", MXNet)

}  // namespace
}  // namespace ps
