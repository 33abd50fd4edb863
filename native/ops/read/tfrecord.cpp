// Records of TFRecord files: tf.train.Example -> the features that are asked for.
//
// An Example is a map from names to features, and a feature a list of byte strings, of floats or of int64:
//   Example { 1: Features { 1 (any number): Entry { 1: name, 2: Feature { 1, 2 or 3: List { 1: values } } } } }
#include <algorithm>
#include <string>

#include "ops/read/records.h"
#include "read/crc32c.h"
#include "read/records.h"

namespace ps {
namespace {

enum class Kind : int64_t { int64 = 0, string = 1, float32 = 2 };   // as penstock.tfrecord has them
uint32_t list_of(Kind kind) { return kind == Kind::string ? 1 : kind == Kind::float32 ? 2 : 3; }
DType dtype_of(Kind kind) { return kind == Kind::string ? DType::u8 : kind == Kind::float32 ? DType::f32 : DType::i64; }
const char* name_of(uint32_t list) { return list == 1 ? "byte strings" : list == 2 ? "floats" : "int64"; }

struct Feature {
  std::string name, default_string;
  Kind kind = Kind::int64;
  bool fixed = false;                              // of this shape; else any number of rows of this shape
  Shape shape;
  int64_t default_integer = 0;
  float default_float = 0;
};

template <class F> void each_list(Bytes feature, uint32_t list, F f) {
  for (Message m(feature); m.next();)
    if (m.is(list, Wire::bytes)) f(m.bytes());
}

class TFRecord : public RecordReader {
 public:
  explicit TFRecord(const Spec& s) : RecordReader(s), verify_(s.flag("verify_checksums")) {
    const Names names(s.table("feature_names", DType::u8)), strings(s.table("default_strings", DType::u8));
    const auto& integers = s.get("default_integers").integers;
    const auto& floats = s.get("default_floats").numbers;
    const auto& forms = s.get("feature_forms").integers;    // of each: kind, whether it is fixed, axes, extents
    auto form = forms.begin();
    const auto next = [&] {
      check_table(form != forms.end(), "a feature has no form");
      return *form++;
    };
    const int64_t n = names.size();
    check_table(strings.size() == n && int64_t(integers.size()) == n && int64_t(floats.size()) == n,
                "a feature has no default");
    for (int64_t i = 0; i < n; i++) {
      Feature f;
      f.name = names[i];
      f.kind = Kind(next());
      f.fixed = next() != 0;
      const int64_t axes = next();
      check_table(axes >= 0 && axes < kMaxDims, "a feature has too many axes");
      for (int64_t k = 0; k < axes; k++) f.shape.push(next());
      f.default_string = strings[i];
      f.default_integer = integers[size_t(i)];
      f.default_float = float(floats[size_t(i)]);
      features_.push_back(std::move(f));
    }
  }

 protected:
  void parse(Record record, std::vector<Found>& found) const override {
    const Bytes example = unframed(record);
    found.resize(features_.size());
    for (Found& one : found) one = {};
    for (Message m(example); m.next();)
      if (m.is(1, Wire::bytes))
        for (Message features(m.bytes()); features.next();)
          if (features.is(1, Wire::bytes)) take(features.bytes(), found);
    for (size_t i = 0; i < features_.size(); i++) describe(features_[i], found[i]);
  }

  // The first string that goes on beyond these bytes: Example, Features, an entry, its value, its list.
  Middle middle(Bytes first, size_t size) const override {
    constexpr uint32_t way[] = {1, 1, 2, 1, 1};
    uint64_t left = le64(first.data());
    if (left > size - size_t(kTFRecordFrame)) return {};
    const uint8_t *at = first.data() + kTFRecordHead, *const end = first.data() + first.size();
    try {
      for (const uint32_t wanted : way) {
        while (true) {
          const uint8_t* const begin = at;
          const uint64_t tag = take_varint(at, end);
          if (Wire(tag & 7) != Wire::bytes) return {};
          const uint64_t bytes = take_varint(at, end), head = uint64_t(at - begin);
          if (head > left || bytes > left - head) return {};
          if (bytes > uint64_t(end - at)) {
            if (tag >> 3 != wanted) return {};
            left = bytes;
            break;
          }
          at += bytes;
          left -= head + bytes;
        }
      }
    } catch (const Error&) {
      return {};                                   // they end within a number, or are broken, which parse() tells
    }
    return {size_t(at - first.data()), size_t(left)};
  }

