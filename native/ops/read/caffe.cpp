// Values of Caffe's data bases: Datum -> a picture, encoded or as pixels, and a label.
#include <string>

#include "ops/read/records.h"

namespace ps {
namespace {

enum Number : uint32_t { kChannels = 1, kHeight = 2, kWidth = 3, kData = 4, kLabel = 5, kFloats = 6, kEncoded = 7 };

class Caffe : public RecordReader {
 public:
  explicit Caffe(const Spec& s)
      : RecordReader(s), image_(s.flag("image_available")), label_(s.flag("label_available")) {}

 protected:
  void parse(Record record, std::vector<Found>& found) const override {
    int64_t extents[3] = {};                       // channels, height, width
    bool encoded = true, has_label = false, has_data = false, has_floats = false;
    Bytes data;
    int64_t label = 0;
    for (Message m(record); m.next();) {
      if (m.is(kData, Wire::bytes)) data = m.bytes(), has_data = true;
      has_floats |= m.number() == kFloats;
      if (m.wire() != Wire::varint) continue;
      if (m.number() <= kWidth) extents[m.number() - kChannels] = int32_t(m.value());
      if (m.number() == kLabel) label = int32_t(m.value()), has_label = true;
      if (m.number() == kEncoded) encoded = m.value() != 0;
    }
    if (image_) {
      if (!has_data && has_floats) fail(ErrorKind::read, "its picture is of floats, not of bytes");
      found.push_back(bytes_found(data));
      if (!encoded && has_data) found.back().shape = pixels(extents, data.size());
    }
    if (label_) {
      found.push_back({});
      found.back().dtype = DType::i32;
      found.back().shape = {has_label ? 1 : 0};
      found.back().number = label;
    }
  }

  void write(const Found& found, int output, Tensor& to) const override {
    if (found.dtype == DType::u8) RecordReader::write(found, output, to);
    else if (to.shape[0]) *to.as<int32_t>() = int32_t(found.number);
  }

 private:
  static Shape pixels(const int64_t (&extents)[3], size_t bytes) {
    const Shape shape = {extents[1], extents[2], extents[0]};
    const bool sound = extents[0] >= 0 && extents[1] >= 0 && extents[2] >= 0;
    const auto volume = sound ? __int128(extents[0]) * extents[1] * extents[2] : -1;
    if (volume != __int128(bytes))
      fail(ErrorKind::read, "its picture has " + std::to_string(bytes) + " bytes, but its height, width and channels " +
           "are " + to_string(shape));
    return shape;
  }

  bool image_, label_;
};

PS_OPERATOR("read_caffe", Caffe)

}  // namespace
}  // namespace ps
