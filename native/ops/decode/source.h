// What the operators that decode pictures share: they differ in the window alone. On the CPU they are the source of a
// row pipeline; for device="mixed" a batch is shared between the GPU's decoders and the CPU's threads.
#pragma once

#include <memory>

#include "cuda/decode/mixed.h"
#include "cuda/record/operator.h"
#include "decode/image.h"
#include "decode/jpeg/index_file.h"
#include "decode/limit.h"
#include "ops/decode/file.h"
#include "rows/memory_rows.h"

namespace ps {

class ImageSource : public SourceOperator, public PictureDecoder {
 public:
  explicit ImageSource(const Spec& s) {
    options_.type = ImageType(s.integer("output_type"));
    options_.dtype = s.dtype("dtype");
    options_.adjust_orientation = s.flag("adjust_orientation");
    options_.fast_idct = s.flag("use_fast_idct");
    options_.max_pixels = max_decoded_pixels();
    if (const ArgValue* paths = s.find("jpeg_index")) options_.jpeg_index = JpegIndex::open(paths->strings);
    const gpu::MixedOptions mixed(s);
    if (s.device == "mixed") {
      options_.fancy_upsampling = mixed.jpeg.fancy_upsampling;
      mixed_ = std::make_unique<gpu::MixedDecoder>(mixed, options_);
    }
  }

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override {
    check_file(c.in(0));
    Params& p = c.param<Params>();
    const uint8_t* data = c.in(0).as<uint8_t>();
    const size_t size = c.in(0).bytes();
    p.info = mixed_ ? mixed_->peek(c, p.share) : peek(data, size);
    check_size(p.info, options_.max_pixels);
    const RowFormat whole = output_format(p.info, options_);
    p.window = window(c, whole.width, whole.height);
    check_window(p.window, whole);
    p.shown = p.window;
    Tensor& out = c.out(0);
    out.dtype = whole.dtype;
    out.shape = {p.window.height(), p.window.width(), whole.channels};
    out.layout = "HWC";
  }

  void record(gpu::Recorder& r) const override {
    for (int i = 0; i < r.size(); i++) r[i].param<Params>().shown = r[i].param<Params>().window;
    mixed_->record(r, sample, [this](const Context& c, uint8_t* to) { decode_to(c, to); });
  }
  std::vector<gpu::DecodedSample> samples(const gpu::Recorder& r) const override { return mixed_->samples(r, sample); }
  void record_views(gpu::Recorder& r, const gpu::DecodedInput& input) const override {
    for (int i = 0; i < r.size(); i++) {
      Params& p = r[i].param<Params>();
      const Window &needed = input.samples[size_t(i)].needed, &w = p.window;
      p.shown = {w.x0 + needed.x0, w.y0 + needed.y0, w.x0 + needed.x1, w.y0 + needed.y1};
    }
    mixed_->record(r, sample, [this](const Context& c, uint8_t* to) { decode_to(c, to); }, &input);
  }
  bool has_host_part() const override { return true; }
  void run_host(const Context& c) const override {
    if (uint8_t* to = c.param<Params>().share.host) decode_to(c, to);
  }
  const gpu::DecodeCounts* decode_counts() const override { return mixed_ ? &mixed_->counts() : nullptr; }

  void produce(const Context& c, const Window& wanted, RowSink& sink) const override {
    const Params& p = c.param<Params>();
    const Window& w = p.shown;
    ShiftedRows shifted(sink, w.y0);
    c.st<ThreadState>().decoder.decode(c.in(0).as<uint8_t>(), c.in(0).bytes(), p.info, options_,
                                  {w.x0 + wanted.x0, w.y0 + wanted.y0, w.x0 + wanted.x1, w.y0 + wanted.y1}, shifted);
  }

 protected:
  // Of a picture of this size, after rotation.
  virtual Window window(const Context& c, int64_t width, int64_t height) const = 0;

 private:
  struct Params {
    ImageInfo info;
    Window window, shown;                       // the output's; the part of it that is made
    gpu::MixedDecoder::Share share;
  };
  struct ThreadState : State {
    ImageDecoder decoder;
  };
  static gpu::MixedDecoder::Sample sample(const Context& c) {
    Params& p = c.param<Params>();
    return {p.info, p.shown, p.share};
  }
  static void check_window(const Window& w, const RowFormat& whole) {
    if (w.x0 >= 0 && w.y0 >= 0 && w.x1 <= whole.width && w.y1 <= whole.height && w.width() > 0 && w.height() > 0)
      return;
    auto range = [](int64_t a, int64_t b) { return std::to_string(a) + ".." + std::to_string(b); };
    fail(ErrorKind::argument, "the window x " + range(w.x0, w.x1) + ", y " + range(w.y0, w.y1) +
         (w.width() > 0 && w.height() > 0 ? " reaches beyond" : " is empty in") + " the picture of " +
         std::to_string(whole.width) + " x " + std::to_string(whole.height) + " pixels");
  }

  // Of a file that nvImageCodec has looked at, and then could not decode.
  void know_codec(const Context& c) const {
    ImageInfo& known = c.param<Params>().info;
    if (known.codec) return;
    const ImageInfo info = peek(c.in(0).as<uint8_t>(), c.in(0).bytes());
    const RowFormat format = output_format(info, options_), expected = output_format(known, options_);
    if (format.width != expected.width || format.height != expected.height || format.channels != expected.channels ||
        format.dtype != expected.dtype)
      fail(ErrorKind::unsupported, "decoders do not agree about the picture");
    known = info;
  }

  void decode_to(const Context& c, uint8_t* to) const {
    know_codec(c);
    Tensor picture = c.out(0);
    const Window& shown = c.param<Params>().shown;
    picture.shape[0] = shown.height(), picture.shape[1] = shown.width();
    picture.data = to;
    Tensor* outputs[] = {&picture};
    Context there = c;
    there.outputs = outputs;
    ThreadState own;
    if (!there.state) there.state = &own;       // on a thread that has none: rare
    SourceOperator::run(there);
  }

  DecodeOptions options_;
  std::unique_ptr<gpu::MixedDecoder> mixed_;    // for device="mixed"
};

}  // namespace ps
