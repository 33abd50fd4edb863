#include "cuda/decode/mixed.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "decode/jpeg/index_file.h"

namespace ps::gpu {

MixedOptions::MixedOptions(const Spec& s)
    : device_id(s.device_id), engine(s.string("jpeg_engine")), load(std::clamp(s.number("hw_decoder_load"), 0.0, 1.0)) {
  jpeg.fancy_upsampling = s.flag("jpeg_fancy_upsampling");
  jpeg.width = int(s.integer("preallocate_width_hint"));
  jpeg.height = int(s.integer("preallocate_height_hint"));
  jpeg.device_padding = size_t(s.integer("device_memory_padding"));
  jpeg.pinned_padding = size_t(s.integer("host_memory_padding"));
}

MixedDecoder::MixedDecoder(const MixedOptions& mixed, const DecodeOptions& options)
    : options_(options), load_(mixed.load), codec_(options) {
  if (mixed.engine == "cuda") cuda_ = std::make_unique<CudaJpeg>(*Device::get(mixed.device_id), options);
  if (mixed.engine == "hardware") jpeg_ = SharedJpeg::of(mixed.device_id, mixed.jpeg);
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
    const auto take = [&](size_t bytes) { return c.lasting->take(bytes); };
    if (header.progressive) {
      jpeg::ScanList scans;
      if (!jpeg::list_scans(data, size, header, take, scans) || !CudaJpeg::takes(header, scans)) return info;
      share.scans = new (take(sizeof scans)) jpeg::ScanList(scans);
    }
    share.by = By::cuda;
    share.header = new (take(sizeof header)) jpeg::Header(header);
    if (jpeg::ScanIndex index; options_.jpeg_index && options_.jpeg_index->find(data, size, header, take, index))
      share.index = new (c.lasting->take(sizeof index)) jpeg::ScanIndex(index);
    return info;
  }
  if (jpeg_ && options_.orientation(info) == 1 && takes_jpeg(data, size)) share.by = By::nvjpeg;
  return info;
}

std::vector<DecodedSample> MixedDecoder::samples(const Recorder& r, const SampleOf& sample) const {
  std::vector<DecodedSample> all(static_cast<size_t>(r.size()));
  for (int i = 0; cuda_ && load_ > 0 && options_.dtype == DType::u8 && i < r.size(); i++) {
    const Sample s = sample(r[i]);
    all[size_t(i)] = {s.share.by == By::cuda, Orientation(options_.orientation(s.info)).swap, {}};
  }
  return all;
}

