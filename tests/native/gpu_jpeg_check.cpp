// Checks the batched JPEG decoder on the software GPU, whose nvJPEG is libjpeg behind the host: pixels of whole
// pictures and of regions, in each output and by both backends, against the decoder for CPUs; files that nvJPEG
// refuses; several batches under way; memory that is given back; GPUs without engines.
//
//   gpu_jpeg_check PICTURE.jpg... [--libraries FOLDER]     exit status 0: all is well. FOLDER: of libsoftcuda.so and
//                                                          libsoftnvjpeg.so; else where the build puts them
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "cuda/decode/nvjpeg/batched.h"
#include "cuda/driver/libraries.h"
#include "decode/image.h"
#include "rows/memory_rows.h"

using namespace ps;
using namespace ps::gpu;

namespace {

using Bytes = std::vector<uint8_t>;
int failures = 0;

void expect(bool holds, const std::string& what) {
  if (!holds) std::printf("FAILED: %s\n", what.c_str()), failures++;
}

Bytes read_file(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) std::perror(path), std::exit(2);
  Bytes bytes;
  uint8_t buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
  std::fclose(file);
  return bytes;
}

struct WindowSink : RowSink {
  Bytes pixels;
  size_t row;
  int64_t y0;
  void push(int64_t y, const void* from) override { std::memcpy(&pixels[size_t(y - y0) * row], from, row); }
};

Bytes decode_on_cpu(const Bytes& file, const Window& w, JpegOutput output, bool fancy) {
  DecodeOptions options;
  options.type = output == JpegOutput::bgr    ? ImageType::bgr
                 : output == JpegOutput::gray ? ImageType::gray
                                              : ImageType::rgb;
  options.adjust_orientation = false;
  options.fancy_upsampling = fancy;
  WindowSink sink;
  sink.row = size_t(w.width()) * (output == JpegOutput::gray ? 1 : 3);
  sink.y0 = w.y0;
  sink.pixels.resize(sink.row * size_t(w.height()));
  ImageDecoder().decode(file.data(), file.size(), peek(file.data(), file.size()), options, w, sink);
  return sink.pixels;
}

// A file in pinned memory, and the device memory for what is wanted of it, with a pitch that is not the width.
struct Sample {
  const Bytes& source;
  BufferRef file, pixels;
  JpegItem item;
  Window window;
  size_t row;

  Sample(Device& d, const Bytes& bytes, JpegOutput output, bool part, CUstream stream) : source(bytes) {
    file = d.pinned()->take(bytes.size());
    std::copy(bytes.begin(), bytes.end(), file->data());
    item.data = file->data(), item.size = bytes.size();
    const ImageInfo info = peek(bytes.data(), bytes.size());
    window = {0, 0, info.width, info.height};
    if (part) window = item.region = {info.width / 5, info.height / 3, info.width * 3 / 4, info.height - 7};
    row = size_t(window.width()) * (output == JpegOutput::gray ? 1 : 3);
    const size_t pitch = row + 13;
    pixels = d.memory()->take(pitch * size_t(window.height()), stream);
    item.to[0] = {CUdeviceptr(pixels->data()), pitch};
  }
  Bytes fetch(CUstream stream) const {
    Bytes all(item.to[0].pitch * size_t(window.height())), out;
    check(driver().cuMemcpyDtoHAsync_v2(all.data(), item.to[0].data, all.size(), stream), "cuMemcpyDtoHAsync");
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    for (int64_t y = 0; y < window.height(); y++) {
      const auto begin = all.begin() + long(size_t(y) * item.to[0].pitch);
      out.insert(out.end(), begin, begin + long(row));
    }
    return out;
  }
};

std::vector<JpegItem> items_of(const std::vector<Sample>& samples) {
  std::vector<JpegItem> items;
  for (const Sample& s : samples) items.push_back(s.item);
  return items;
}

BatchedJpeg::Options with(JpegBackend backend, bool fancy = true) {
  BatchedJpeg::Options o;
  o.backend = backend, o.fancy_upsampling = fancy, o.width = 640, o.height = 480;
  return o;
}

void check_pixels(Device* device, const std::vector<Bytes>& files) {
  Stream stream(device, 0);
  for (JpegBackend backend : {JpegBackend::hardware, JpegBackend::hybrid})
    for (bool fancy : {true, false}) {
      BatchedJpeg decoder(device, with(backend, fancy));
      for (JpegOutput output : {JpegOutput::rgb, JpegOutput::bgr, JpegOutput::gray}) {
        std::vector<Sample> samples;
        for (size_t i = 0; i < files.size(); i++) samples.emplace_back(*device, files[i], output, i % 3 == 1, stream);
        const std::vector<JpegItem> items = items_of(samples);
        expect(decoder.decode(items.data(), int(items.size()), output, stream).empty(), "all files are taken");
        for (const Sample& s : samples)
          expect(s.fetch(stream) == decode_on_cpu(s.source, s.window, output, fancy),
                 "pixels of backend " + std::to_string(int(backend)) + ", output " + std::to_string(int(output)));
      }
    }
}

