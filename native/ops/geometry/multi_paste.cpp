// Parts of several pictures side by side, or one over the other.

#include "device/geometry/multi_paste.h"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/converter.h"
#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "ops/geometry/multi_paste/bands.h"

namespace ps {

// Numbers for y and x of each part, which may differ from frame to frame; whole pixels, or shares of an extent.
class PartArg {
 public:
  PartArg(const Spec& s, const char* name)
      : pixels_(s.arg<double>(name)), shares_(s.arg<float>(rel(name))), name_(name) {}

  bool given() const { return pixels_.given() || shares_.given(); }

  void check(const Context& c, int64_t parts, int64_t frames) const {
    if (!given()) return;
    const Tensor* t = tensor(c);
    const int64_t have = shares_.given() ? shares_.size(c) : pixels_.size(c);
    if (differs_by_frame(t) && t->shape[0] != frames)
      fail(ErrorKind::argument, name() + " has values for " + std::to_string(t->shape[0]) + " frames, but there are " +
                                    (frames < 0 ? "none" : std::to_string(frames)));
    const int64_t wanted = 2 * parts * (differs_by_frame(t) ? frames : 1);
    if (have != wanted)
      fail(ErrorKind::argument, name() + " has " + std::to_string(have) + " values; expected y and x for " +
                                    std::to_string(parts) + (parts == 1 ? " part" : " parts"));
  }

  // Of a part and an axis, 0 for y. `up`: shares are rounded up.
  int64_t get(const Context& c, int64_t frame, int64_t part, int64_t parts, int axis, int64_t extent, bool up) const {
    const int64_t i = ((differs_by_frame(tensor(c)) ? frame : 0) * parts + part) * 2 + axis;
    if (!shares_.given()) {
      const double v = pixels_.get(c, i);
      return v > -kMost && v < kMost ? int64_t(v) : v < 0 ? -int64_t(kMost) : int64_t(kMost);
    }
    const float share = shares_.get(c, i);
    if (!(share >= 0 && share <= 1))
      fail(ErrorKind::argument, name() + " has " + std::to_string(share) + ": expected 0 to 1");
    const float pixels = share * float(extent);
    return int64_t(up ? std::ceil(pixels) : std::floor(pixels));
  }

 private:
  static constexpr double kMost = 0x1p40;            // beyond all pictures

  static std::string rel(const char* name) { return std::string(name) + "_rel"; }
  std::string name() const { return shares_.given() ? rel(name_) : name_; }
  const Tensor* tensor(const Context& c) const { return shares_.given() ? shares_.tensor(c) : pixels_.tensor(c); }

  Arg<double> pixels_;
  Arg<float> shares_;
  const char* name_;
};

class MultiPaste : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{1, 64};
  explicit MultiPaste(const Spec& s)
      : ids_(s.arg<int64_t>("in_ids")), in_anchors_(s, "in_anchors"), shapes_(s, "shapes"),
        out_anchors_(s, "out_anchors"), size_(s.arg<int64_t>("output_size")), dtype_(s.dtype("dtype")) {
    if (ids_.given() && s.num_inputs > 1)
      fail(ErrorKind::argument, "in_ids goes with one input, but there are " + std::to_string(s.num_inputs));
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    const int64_t n = count(c);
    const bool frames = in.shape.ndim == 4;
    Tensor& out = c.out(0);
    out.dtype = dtype_ == DType::none ? in.dtype : dtype_;
    out.layout = frames ? "FHWC" : "HWC";
    converter(in.dtype, out.dtype);                  // both must be numbers
    check_picture(in, in);
    for (int64_t i = 0; i < n; i++) check_picture(source(c, i), source(c, 0));
    out.shape = n ? source(c, 0).shape : in.shape;
    find_size(c, out.shape);
    for (const PartArg* a : {&in_anchors_, &shapes_, &out_anchors_}) a->check(c, n, frames ? out.shape[0] : -1);
    parts(c, false);
  }

