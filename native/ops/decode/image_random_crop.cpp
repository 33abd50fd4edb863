// Decodes a random window.
#include "ops/arguments/random_crop.h"
#include "ops/decode/source.h"

namespace ps {

class DecodeImageRandomCrop : public ImageSource {
 public:
  explicit DecodeImageRandomCrop(const Spec& s) : ImageSource(s), crop_(random_crop_params(s)) {}

 protected:
  Window window(const Context& c, int64_t width, int64_t height) const override {
    Philox random = c.random();
    return random_crop([&] { return random.next(); }, width, height, crop_);
  }

 private:
  RandomCropParams crop_;
};

PS_OPERATOR("decode_image_random_crop", DecodeImageRandomCrop)

}  // namespace ps
