// A window of pictures, mirrored, normalized, and as planes: the last step before training.
#include <algorithm>
#include <bit>

#include "core/operator.h"
#include "device/color/crop_mirror_normalize.h"
#include "ops/arguments/border.h"
#include "ops/arguments/crop_window.h"
#include "ops/arguments/picture_layout.h"
#include "ops/arguments/picture_window.h"
#include "ops/arguments/truncate.h"
#include "ops/color/crop_mirror_normalize/elements.h"
#include "ops/color/crop_mirror_normalize/stage.h"
#include "ops/color/crop_mirror_normalize/types.h"
#include "ops/gather/gather.h"
#include "ops/gather/gpu.h"
#include "rows/frames.h"

namespace ps {

class CropMirrorNormalize : public RowOperator, public StageOperator, public FrameStages {
 public:
  explicit CropMirrorNormalize(const Spec& s)
      : window_(s), border_(border_of(s)), mirror_(s.arg<int>("mirror")), mean_(s.arg<float>("mean")),
        std_(s.arg<float>("std")), scale_(float(s.number("scale"))), shift_(float(s.number("shift"))),
        dtype_(s.dtype("dtype")), output_layout_(s.string("output_layout")),
        pad_output_(s.flag("pad_output")) {
    const std::vector<double>& fill = s.get("fill_values").numbers;
    if (border_ == Border::constant) fill_ = fill;
    fill_bytes_ = truncated(fills(device::kNormalizedChannels), dtype_);
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    const Layout from = picture_layout(in, true);
    Params& p = c.param<Params>();
    p.layout = from;
    p.mirror = mirror_.get(c) != 0;
    p.region = window_.region(c, in.shape, from);
    apply_border(border_, in.shape, from, p.region);
    out.dtype = dtype_;
    out.layout = output_layout_.empty() ? from : Layout(output_layout_);
    const auto a = from.view(), b = out.layout.view();
    if (!std::is_permutation(a.begin(), a.end(), b.begin(), b.end()))
      fail(ErrorKind::layout, std::string("output_layout is '") + out.layout.axes +
                                  "', which is not a permutation of the input's layout '" + from.axes + "'");
    if (from.find('C') < 0)
      fail(ErrorKind::layout, std::string("the input's layout '") + from.axes + "' has no channels (C)");
    const int64_t channels = in.shape[from.find('C')];
    out.shape = in.shape;
    for (int i = 0; i < in.shape.ndim; i++) out.shape[i] = p.region.shape[from.find(out.layout.axes[i])];
    if (pad_output_) out.shape[out.layout.find('C')] = int64_t(std::bit_ceil(uint64_t(channels)));
    const int64_t padded = out.shape[out.layout.find('C')];
    check_count("mean", mean_.size(c), channels, padded);
    check_count("std", std_.size(c), channels, padded);
    check_count("fill_values", int64_t(fill_.size()), channels, padded);
    if (mean_.size(c) > 1 && std_.size(c) > 1 && mean_.size(c) != std_.size(c))
      fail(ErrorKind::argument, "mean has " + std::to_string(mean_.size(c)) + " values, and std " +
                                    std::to_string(std_.size(c)));
    visit_types(in.dtype, dtype_, [](auto, auto) {});
  }

  void run(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Params& p = c.param<Params>();
    if (out.shape.volume() == 0) return;
    if (order_of(c) != Order::other && p.region.inside(in.shape)) return run_frames(c);
    NormalizeStage& stage = c.st<NormalizeStage>();
    prepare(c, stage.normalization);
    Gather gather(Border::constant);
    add_axes(c, gather);
    gather_normalized(gather, stage.normalization, in, out);
  }

