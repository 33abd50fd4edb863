#include "gpu/mixed_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/error.h"

namespace ps::gpu {

MixedDecoder::MixedDecoder(const Spec& s, const DecodeOptions& options)
    : options_(options), load_(std::clamp(s.number("hw_decoder_load", 0.65), 0.0, 1.0)), codec_(options) {
  const char* engine = std::getenv("PENSTOCK_JPEG");
  if (engine && std::string_view(engine) == "cuda" && options.dtype == DType::u8 && !options.fast_idct) {
    cuda_ = std::make_unique<CudaJpeg>(*Device::get(int(s.integer("device_id"))), options);
    return;
  }
  if (load_ == 0 || options.dtype != DType::u8 || options.type == ImageType::ycbcr || options.fast_idct) return;
  BatchedJpeg::Options jpeg;
  jpeg.fancy_upsampling = options.fancy_upsampling;
  jpeg.width = int(s.integer("preallocate_width_hint"));
  jpeg.height = int(s.integer("preallocate_height_hint"));
  jpeg.device_padding = size_t(s.integer("device_memory_padding"));
  jpeg.pinned_padding = size_t(s.integer("host_memory_padding"));
  jpeg_ = SharedJpeg::of(int(s.integer("device_id")), jpeg);
}

ImageInfo MixedDecoder::peek(const Context& c, Share& share) const {
  const uint8_t* data = c.in(0).as<uint8_t>();
  const size_t size = c.in(0).bytes();
  share = {};
  if (!without_codec_.load(std::memory_order_relaxed) && ImageCodec::knows(data, size)) {
    try {
      const ImageInfo info = CodecPictures::peek(data, size);
      share.by = By::nvimagecodec;
      return info;
    } catch (const Error& e) {                     // the CPU knows more kinds of files, or says what is wrong
      if (e.kind == ErrorKind::device) without_codec_.store(true, std::memory_order_relaxed);
      else if (e.kind != ErrorKind::decode) throw;
    }
  }
  const ImageInfo info = ps::peek(data, size);
  if (cuda_) {
    thread_local jpeg::Header header;
    if (!jpeg::parse(data, size, header) || !CudaJpeg::takes(header, size)) return info;
    if (header.width != info.width || header.height != info.height || header.components != info.channels) return info;
    share.by = By::cuda;
    share.header = new (c.lasting->take(sizeof header)) jpeg::Header(header);
    return info;
  }
  if (jpeg_ && options_.orientation(info) == 1 && takes_jpeg(data, size)) share.by = By::nvjpeg;
  return info;
}

void MixedDecoder::record(Recorder& r, const std::function<Sample(const Context&)>& sample,
                          const Decode& decode) const {
  int64_t possible = 0;                            // bytes of JPEG files: what decoding takes goes by that
  for (int i = 0; i < r.size(); i++)
    if (sample(r[i]).share.by == By::nvjpeg) possible += int64_t(r[i].in(0).bytes());
  // nvJPEG gets the first ones, so that what the CPU decodes lies in one piece as far as possible, and goes over in
  // few copies.
  double left = load_ * double(possible);
  Jpegs jpegs;
  std::vector<CudaJpeg::Item> cuda;
  std::vector<Context> of_cuda;
  std::vector<CodecPictures::Item> others;
  std::vector<Context> rest;
  size_t bytes = 0;
  for (int i = 0; i < r.size(); i++) {
    const Context& c = r[i];
    const Sample s = sample(c);
    const double half = double(c.in(0).bytes()) / 2;
    if (s.share.by == By::cuda) {
      cuda.push_back({c.in(0).as<uint8_t>(), c.in(0).bytes(), s.share.header, options_.orientation(s.info), s.window,
                      c.out(0).as<uint8_t>()});
      of_cuda.push_back(c);
    } else if (s.share.by == By::nvimagecodec) {
      others.push_back({c, s.info, s.window});
    } else if (s.share.by == By::nvjpeg && left >= half) {
      jpegs.contexts.push_back(c);
      jpegs.windows.push_back(s.window);
      left -= 2 * half;
    } else {
      if (s.share.by == By::nvjpeg) left = -1;     // the CPU gets all that follow
      rest.push_back(c);
      bytes += c.out(0).bytes();
    }
  }
  if (!cuda.empty()) record_cuda(r, std::move(cuda), std::move(of_cuda), decode);
  if (!jpegs.contexts.empty())
    r.call_early([this, device = &r.device(), jpegs = std::move(jpegs), decode](CUstream s) {
      decode_jpegs(*device, jpegs, decode, s);
    });
  if (!others.empty())
    r.call_early([this, device = &r.device(), others = std::move(others)](CUstream s) {
      codec_.decode(*device, others, s);
    });
  if (rest.empty()) return;
  auto* at = static_cast<uint8_t*>(r.pinned(bytes));
  for (size_t i = 0; i < rest.size();) {
    uint8_t *from = at, *to = rest[i].out(0).as<uint8_t>();
    do {
      sample(rest[i]).share.host = at;
      at += rest[i].out(0).bytes();
      i++;
    } while (i < rest.size() && rest[i].out(0).data == to + (at - from));
    r.copy_to_device(to, from, size_t(at - from));
  }
}

// In two steps: while the second one of a batch waits to hear which files are for the CPU, the first one of the next
// batch keeps the GPU at work.
void MixedDecoder::record_cuda(Recorder& r, std::vector<CudaJpeg::Item> items, std::vector<Context> contexts,
                               const Decode& decode) const {
  const auto flight = std::make_shared<Flight>();
  r.call_early([this, device = &r.device(), items = std::move(items), flight](CUstream s) {
    *flight = cuda_->start(*device, items, s);
  });
  r.call([this, device = &r.device(), contexts = std::move(contexts), decode, flight](CUstream s) {
    for (const int refused : (*flight)->refused()) decode_refused(*device, contexts[size_t(refused)], decode, s);
  });
}

void MixedDecoder::decode_jpegs(Device& device, const Jpegs& jpegs, const Decode& decode, CUstream stream) const {
  for (const int channels : {3, 1}) {
    std::vector<JpegItem> items;
    std::vector<const Context*> of;
    for (size_t i = 0; i < jpegs.contexts.size(); i++) {
      const Context& c = jpegs.contexts[i];
      const Tensor& out = c.out(0);
      if (out.shape[2] != channels) continue;
      JpegItem item;
      item.data = c.in(0).as<uint8_t>();
      item.size = c.in(0).bytes();
      item.region = jpegs.windows[i];
      item.to[0] = {reinterpret_cast<CUdeviceptr>(out.data), size_t(out.shape[1] * channels)};
      items.push_back(item);
      of.push_back(&c);
    }
    if (items.empty()) continue;
    const JpegOutput output = channels == 1                     ? JpegOutput::gray
                              : options_.type == ImageType::bgr ? JpegOutput::bgr
                                                                : JpegOutput::rgb;
    for (const int refused : jpeg_->decode(items.data(), int(items.size()), output, stream))
      decode_refused(device, *of[size_t(refused)], decode, stream);
  }
}

void MixedDecoder::decode_refused(Device& device, const Context& c, const Decode& decode, CUstream stream) const {
  const size_t bytes = c.out(0).bytes();
  const BufferRef memory = device.pinned()->take(bytes);
  try {
    decode(c, memory->data());
  } catch (const Error& e) {
    throw Error(e.kind, e.what(), c.index);
  }
  check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(c.out(0).data), memory->data(), bytes, stream),
        "cuMemcpyHtoDAsync");
  memory->add_fence(std::make_shared<Event>(&device, stream));
}

}  // namespace ps::gpu
