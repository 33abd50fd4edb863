// Pictures by nvImageCodec, as a mixed decoder's output has them. What needs no conversion it decodes in place; the
// rest passes through the host: other types than the file's, colours, files that lie on their side.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/decode/nvimgcodec/image_codec.h"
#include "decode/image.h"

namespace ps::gpu {

class CodecPictures {
 public:
  explicit CodecPictures(const DecodeOptions& options) : options_(options) {}

  // What the header says; ImageInfo::codec is null. Throws Error(decode), or Error(device) without nvImageCodec.
  static ImageInfo peek(const uint8_t* data, size_t size);

  struct Item {
    Context context;               // its first input is the file, its first output in device memory
    ImageInfo info;
    Window window;                 // of the upright picture
  };
  struct Failure {
    Context context;
    std::string why;
  };
  // Puts it all into the stream. Returns the files that nvImageCodec cannot decode. One thread at a time.
  std::vector<Failure> decode(Device& device, const std::vector<Item>& items, CUstream stream) const;

 private:
  struct Task;
  struct Decoder;
  Task plan(const Item& item) const;
  std::vector<Task> attempt(Decoder& d, std::vector<Task> tasks) const;
  void convert(Decoder& d, const std::vector<Task>& tasks, const uint8_t* decoded) const;

  DecodeOptions options_;
  mutable std::shared_ptr<Decoder> decoder_;       // made with the first batch that has such files
};

}  // namespace ps::gpu
