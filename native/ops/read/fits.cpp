// FITS files: the number of a sample -> images in its file.
#include <algorithm>
#include <string>
#include <vector>

#include "core/converter.h"
#include "core/operator.h"
#include "decode/fits_tiles.h"
#include "decode/limit.h"
#include "ops/read/open.h"
#include "ops/read/tables.h"
#include "read/containers.h"
#include "read/fits.h"
#include "read/npy.h"

namespace ps {
namespace {

constexpr size_t kIdle = 256;            // files that stay open until their images are read

class ReadFits : public Operator, public Foresees {
 public:
  static constexpr Count kOutputs{1, kMany};
  explicit ReadFits(const Spec& s)
      : names_(s.table("names", DType::u8)), units_(s.get("hdu_indices").integers), most_(max_decoded_pixels()),
        idle_(kIdle) {
    for (int64_t i = 0; i < names_.size(); i++) far_ |= storage_of(names_[i]).is_far();
    if (const ArgValue* types = s.find("dtypes"))
      for (const int64_t number : types->integers) types_.push_back(DType(number));
  }

  void foresee(std::span<const Tensor> numbers, Foreseen& kept) const override {
    if (!far_) return;
    foresee_samples(numbers, names_.size(), kept,
                    [&](int64_t sample, std::vector<ByteRange>& ranges) { ranges.push_back({names_[sample]}); });
  }

  // Headers tell of the shapes, and images are read when there is memory for them.
  void setup(const Context& c) const override {
    const int64_t sample = number(c);
    for (int k = 0; k < c.num_outputs; k++) c.out(k).source = names_[sample];
    std::unique_ptr<Open> one = opened(sample);
    const Bytes file(*one->file);
    for (int k = 0; k < c.num_outputs; k++) {
      const FitsImage image = fits_image(find_fits_unit(file, units_[size_t(k)]));
      // A few bytes may stand for any number of compressed pixels.
      if (image.compressed && image.shape.volume() > most_)
        fail(ErrorKind::read, "the compressed image has " + std::to_string(image.shape.volume()) + " pixels: " +
             std::to_string(most_) + " are allowed");
      c.out(k).dtype = types_.empty() ? image.dtype() : types_[size_t(k)];
      c.out(k).shape = image.shape;
      c.out(k).layout = {};
      check_sound(c.out(k));
    }
    idle_.give_back(std::move(one));
  }

  void run(const Context& c) const override {
    std::unique_ptr<Open> one = opened(number(c));
    const Bytes file(*one->file);
    for (int k = 0; k < c.num_outputs; k++) {
      const FitsUnit unit = find_fits_unit(file, units_[size_t(k)]);
      const FitsImage image = fits_image(unit);
      if (!(image.shape == c.out(k).shape)) fail(ErrorKind::read, "the file changed while it was read");
      read(c, file, unit, image, c.out(k));
    }
  }

 private:
  int64_t number(const Context& c) const {
    const int64_t sample = element_i64(c.in(0), 0);
    if (sample < 0 || sample >= names_.size())
      fail(ErrorKind::argument, "there is no file " + std::to_string(sample) + ": there are " +
           std::to_string(names_.size()));
    return sample;
  }

  std::unique_ptr<Open> opened(int64_t sample) const {
    std::unique_ptr<Open> one = idle_.take(sample, 0);
    if (one) return one;
    one = std::make_unique<Open>();
    one->container = sample;
    one->file = open_file(names_[sample]);
    return one;
  }

  // The stored pixels, then the numbers that they stand for, then these as the type that is wanted.
  static void read(const Context& c, const Bytes& file, const FitsUnit& unit, const FitsImage& image,
                   const Tensor& out) {
    const auto count = size_t(image.shape.volume());
    if (count == 0) return;
    const DType number = image.dtype();
    void* numbers = number == out.dtype ? out.data : c.scratch->take(count * size_of(number));
    void* stored = size_of(number) == size_of(image.stored) ? numbers : c.scratch->take(count * size_of(image.stored));
    if (image.compressed) {
      decode_fits_tiles(file, unit, image, stored);
    } else {
      file.read(unit.begin, stored, count * size_of(image.stored));
      swap_bytes(stored, size_of(image.stored), count);
    }
    fits_numbers(image, stored, numbers, count);
    if (number != out.dtype) converter(number, out.dtype)(numbers, out.data, count);
  }

  bool far_ = false;                     // some lie in a storage that wants to know of them in advance
  Names names_;
  std::vector<int64_t> units_;
  std::vector<DType> types_;
  int64_t most_;
  mutable Containers<Open> idle_;        // goes first: open files know their names by names_
};

PS_OPERATOR("read_fits", ReadFits)

}  // namespace
}  // namespace ps
