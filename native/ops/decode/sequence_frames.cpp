// The files of a sequence's frames, one behind the other -> the frames.
#include <string>

#include "ops/decode/source.h"

namespace ps {

class SequenceFrames : public Operator {
 public:
  static constexpr Count kInputs{2, 2};
  explicit SequenceFrames(const Spec& s) {
    options_.type = ImageType(s.integer("image_type"));
    options_.dtype = DType::u8;
    options_.max_pixels = max_decoded_pixels();
  }

  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  // All frames are of the first one's shape.
  void setup(const Context& c) const override {
    check_file(c.in(0));
    const int64_t frames = c.in(1).shape.volume();
    if (frames < 1) fail(ErrorKind::argument, "there is no frame");
    const RowFormat f = format(look(c.in(0).as<uint8_t>(), frame_bytes(c, 0)));
    c.out(0).dtype = f.dtype;
    c.out(0).shape = {frames, f.height, f.width, f.channels};
    c.out(0).layout = "FHWC";
  }

  void run(const Context& c) const override {
    const uint8_t* file = c.in(0).as<uint8_t>();
    const Shape& shape = c.out(0).shape;
    auto* to = c.out(0).as<uint8_t>();
    for (int64_t i = 0; i < shape[0]; i++) {
      const size_t bytes = frame_bytes(c, i);
      const ImageInfo info = look(file, bytes);
      const RowFormat f = format(info);
      if (f.height != shape[1] || f.width != shape[2] || f.channels != shape[3])
        fail(ErrorKind::decode, "frame " + std::to_string(i) + " has " + std::to_string(f.height) + " x " +
             std::to_string(f.width) + " pixels of " + std::to_string(f.channels) + " channels, the first one has " +
             std::to_string(shape[1]) + " x " + std::to_string(shape[2]) + " of " + std::to_string(shape[3]));
      MemorySink sink(to, f);
      c.st<ThreadState>().decoder.decode(file, bytes, info, options_, sink.window(), sink);
      file += bytes;
      to += f.pixel_bytes() * size_t(f.width) * size_t(f.height);
    }
  }

 private:
  struct ThreadState : State {
    ImageDecoder decoder;
  };

  ImageInfo look(const uint8_t* file, size_t bytes) const {
    const ImageInfo info = peek(file, bytes);
    check_size(info, options_.max_pixels);
    return info;
  }
  RowFormat format(const ImageInfo& info) const { return output_format(info, options_); }

  static size_t frame_bytes(const Context& c, int64_t i) { return size_t(element_i64(c.in(1), i)); }

  DecodeOptions options_;
};

PS_OPERATOR("sequence_frames", SequenceFrames)

}  // namespace ps
