// Decodes a window of a given size.
#include "ops/arguments/crop_window.h"
#include "ops/decode/source.h"

namespace ps {

class DecodeImageCrop : public ImageSource {
 public:
  explicit DecodeImageCrop(const Spec& s) : ImageSource(s), crop_(s) {}

 protected:
  Window window(const Context& c, int64_t width, int64_t height) const override {
    return crop_.window(c, width, height);
  }

 private:
  CropWindow crop_;
};

PS_OPERATOR("decode_image_crop", DecodeImageCrop)

}  // namespace ps
