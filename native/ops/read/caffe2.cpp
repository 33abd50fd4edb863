// Values of Caffe2's data bases: TensorProtos -> a picture, a label, further tensors, a box, in this order.
#include <cstring>
#include <string>
#include <vector>

#include "ops/read/records.h"

namespace ps {
namespace {

enum Number : uint32_t { kDims = 1, kType = 2, kFloats = 3, kInt32 = 4, kBytes = 5, kStrings = 6, kInt64 = 10 };
enum class Type : int64_t { none = 0, floats = 1, int32 = 2, bytes = 3, string = 4, int64 = 10 };
enum class Label : int64_t { single = 0, sparse = 1, dense = 2, weighted = 3, none = 4 };

struct Proto {
  Bytes message;
  Type type = Type::floats;                        // what a message says by leaving it out

  explicit Proto(Bytes bytes) : message(bytes) {
    for (Message m(bytes); m.next();)
      if (m.is(kType, Wire::varint)) type = Type(int64_t(m.value()));
  }
};

class Caffe2 : public RecordReader {
 public:
  explicit Caffe2(const Spec& s)
      : RecordReader(s), image_(s.flag("image_available")), box_(s.flag("bbox")),
        label_(Label(s.integer("label_type"))), labels_(s.integer("num_labels")),
        additional_(s.integer("additional_inputs")) {}

 protected:
  void parse(Record record, std::vector<Found>& found) const override {
    Message protos(record);
    if (image_) found.push_back(picture(next(protos, "picture")));
    if (label_ != Label::none) {
      const Proto label = next(protos, "label");
      if (label_ == Label::weighted) found.push_back(sparse(label, next(protos, "tensor of weights").message));
      else if (label_ == Label::sparse) found.push_back(sparse(label, {}));
      else found.push_back(dense(label));
    }
    for (int64_t i = 0; i < additional_; i++) found.push_back(numbers(next(protos, "further tensor"), true));
    if (box_) found.push_back(box(next(protos, "box")));
  }

  void write(const Found& found, int output, Tensor& to) const override {
    if (found.dtype == DType::u8) return RecordReader::write(found, output, to);
    if (found.number == kSparse) return write_sparse(found, to);
    if (found.dtype == DType::f32) copy_numbers<float>(found.bytes, kFloats, to.as<float>());
    else if (found.dtype == DType::i32) copy_numbers<int32_t>(found.bytes, kInt32, to.as<int32_t>());
    else copy_numbers<int64_t>(found.bytes, kInt64, to.as<int64_t>());
  }

 private:
  static constexpr int64_t kSparse = 1;

  [[gnu::noinline]] static Proto next(Message& protos, const char* what) {
    while (protos.next())
      if (protos.is(1, Wire::bytes)) return Proto(protos.bytes());
    fail(ErrorKind::read, std::string("it has no ") + what);
  }

  static Found picture(const Proto& proto) {
    Bytes bytes;
    int strings = 0;
    for (Message m(proto.message); m.next();) {
      if (proto.type == Type::string && m.is(kStrings, Wire::bytes) && !strings++) bytes = m.bytes();
      if (proto.type == Type::bytes && m.is(kBytes, Wire::bytes)) bytes = m.bytes();
    }
    if (proto.type == Type::string) {
      if (!strings) fail(ErrorKind::read, "its picture has no bytes");
      return bytes_found(bytes);
    }
    if (proto.type != Type::bytes) fail(ErrorKind::read, "its picture is neither a string nor bytes");
    Found found = bytes_found(bytes);
    found.shape = pixels(proto.message, bytes.size());
    return found;
  }

  static Shape pixels(Bytes message, size_t bytes) {
    const size_t axes = count_numbers<int64_t>(message, kDims);
    int64_t extents[3] = {0, 0, 1};
    if (axes != 2 && axes != 3)
      fail(ErrorKind::read, "its picture has " + std::to_string(axes) + " axes, not height, width and channels");
    copy_numbers<int64_t>(message, kDims, extents);
    const Shape shape = {extents[0], extents[1], extents[2]};
    __int128 volume = 1;
    for (const int64_t extent : extents) volume = extent < 0 || extent > INT32_MAX ? -1 : volume * extent;
    if (volume != __int128(bytes))
      fail(ErrorKind::read, "its picture has " + std::to_string(bytes) + " bytes, but its shape is " +
           to_string(shape));
    return shape;
  }