  void run(const Context& c) const override {
    const Tensor& out = c.out(0);
    if (!out.bytes()) return;
    const Convert convert = converter(c.in(0).dtype, out.dtype);
    const Picture to(out.shape);
    const int64_t n = count(c), from_bytes = int64_t(size_of(c.in(0).dtype));
    const int64_t pixel = to.channels * int64_t(size_of(out.dtype)), row = to.width * pixel;
    const std::vector<device::PastedPart> all = parts(c, true);
    for (int64_t f = 0; f < to.frames; f++) {
      uint8_t* frame = out.as<uint8_t>() + f * to.height * row;
      for (const PastedBand& band : pasted_bands(all.data() + f * n, n, to.height, to.width)) {
        for (const PastedPiece& piece : band.pieces) {
          if (piece.part < 0 && piece.x0 == 0 && piece.x1 == to.width) {
            std::memset(frame + band.y0 * row, 0, size_t((band.y1 - band.y0) * row));
            continue;
          }
          for (int64_t y = band.y0; y < band.y1; y++) {
            uint8_t* at = frame + y * row + piece.x0 * pixel;
            if (piece.part < 0) {
              std::memset(at, 0, size_t((piece.x1 - piece.x0) * pixel));
              continue;
            }
            const device::PastedPart& p = all[size_t(f * n + piece.part)];
            const int64_t first = (y - p.y0) * p.pitch + (piece.x0 - p.x0) * to.channels;
            convert(static_cast<const uint8_t*>(p.from) + first * from_bytes, at,
                    size_t((piece.x1 - piece.x0) * to.channels));
          }
        }
      }
    }
  }

  void record(gpu::Recorder& r) const override {
    if (!r.size()) return;
    using Fields = device::MultiPasteFields;
    const std::string types = gpu::cpp_type(r[0].in(0).dtype) + ", " + gpu::cpp_type(r[0].out(0).dtype);
    r.elements(PS_FUNCTOR_TEMPLATE(MultiPaste, "geometry/multi_paste.h", uint8_t, uint8_t).of(types),
               [&](const Context& c, void* to) {
                 const Tensor& out = c.out(0);
                 const Picture p(out.shape);
                 const std::vector<device::PastedPart> all = parts(c, true);
                 const void* there = all.empty() ? nullptr : r.constant(all.data(), all.size() * sizeof all[0]);
                 *static_cast<Fields*>(to) = {static_cast<const device::PastedPart*>(there), out.data, p.width,
                                              p.height, p.channels, int32_t(count(c))};
                 return out.shape.volume();
               });
  }

 private:
  struct Picture {
    int64_t height, width, channels, frames;
    explicit Picture(const Shape& s)
        : height(s[s.ndim - 3]), width(s[s.ndim - 2]), channels(s[s.ndim - 1]), frames(s.ndim == 4 ? s[0] : 1) {}
  };

  int64_t count(const Context& c) const { return ids_.given() ? ids_.size(c) : c.num_inputs; }

  const Tensor& source(const Context& c, int64_t i) const {
    if (!ids_.given()) return c.in(int(i));
    const int64_t id = ids_.get(c, i);
    if (id < 0 || id >= c.batch)
      fail(ErrorKind::axis, "in_ids has " + std::to_string(id) + ", which is no sample of a batch of " +
                                std::to_string(c.batch));
    return c.in(0, int(id));
  }

  static void check_picture(const Tensor& t, const Tensor& first) {
    const int n = t.shape.ndim;
    if ((n != 3 && n != 4) || !(t.layout.empty() || t.layout == Layout(n == 4 ? "FHWC" : "HWC")))
      fail(ErrorKind::layout, std::string("expected pictures of layout HWC or FHWC, got '") + t.layout.axes +
                                  "' and the shape " + to_string(t.shape));
    if (t.dtype != first.dtype)
      fail(ErrorKind::type, std::string("expected pictures of one type, got ") + name_of(first.dtype) + " and " +
                                name_of(t.dtype));
    if (n != first.shape.ndim || Picture(t.shape).frames != Picture(first.shape).frames ||
        Picture(t.shape).channels != Picture(first.shape).channels)
      fail(ErrorKind::argument, "expected pictures with as many frames and channels as each other, got the shapes " +
                                    to_string(first.shape) + " and " + to_string(t.shape));
  }