void MixedDecoder::record(Recorder& r, const SampleOf& sample, const DecodeOnCpu& decode,
                          const DecodedInput* input) const {
  const auto views = input ? std::make_shared<DecodedViews>(r, *input) : nullptr;
  const By engine = cuda_ ? By::cuda : By::nvjpeg;
  int64_t possible = 0;                            // bytes of JPEG files, a measure of the work of decoding
  for (int i = 0; i < r.size(); i++)
    if (sample(r[i]).share.by == engine) possible += int64_t(r[i].in(0).bytes());
  // The GPU gets the first ones, so that what the CPU decodes lies in one piece as far as possible, and goes over in
  // few copies.
  double left = load_ * double(possible);
  Jpegs jpegs;
  std::vector<CudaJpeg::Item> cuda;
  std::vector<Context> of_cuda;
  std::vector<CodecPictures::Item> others;
  std::vector<Context> rest;
  size_t bytes = 0, files = 0;                     // of the rest: pictures and files
  for (int i = 0; i < r.size(); i++) {
    const Context& c = views ? views->context(i) : r[i];
    const Sample s = sample(c);
    const bool jpeg = s.share.by == engine;
    const double size = double(c.in(0).bytes());
    if (s.share.by == By::nvimagecodec) {
      others.push_back({c, s.info, s.window});
    } else if (!jpeg || left < size / 2) {
      if (jpeg) left = -1;                         // the CPU gets all that follow
      rest.push_back(c);
      bytes += c.out(0).bytes();
      files += c.in(0).bytes();
    } else {
      left -= size;
      if (cuda_) {
        cuda.push_back({c.in(0).as<uint8_t>(), c.in(0).bytes(), s.share.header, s.share.index, s.share.scans,
                        options_.orientation(s.info), s.window, c.out(0).data});
        if (views) cuda.back().planes = input->samples[size_t(i)].planes;
        of_cuda.push_back(c);
      } else {
        jpegs.contexts.push_back(c);
        jpegs.windows.push_back(s.window);
      }
    }
  }
  if (views) {
    views->give_memory(r, of_cuda, cuda_->room(cuda));
    for (size_t k = 0; k < cuda.size(); k++) cuda[k].to = of_cuda[k].out(0).as<uint8_t>();
  }
  if (!cuda.empty()) record_cuda(r, std::move(cuda), std::move(of_cuda), decode, views);
  if (!jpegs.contexts.empty())
    r.call_ahead([this, device = &r.device(), jpegs = std::move(jpegs), decode](CUstream s) {
      decode_jpegs(*device, jpegs, decode, s);
    });
  if (!others.empty())
    r.call_ahead([this, device = &r.device(), others = std::move(others), decode](CUstream s) {
      decode_others(*device, others, decode, s);
    });
  if (views) r.call([views](CUstream s) { views->copy(s); });
  if (rest.empty()) return;
  r.call([this, n = rest.size(), files](CUstream) { counts_.add(By::cpu, int64_t(n), files); });
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

// In two steps: while the second one of a batch waits until it is known which files the CPU has to decode, the first
// one of the next batch keeps the GPU busy.
void MixedDecoder::record_cuda(Recorder& r, std::vector<CudaJpeg::Item> items, std::vector<Context> contexts,
                               const DecodeOnCpu& decode, const std::shared_ptr<DecodedViews>& views) const {
  const auto flight = std::make_shared<Flight>();
  const auto pictures = views ? views->pictures() : nullptr;
  r.call_ahead([this, device = &r.device(), items = std::move(items), blocks = r.file_blocks(), flight,
                pictures](CUstream s) { *flight = cuda_->start(*device, items, blocks, s, pictures); });
  r.call([this, &r, device = &r.device(), contexts = std::move(contexts), decode, flight, views](CUstream s) {
    const std::vector<int>& refused = (*flight)->finish(s);
    if (views) views->set_planes(r, (*flight)->order(), refused);
    finish(By::cuda, *device, contexts, refused, decode, s);
    counts_.indexed += (*flight)->indexed();
  });
}

void MixedDecoder::decode_jpegs(Device& device, const Jpegs& jpegs, const DecodeOnCpu& decode, CUstream stream) const {
  for (const int channels : {3, 1}) {
    std::vector<JpegItem> items;
    std::vector<Context> given;
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
      given.push_back(c);
    }
    if (items.empty()) continue;
    const JpegOutput output = channels == 1                     ? JpegOutput::gray
                              : options_.type == ImageType::bgr ? JpegOutput::bgr
                                                                : JpegOutput::rgb;
    finish(By::nvjpeg, device, given, jpeg_->decode(items.data(), int(items.size()), output, stream), decode, stream);
  }
}

// The CPU may know a kind of file that nvImageCodec does not; where it has no decoder, nvImageCodec's error is raised.
void MixedDecoder::decode_others(Device& device, const std::vector<CodecPictures::Item>& items,
                                 const DecodeOnCpu& decode, CUstream stream) const {
  std::vector<Context> given, left;
  std::map<int, std::string> why;
  for (const CodecPictures::Item& i : items) given.push_back(i.context);
  for (CodecPictures::Failure& f : codec_.decode(device, items, stream)) {
    why[f.context.index] = std::move(f.why);
    left.push_back(f.context);
  }
  count(By::nvimagecodec, given, left);
  decode_refused(device, left, [&](const Context& c, uint8_t* to) {
    try {
      decode(c, to);
    } catch (const Error& e) {
      if (e.kind == ErrorKind::decode) throw;
      fail(ErrorKind::decode, why.at(c.index));
    }
  }, stream);
}

void MixedDecoder::finish(By engine, Device& device, const std::vector<Context>& given, const std::vector<int>& refused,
                          const DecodeOnCpu& decode, CUstream stream) const {
  std::vector<Context> left;
  for (const int i : refused) left.push_back(given[size_t(i)]);
  count(engine, given, left);
  decode_refused(device, left, decode, stream);
}

void MixedDecoder::count(By engine, const std::vector<Context>& given, const std::vector<Context>& refused) const {
  const auto bytes = [](const std::vector<Context>& files) {
    size_t sum = 0;
    for (const Context& c : files) sum += c.in(0).bytes();
    return sum;
  };
  counts_.add(engine, int64_t(given.size() - refused.size()), bytes(given) - bytes(refused));
  counts_.add(By::cpu, int64_t(refused.size()), bytes(refused));
  counts_.refused += int64_t(refused.size());
}

}  // namespace ps::gpu
