// Decodes a window given by its corners.
#include "ops/arguments/slice_window.h"
#include "ops/decode/source.h"

namespace ps {

class DecodeImageSlice : public ImageSource {
 public:
  static constexpr Count kInputs{1, 3};
  explicit DecodeImageSlice(const Spec& s) : ImageSource(s), slice_(s) {}

 protected:
  Window window(const Context& c, int64_t width, int64_t height) const override {
    return slice_.window(c, width, height);
  }

 private:
  SliceWindow slice_;
};

PS_OPERATOR("decode_image_slice", DecodeImageSlice)

}  // namespace ps