  // Height and width of the output.
  void find_size(const Context& c, Shape& out) const {
    const int first = out.ndim - 3;
    if (size_.given()) {
      if (size_.size(c) < 2)
        fail(ErrorKind::argument,
             "output_size has " + std::to_string(size_.size(c)) + " values; expected height and width");
      for (int k = 0; k < 2; k++) {
        out[first + k] = size_.get(c, k);
        if (out[first + k] < 0 || out[first + k] > kWidest)
          fail(ErrorKind::argument, "output_size has " + std::to_string(out[first + k]));
      }
      return;
    }
    for (int64_t i = 0, n = ids_.given() ? c.batch : c.num_inputs; i < n; i++) {
      const Shape& other = (ids_.given() ? c.in(0, int(i)) : c.in(int(i))).shape;
      if (other.ndim != out.ndim || other[first] != out[first] || other[first + 1] != out[first + 1])
        fail(ErrorKind::argument,
             "output_size is needed where pictures are not all of one size; there are the shapes " + to_string(out) +
                 " and " + to_string(other));
    }
  }

  // For each frame all parts; with `memory`, where they are.
  std::vector<device::PastedPart> parts(const Context& c, bool memory) const {
    const Picture out(c.out(0).shape);
    const int64_t n = count(c), room[2] = {out.height, out.width};
    std::vector<device::PastedPart> found;
    for (int64_t frame = 0; frame < out.frames; frame++) {
      for (int64_t i = 0; i < n; i++) {
        const Tensor& in = source(c, i);
        const Picture from(in.shape);
        const int64_t extent[2] = {from.height, from.width};
        int64_t in_at[2], out_at[2], shape[2];
        for (int k = 0; k < 2; k++) {
          in_at[k] = in_anchors_.given() ? in_anchors_.get(c, frame, i, n, k, extent[k], false) : 0;
          shape[k] = shapes_.given() ? shapes_.get(c, frame, i, n, k, extent[k], true) : extent[k] - in_at[k];
          out_at[k] = out_anchors_.given() ? out_anchors_.get(c, frame, i, n, k, room[k], false) : 0;
          check_part(i, k, in_at[k], shape[k], extent[k], "its picture");
          check_part(i, k, out_at[k], shape[k], room[k], "the output");
        }
        const int64_t pitch = from.width * from.channels;
        const int64_t first = (frame * from.height + in_at[0]) * pitch + in_at[1] * from.channels;
        const void* at = memory ? in.as<uint8_t>() + first * int64_t(size_of(in.dtype)) : nullptr;
        found.push_back({at, pitch, int32_t(out_at[1]), int32_t(out_at[0]), int32_t(out_at[1] + shape[1]),
                         int32_t(out_at[0] + shape[0])});
      }
    }
    return found;
  }

  static void check_part(int64_t i, int axis, int64_t at, int64_t shape, int64_t room, const char* where) {
    if (at >= 0 && shape >= 0 && at + shape <= room) return;
    fail(ErrorKind::argument, "part " + std::to_string(i) + " goes from " + std::to_string(at) + " to " +
                                  std::to_string(at + shape) + " along " + "yx"[axis] + ", but " + where +
                                  " from 0 to " + std::to_string(room));
  }

  static constexpr int64_t kWidest = int64_t(1) << 30;

  Arg<int64_t> ids_;
  PartArg in_anchors_, shapes_, out_anchors_;
  Arg<int64_t> size_;
  DType dtype_;
};

PS_OPERATOR("multi_paste", MultiPaste)

}  // namespace ps