  // That of its data; parse() has compared the other one, and tells what else is wrong.
  void check(std::span<const Bytes> stretches) const override {
    size_t all = 0;
    for (const Bytes& one : stretches) all += one.size();
    if (!verify_ || all < size_t(kTFRecordFrame)) return;
    const uint64_t length = le64(stretches.front().data());
    if (length > all - size_t(kTFRecordFrame)) return;
    Crc32c crc;
    size_t left = size_t(length), skipped = size_t(kTFRecordHead);
    const uint8_t* end = nullptr;
    for (Bytes one : stretches) {
      one = one.subspan(skipped);
      skipped = 0;
      const size_t n = std::min(left, one.size());
      crc.add(one.data(), n);
      left -= n;
      end = one.data() + n;
    }
    if (crc.masked() != le32(end))
      fail(ErrorKind::read, "its data do not fit their checksum (verify_checksums=False reads them regardless)");
  }

  void write(const Found& found, int output, Tensor& to) const override {
    const Feature& f = features_[size_t(output)];
    const bool absent = found.number == 0;
    if (f.kind == Kind::string) {
      RecordReader::write(found, output, to);
    } else if (f.kind == Kind::int64) {
      auto* at = to.as<int64_t>();
      if (absent) std::fill_n(at, to.shape.volume(), f.default_integer);
      else each_list(found.bytes, list_of(f.kind), [&](Bytes list) { at = copy_numbers<int64_t>(list, 1, at); });
    } else {
      auto* at = to.as<float>();
      if (absent) std::fill_n(at, to.shape.volume(), f.default_float);
      else each_list(found.bytes, list_of(f.kind), [&](Bytes list) { at = copy_numbers<float>(list, 1, at); });
    }
  }

 private:
  Bytes unframed(Record record) const {
    if (int64_t(record.size()) < kTFRecordHead) fail(ErrorKind::read, "its file ends in it");
    const uint8_t* at = record.data();
    const uint64_t length = le64(at);
    if (verify_ && masked_crc32c(at, 8) != le32(at + 8))
      fail(ErrorKind::read, "its length does not fit the checksum of that");
    if (int64_t(record.size()) < kTFRecordFrame || length > record.size() - size_t(kTFRecordFrame))
      fail(ErrorKind::read, "its length is " + std::to_string(length) + ", but only " +
           std::to_string(std::max<int64_t>(int64_t(record.size()) - kTFRecordFrame, 0)) + " bytes are there");
    return {at + kTFRecordHead, size_t(length)};
  }

  // Of an entry of the map: of several with one name the last one counts.
  void take(Bytes entry, std::vector<Found>& found) const {
    Bytes name, value;
    for (Message m(entry); m.next();) {
      if (m.is(1, Wire::bytes)) name = m.bytes();
      if (m.is(2, Wire::bytes)) value = m.bytes();
    }
    for (size_t i = 0; i < features_.size(); i++) {
      const std::string& wanted = features_[i].name;
      if (wanted.size() == name.size() && std::equal(name.begin(), name.end(), wanted.begin(), same))
        found[i].bytes = value;
    }
  }
  static bool same(uint8_t a, char b) { return char(a) == b; }

  // What the output of a feature is like; `number` says how many values there are, or strings.
  void describe(const Feature& f, Found& found) const {
    const uint32_t list = list_of(f.kind);
    found.dtype = dtype_of(f.kind);
    int64_t values = 0;
    Bytes string;
    for (Message m(found.bytes); m.next();)
      if (m.number() <= 3 && m.number() != list && m.wire() == Wire::bytes && !m.bytes().empty())
        refuse(f, std::string("has ") + name_of(m.number()) + ", not " + name_of(list));
    each_list(found.bytes, list, [&](Bytes values_of) {
      if (f.kind == Kind::int64) values += int64_t(count_numbers<int64_t>(values_of, 1));
      else if (f.kind == Kind::float32) values += int64_t(count_numbers<float>(values_of, 1));
      else
        for (Message m(values_of); m.next();)
          if (m.is(1, Wire::bytes) && !values++) string = m.bytes();
    });
    found.number = values;
    if (f.kind == Kind::string) {
      const std::string& other = f.default_string;
      found.bytes = values ? string : Bytes(reinterpret_cast<const uint8_t*>(other.data()), other.size());
      found.shape = {int64_t(found.bytes.size())};
    } else if (f.fixed) {
      found.shape = f.shape;
      if (values && values != f.shape.volume())
        refuse(f, "has " + std::to_string(values) + " values, but the shape " + to_string(f.shape) + " was asked for");
    } else {
      const int64_t row = f.shape.volume();
      if (values % row)
        refuse(f, "has " + std::to_string(values) + " values, which are no whole number of " + to_string(f.shape));
      found.shape = {values / row};
      for (int i = 0; i < f.shape.ndim; i++) found.shape.push(f.shape[i]);
    }
  }

  [[noreturn]] static void refuse(const Feature& f, const std::string& problem) {
    fail(ErrorKind::read, "the feature '" + f.name + "' " + problem);
  }

  bool verify_;
  std::vector<Feature> features_;
};

PS_OPERATOR("read_tfrecord", TFRecord)

}  // namespace
}  // namespace ps