  // All numbers of a tensor, on one axis.
  static Found numbers(const Proto& proto, bool wide) {
    Found found;
    found.bytes = proto.message;
    size_t n = 0;
    if (proto.type == Type::floats) {
      found.dtype = DType::f32;
      n = count_numbers<float>(proto.message, kFloats);
    } else if (proto.type == Type::int32) {
      found.dtype = DType::i32;
      n = count_numbers<int32_t>(proto.message, kInt32);
    } else if (proto.type == Type::int64 && wide) {
      found.dtype = DType::i64;
      n = count_numbers<int64_t>(proto.message, kInt64);
    } else {
      fail(ErrorKind::read, std::string(wide ? "a further tensor" : "its label") + " is of type " +
           std::to_string(int64_t(proto.type)) + ": expected floats, int32" + (wide ? " or int64" : ""));
    }
    found.shape = {int64_t(n)};
    return found;
  }

  Found dense(const Proto& proto) const {
    const Found found = numbers(proto, false);
    if (label_ == Label::single && found.shape[0] != 1)
      fail(ErrorKind::read, "it has " + std::to_string(found.shape[0]) + " labels, not one");
    return found;
  }

  // A number for each class: ones, or the weights, at the classes that are told.
  Found sparse(const Proto& proto, Bytes weights) const {
    Found found = numbers(proto, false);
    const size_t told = classes(proto).size();
    if (label_ == Label::weighted) {
      const size_t n = count_numbers<float>(weights, kFloats);
      if (n != told)
        fail(ErrorKind::read, "it has " + std::to_string(told) + " labels, but " + std::to_string(n) + " weights");
      found.dtype = DType::f32;
    }
    found.more = weights;
    found.number = kSparse;
    found.shape = {labels_};
    return found;
  }

  std::vector<double> classes(const Proto& proto) const {
    std::vector<double> found(size_t(numbers(proto, false).shape[0]));
    if (proto.type == Type::floats) {
      std::vector<float> all(found.size());
      copy_numbers<float>(proto.message, kFloats, all.data());
      found.assign(all.begin(), all.end());
    } else {
      std::vector<int32_t> all(found.size());
      copy_numbers<int32_t>(proto.message, kInt32, all.data());
      found.assign(all.begin(), all.end());
    }
    for (const double label : found)
      if (!(label >= 0 && label < double(labels_)))
        fail(ErrorKind::read, "its label " + std::to_string(label) + " is none of " +
             std::to_string(labels_) + " (num_labels)");
    return found;
  }

  void write_sparse(const Found& found, Tensor& to) const {
    const std::vector<double> at = classes(Proto(found.bytes));
    std::vector<float> weights(at.size(), 1.0f);
    if (label_ == Label::weighted) copy_numbers<float>(found.more, kFloats, weights.data());
    std::memset(to.data, 0, to.bytes());
    for (size_t i = 0; i < at.size(); i++) {
      if (found.dtype == DType::f32) to.as<float>()[size_t(at[i])] = weights[i];
      else to.as<int32_t>()[size_t(at[i])] = 1;
    }
  }

  static Found box(const Proto& proto) {
    if (proto.type != Type::int32) fail(ErrorKind::read, "its box is not of int32");
    const Found found = numbers(proto, false);
    if (found.shape[0] != 4)
      fail(ErrorKind::read, "its box has " + std::to_string(found.shape[0]) + " numbers, not 4");
    return found;
  }

  bool image_, box_;
  Label label_;
  int64_t labels_, additional_;
};

PS_OPERATOR("read_caffe2", Caffe2)

}  // namespace
}  // namespace ps