  Misfit rows_misfit(const Context& c) const override {
    const Params& p = c.param<Params>();
    if (!(p.layout == Layout("HWC"))) return misfit::no_picture;
    if (order_of(c) == Order::other) return "output_layout is neither HWC nor CHW";
    if (!p.region.inside(c.in(0).shape)) return misfit::outside;
    return c.out(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  Misfit frames_misfit(const Context& c) const override {
    const Params& p = c.param<Params>();
    if (!(p.layout == Layout("FHWC"))) return kNoFrames;
    if (order_of(c) == Order::other) return "output_layout does not end with HWC or HW";
    if (!p.region.inside(c.in(0).shape)) return misfit::outside;
    return c.out(0).shape.volume() > 0 ? fits : misfit::no_pixels;
  }

  RowStage* begin(const Context& c) const override { return begin_at(c, 0); }
  RowStage* begin_frame(const Context& c, int64_t frame) const override {
    return begin_at(c, frame * stride(c.out(0), 'F'));
  }

  Misfit stage_misfit(const Context& c) const override {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Layout& from = c.param<Params>().layout;
    const int64_t channels = in.shape[from.find('C')];
    if (channels == 0) return misfit::no_pixels;
    if (out.shape[out.layout.find('C')] > device::kNormalizedChannels) return "there are many channels";
    const auto frames = [](const Layout& l) {        // axes that a stage knows nothing of keep their order
      std::string names(l.view());
      std::erase_if(names, [](char axis) { return axis == 'H' || axis == 'W' || axis == 'C'; });
      return names;
    };
    if (frames(from) != frames(out.layout)) return "other axes than height, width and channels change places";
    return window_misfit(c.param<Params>().region, in);
  }

  Functor stage(const Context&) const override {
    return PS_FUNCTOR_TEMPLATE(NormalizeStage, "color/crop_mirror_normalize.h", uint8_t).of(gpu::cpp_type(dtype_));
  }

  bool one_to_one() const override { return true; }
  void fill_stage(const Context& c, void* functor) const override {
    auto& f = *static_cast<device::NormalizeStage<uint8_t>*>(functor);
    const Params& p = c.param<Params>();
    const int h = p.layout.find('H'), w = p.layout.find('W');
    f.x = int32_t(p.region.anchor[w] + (p.mirror ? p.region.shape[w] - 1 : 0));
    f.y = int32_t(p.region.anchor[h]);
    f.step_x = p.mirror ? -1 : 1;
    f.channels = int32_t(c.in(0).shape[p.layout.find('C')]);
    for (int i = 0; i < f.channels; i++) {
      const ChannelNumbers n = numbers(c, i);
      f.mean[i] = n.mean;
      f.scale[i] = n.scale;
      f.shift[i] = n.shift;
    }
    const size_t element = size_of(dtype_);
    std::memcpy(f.fills, fill_bytes_.data(), device::kNormalizedChannels * element);
  }

  Window needed(const Context& c, const Window& output) const override {
    const Params& p = c.param<Params>();
    return needed_of_window(p.region, c.in(0), p.mirror, false, output);
  }

  void record_alone(gpu::Recorder& r) const override {
    if (!r.size()) return;
    std::vector<float> table;                        // of all samples: means, scales, shifts
    std::vector<size_t> at;
    int64_t most = 1;                                // channels of an output
    for (int i = 0; i < r.size(); i++) {
      const Layout& layout = r[i].param<Params>().layout;
      const auto channels = size_t(r[i].in(0).shape[layout.find('C')]);
      most = std::max(most, r[i].out(0).shape[r[i].out(0).layout.find('C')]);
      at.push_back(table.size());
      table.resize(table.size() + 3 * channels);
      for (size_t k = 0; k < channels; k++) {
        const ChannelNumbers n = numbers(r[i], int(k));
        table[at.back() + k] = n.mean;
        table[at.back() + channels + k] = n.scale;
        table[at.back() + 2 * channels + k] = n.shift;
      }
    }
    const std::vector<uint8_t> fill_bytes = truncated(fills(size_t(most)), dtype_);
    const void* fills = r.constant(fill_bytes.data(), fill_bytes.size());
    const auto* all = static_cast<const float*>(r.constant(table.data(), table.size() * sizeof(float)));
    const auto type =
        PS_FUNCTOR_TEMPLATE(NormalizeElements, "color/crop_mirror_normalize.h", uint8_t, uint8_t, kMaxDims);
    gpu::record_gather(r, type, r[0].in(0).dtype, dtype_, Border::constant,
                       [&](const Context& c, Gather& gather, device::GatherHead& head) {
                         const int64_t channels = c.in(0).shape[c.param<Params>().layout.find('C')];
                         add_axes(c, gather);
                         head.fills = fills;
                         head.mean = all + at[size_t(c.index)];
                         head.scale = head.mean + channels;
                         head.shift = head.scale + channels;
                       });
  }

  bool stores() const override { return true; }
  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<NormalizeStage>(); }

 private:
  struct Params {
    Region region;
    Layout layout;                                   // of the input
    bool mirror;
  };

  // Where channels are added, some of those that there are may count among them.
  void check_count(const char* name, int64_t have, int64_t channels, int64_t padded) const {
    if (have != 1 && have != channels && !(pad_output_ && have > 0 && have <= padded))
      fail(ErrorKind::argument, std::string(name) + " has " + std::to_string(have) + " values for " +
                                    std::to_string(channels) + " channels");
  }

  using Order = NormalizeStage::Order;

  static Order order_of(const Context& c) {
    const Layout &in = c.param<Params>().layout, &out = c.out(0).layout;
    const auto ends_with = [](const Layout& l, std::string_view end) { return l.view().ends_with(end); };
    if (!ends_with(in, "HWC") || c.in(0).shape[c.in(0).shape.ndim - 1] == 0) return Order::other;
    return ends_with(out, "HWC") ? Order::interleaved : ends_with(out, "HW") ? Order::planes : Order::other;
  }

  // Beyond the channels that mean and std are given for, all becomes 0.
  ChannelNumbers numbers(const Context& c, int channel) const {
    const int64_t means = mean_.size(c), stds = std_.size(c), given = std::max(means, stds);
    if (given > 1 && channel >= given) return {0, 0, 0};
    const float mean = mean_.get(c, means > 1 ? channel : 0), std = std_.get(c, stds > 1 ? channel : 0);
    return ChannelNumbers::of(mean, scale_ / std, shift_);
  }
  // Of so many channels; those beyond the ones that several are given for are 0.
  std::vector<double> fills(size_t channels) const {
    std::vector<double> all(fill_);
    all.resize(channels, fill_.size() > 1 ? 0 : fill_[0]);
    return all;
  }

  void prepare(const Context& c, Normalization& m) const {
    const Tensor& out = c.out(0);
    const Params& p = c.param<Params>();
    m.resize(int(c.in(0).shape[p.layout.find('C')]));
    m.out_channels = int(out.shape[out.layout.find('C')]);
    for (int i = 0; i < m.channels; i++) m.set(i, numbers(c, i));
    m.fill = truncated(fills(size_t(m.out_channels)), out.dtype);
  }

  void prepare(const Context& c, NormalizeStage& s) const {
    const Tensor& out = c.out(0);
    const Params& p = c.param<Params>();
    const int h = p.layout.find('H'), w = p.layout.find('W');
    prepare(c, s.normalization);
    s.order = order_of(c);
    s.window = {p.region.anchor[w], p.region.anchor[h], p.region.anchor[w] + p.region.shape[w],
                p.region.anchor[h] + p.region.shape[h]};
    s.in = format(c.in(0));
    s.out = {s.window.width(), s.window.height(), s.normalization.out_channels, out.dtype};
    s.row.width = s.window.width();
    s.row.mirror = p.mirror;
    s.element = size_of(out.dtype);
    s.row.plane = stride(out, 'C');
    s.row_bytes = size_t(stride(out, 'H')) * s.element;
    s.normalize = normalize_row(c.in(0).dtype, dtype_, s.order == Order::planes);
  }

  static int64_t stride(const Tensor& t, char axis) {
    int64_t n = 1;
    for (int i = t.layout.find(axis) + 1; i < t.shape.ndim; i++) n *= t.shape[i];
    return n;
  }

  // Of the picture whose first element is this one of the output.
  RowStage* begin_at(const Context& c, int64_t element) const {
    NormalizeStage& stage = c.st<NormalizeStage>();
    prepare(c, stage);
    stage.to = c.out(0).as<uint8_t>() + size_t(element) * stage.element;
    stage.pad();
    return &stage;
  }

  // Sequences and volumes of interleaved pictures, one picture after the other.
  void run_frames(const Context& c) const {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Params& p = c.param<Params>();
    NormalizeStage& stage = c.st<NormalizeStage>();
    prepare(c, stage);
    const int outer = in.shape.ndim - 3;
    const size_t frame = in.bytes() / size_t(std::max<int64_t>(1, volume(in.shape, outer)));
    const int64_t count = volume(p.region.shape, outer);
    for (int64_t k = 0; k < count; k++) {
      int64_t from = 0, to = 0, rest = k, size = 1;
      for (int i = outer; i-- > 0; rest /= p.region.shape[i], size *= in.shape[i]) {
        from += (p.region.anchor[i] + rest % p.region.shape[i]) * size;
        to += rest % p.region.shape[i] * stride(out, p.layout.axes[i]);
      }
      stage.to = out.as<uint8_t>() + size_t(to) * stage.element;
      stage.pad();
      push_rows(in.as<uint8_t>() + size_t(from) * frame, stage.in, stage.window, stage);
    }
  }

  static int64_t volume(const Shape& s, int dims) {
    int64_t v = 1;
    for (int i = 0; i < dims; i++) v *= s[i];
    return v;
  }

  static void add_axes(const Context& c, Gather& gather) {
    const Tensor &in = c.in(0), &out = c.out(0);
    const Params& p = c.param<Params>();
    for (int i = 0; i < out.shape.ndim; i++) {
      const char axis = out.layout.axes[i];
      const int from = p.layout.find(axis);
      auto bytes = int64_t(size_of(in.dtype));
      for (int k = from + 1; k < in.shape.ndim; k++) bytes *= in.shape[k];
      GatherAxis a{out.shape[i], p.region.anchor[from], 1, in.shape[from], bytes, axis == 'C'};
      if (axis == 'W' && p.mirror) a.first += a.size - 1, a.step = -1;
      gather.add(a);
    }
  }

  CropWindow window_;
  Border border_;
  Arg<int> mirror_;
  Arg<float> mean_, std_;
  float scale_, shift_;
  DType dtype_;
  std::string output_layout_;
  bool pad_output_;
  std::vector<double> fill_{0.0};
  std::vector<uint8_t> fill_bytes_;                  // of the channels of a stage, in the output's type
};

PS_OPERATOR("crop_mirror_normalize", CropMirrorNormalize)

}  // namespace ps
