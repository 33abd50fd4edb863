// Pictures written to files.

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "core/operator.h"
#include "cuda/driver/driver.h"
#include "cuda/record/operator.h"
#include "ops/arguments/picture_layout.h"

namespace ps {

class DumpImage : public Operator, public GpuOperator {
 public:
  explicit DumpImage(const Spec& s) : suffix_(s.string("suffix")) {
    std::error_code none;                          // where the folder has no name, files are named relative to it
    folder_ = std::filesystem::current_path(none);
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    if (in.shape.ndim != 3 || !(in.layout.empty() || in.layout == "HWC"))
      fail(ErrorKind::argument, "expected pictures (HWC), got " + shown_layout(in));
    if (in.shape[2] != 1 && in.shape[2] != 3)
      fail(ErrorKind::argument, "expected one or three channels, got the shape " + to_string(in.shape));
    c.out(0).dtype = in.dtype;
    c.out(0).shape = in.shape;
    c.out(0).layout = in.layout;
  }

  void run(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.bytes()) std::memcpy(c.out(0).data, in.data, in.bytes());
    write(c.index, in.shape, in.as<uint8_t>());
  }

  // The thread that enqueues the batch waits for the pictures: whoever looks at files is in no hurry.
  void record(gpu::Recorder& r) const override {
    struct Picture {
      int index;
      Shape shape;
      const uint8_t* pixels;
    };
    std::vector<Picture> pictures;
    for (int i = 0; i < r.size(); i++) {
      const Tensor& in = r[i].in(0);
      void* here = in.bytes() ? r.pinned(in.bytes()) : nullptr;
      if (here) {
        r.copy(r[i].out(0).data, in.data, in.bytes());
        r.copy_to_host(here, in.data, in.bytes());
      }
      pictures.push_back({r[i].index, in.shape, static_cast<const uint8_t*>(here)});
    }
    r.call([this, pictures = std::move(pictures)](gpu::CUstream stream) {
      gpu::check(gpu::driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
      for (const Picture& p : pictures) write(p.index, p.shape, p.pixels);
    });
  }

 private:
  void write(int index, const Shape& shape, const uint8_t* pixels) const {
    const bool gray = shape[2] == 1;
    std::string text = std::string(gray ? "P2" : "P3") + "\n" + std::to_string(shape[1]) + " " +
                       std::to_string(shape[0]) + "\n255\n";
    for (int64_t i = 0, n = shape.volume(); i < n; i++) text += std::to_string(pixels[i]) + " ";
    const std::string name = std::to_string(index) + "-" + suffix_ + "-0.ppm";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen((folder_ / name).c_str(), "wb"),
                                                                  std::fclose);
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
      fail(ErrorKind::argument, "the file '" + name + "' cannot be written");
  }

  std::string suffix_;
  std::filesystem::path folder_;                   // of when it was made: batches are prepared while others change it
};

PS_OPERATOR("dump_image", DumpImage)

}  // namespace ps