// Files that nvJPEG refuses: their indices are returned, and the others are decoded.
void check_refused(Device* device, const std::vector<Bytes>& files) {
  Stream stream(device, 0);
  Bytes broken = files[0], unlike = files[1], cut = files[0];
  broken.resize(30);
  cut.resize(cut.size() - 2);                      // its header is fine
  for (size_t i = 0; i + 1 < unlike.size(); i++)
    if (unlike[i] == 0xFF && unlike[i + 1] == 0xC0) unlike[i + 1] = 0xC9;   // claims to be arithmetic coding
  BatchedJpeg decoder(device, with(JpegBackend::hardware));
  for (int again = 0; again < 2; again++) {
    std::vector<Sample> samples;
    for (size_t i = 0; i < 5; i++)
      samples.emplace_back(*device, files[i % files.size()], JpegOutput::rgb, i == 4, stream);
    std::vector<JpegItem> items = items_of(samples);
    items[1].size = broken.size(), std::copy(broken.begin(), broken.end(), samples[1].file->data());
    items[3].data = unlike.data(), items[3].size = unlike.size();
    expect(decoder.decode(items.data(), 5, JpegOutput::rgb, stream) == std::vector<int>{1, 3}, "1 and 3 are refused");
    for (size_t i : {0, 2, 4})
      expect(samples[i].fetch(stream) == decode_on_cpu(samples[i].source, samples[i].window, JpegOutput::rgb, true),
             "the others are decoded");
  }
  for (bool late : {false, true}) {                // by its header, or only when it is decoded; in either state
    Sample bad(*device, files[0], JpegOutput::rgb, false, stream);
    Sample good(*device, files[1], JpegOutput::rgb, false, stream);
    bad.item.data = late ? cut.data() : broken.data(), bad.item.size = late ? cut.size() : broken.size();
    for (int k = 0; k < 2; k++)
      expect(decoder.decode(&bad.item, 1, JpegOutput::rgb, stream) == std::vector<int>{0}, "a batch of broken files");
    for (int k = 0; k < 2; k++)
      expect(decoder.decode(&good.item, 1, JpegOutput::rgb, stream).empty(), "a sound file after broken ones");
    const JpegItem mixed[] = {good.item, bad.item, bad.item};
    expect(decoder.decode(mixed, 3, JpegOutput::rgb, stream) == std::vector<int>{1, 2}, "a sound file among others");
    expect(good.fetch(stream) == decode_on_cpu(good.source, good.window, JpegOutput::rgb, true), "is decoded");
  }
  expect(decoder.decode(nullptr, 0, JpegOutput::rgb, stream).empty(), "an empty batch");
}

// Batches one behind the other, of changing sizes, looked at only in the end; then all memory comes back.
void check_flight(Device* device, const std::vector<Bytes>& files) {
  {
    Stream stream(device, 0);
    BatchedJpeg decoder(device, with(JpegBackend::hardware));
    std::vector<std::vector<Sample>> batches;
    for (size_t k = 0; k < 6; k++) {
      std::vector<Sample>& samples = batches.emplace_back();
      for (size_t i = 0; i < 1 + k % 4; i++)
        samples.emplace_back(*device, files[(k + i) % files.size()], JpegOutput::rgb, (k + i) % 2 == 0, stream);
      const std::vector<JpegItem> items = items_of(samples);
      expect(decoder.decode(items.data(), int(items.size()), JpegOutput::rgb, stream).empty(), "all are taken");
    }
    for (const auto& samples : batches)
      for (const Sample& s : samples)
        expect(s.fetch(stream) == decode_on_cpu(s.source, s.window, JpegOutput::rgb, true), "batches under way");
  }
  device->memory()->release_unused();
  device->pinned()->release_unused();
  expect(device->memory()->held() == 0 && device->pinned()->held() == 0, "all memory came back");
}

void check_engines(Device* with_engines, Device* without) {
  const auto engines = BatchedJpeg::engines(with_engines);
  expect(engines.engines == 1 && engines.cores == 4, "the engines that there are");
  setenv("SOFTWARE_GPU_JPEG_ENGINES", "0", 1);
  expect(BatchedJpeg::engines(without).engines == 0, "no engines");
  try {
    BatchedJpeg decoder(without, with(JpegBackend::hardware));
    expect(false, "no engines is an error");
  } catch (const Error& e) {
    expect(e.kind == ErrorKind::device, e.what());
  }
}

}  // namespace

int main(int count, char** words) {
  namespace fs = std::filesystem;
  std::string folder = fs::canonical("/proc/self/exe").parent_path().parent_path() / "software_gpu";
  std::vector<Bytes> files;
  for (int i = 1; i < count; i++) {
    if (!std::strcmp(words[i], "--libraries") && i + 1 < count) folder = words[++i];
    else files.push_back(read_file(words[i]));
    if (!files.empty() && !takes_jpeg(files.back().data(), files.back().size())) files.pop_back();
    if (files.size() == 8) break;
  }
  if (files.size() < 2) return std::fprintf(stderr, "fewer than two pictures that a GPU takes\n"), 2;
  setenv("PENSTOCK_CUDA_DRIVER", (folder + "/libsoftcuda.so").c_str(), 1);
  setenv("SOFTWARE_GPUS", "2", 1);
  setenv("SOFTWARE_GPU_DELAY_US", "200", 1);
  set_library_path("nvjpeg", folder + "/libsoftnvjpeg.so");
  try {
    Device *first = Device::get(0), *second = Device::get(1);
    Current current(*first);
    check_pixels(first, files);
    check_refused(first, files);
    check_flight(first, files);
    check_engines(first, second);
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
    failures++;
  }
  if (failures == 0) std::printf("all is well\n");
  return failures ? 1 : 0;
}
