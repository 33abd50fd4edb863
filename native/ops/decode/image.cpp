// Decodes whole pictures.
#include "ops/decode/source.h"

namespace ps {

class DecodeImage : public ImageSource {
 public:
  using ImageSource::ImageSource;

 protected:
  Window window(const Context&, int64_t width, int64_t height) const override { return {0, 0, width, height}; }
};

PS_OPERATOR("decode_image", DecodeImage)

}  // namespace ps
