// What nvJPEG does on the GPU that is here: its engines, how fast it decodes batches whole and in part, what a call
// costs the host, and how far its pixels are from the CPU decoder's.
//
//   nvjpeg_probe FOLDER|PICTURE.jpg... [--batch N] [--rounds N] [--device N] [--nvjpeg libnvjpeg.so.13]
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "core/error.h"
#include "cuda/driver/libraries.h"
#include "gpu_pictures.h"

using namespace ps;
using namespace ps::gpu;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A window of 0.08 to 1 of the area, aspect ratio 3/4 to 4/3: what training asks for.
Window random_window(int width, int height, std::mt19937& random) {
  std::uniform_real_distribution<double> area(0.08, 1.0), log_ratio(std::log(0.75), std::log(4.0 / 3.0)), place(0, 1);
  for (;;) {
    const double a = area(random) * width * height, ratio = std::exp(log_ratio(random));
    const int w = int(std::lround(std::sqrt(a * ratio))), h = int(std::lround(std::sqrt(a / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    const int x = int(place(random) * (width - w + 1)), y = int(place(random) * (height - h + 1));
    return {x, y, x + w, y + h};
  }
}

struct Case {
  JpegBackend backend;
  JpegOutput output;
  bool fancy, regions;
  int batches;
};

struct Probe {
  Device* device;
  std::vector<bench::Picture> pictures;
  size_t batch;
  int rounds;
  Stream stream;
  CUevent before = nullptr, after = nullptr;

  Probe(Device* d, size_t b, int r) : device(d), batch(b), rounds(r), stream(d, 0) {
    check(driver().cuEventCreate(&before, 0), "cuEventCreate");
    check(driver().cuEventCreate(&after, 0), "cuEventCreate");
  }

  // Batch number `k` of the files, again from the start after the last one.
  std::vector<JpegItem> items(size_t k) const {
    std::vector<JpegItem> all;
    for (size_t i = 0; i < batch; i++) all.push_back(pictures[(k * batch + i) % pictures.size()].item);
    return all;
  }

  void aim(const Case& c) {
    std::mt19937 random(1);
    for (bench::Picture& p : pictures) {
      const Window w = random_window(p.width, p.height, random);
      p.aim(*device, c.regions ? &w : nullptr, c.output == JpegOutput::planes);
    }
  }

  void run(const Case& c) {
    aim(c);
    const double start = now();
    BatchedJpeg::Options options;
    options.backend = c.backend;
    options.fancy_upsampling = c.fancy;
    options.width = 640, options.height = 480;
    options.batches = c.batches;
    options.host_threads = 4;
    BatchedJpeg decoder(device, options);
    const double made = now();
    size_t refused = 0;
    const auto decode = [&](size_t k) {
      const std::vector<JpegItem> all = items(k);
      const double begin = now();
      refused += decoder.decode(all.data(), int(all.size()), c.output, stream).size();
      return now() - begin;
    };
    const double first = decode(0) + (check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize"), 0);
    for (size_t k = 1; k < 4; k++) decode(k);
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");

    double alone = 0, gpu = 0;                     // each call with nothing under way
    for (int k = 0; k < rounds; k++) {
      check(driver().cuEventRecord(before, stream), "cuEventRecord");
      alone += decode(size_t(k));
      check(driver().cuEventRecord(after, stream), "cuEventRecord");
      check(driver().cuEventSynchronize(after), "cuEventSynchronize");
      float ms = 0;
      check(driver().cuEventElapsedTime(&ms, before, after), "cuEventElapsedTime");
      gpu += ms / 1e3;
    }
    double busy = 0;                               // one call after the other
    const double begin = now();
    for (int k = 0; k < rounds; k++) busy += decode(size_t(k));
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    const double wall = now() - begin, n = rounds;
    const char* outputs[] = {"RGB", "BGR", "gray", "planes"};
    std::printf("%-8s %-6s %-8s %-7s %2d | %8.0f pictures/s | call %7.2f ms alone, %7.2f in a row | GPU %7.2f ms | "
                "make %4.0f ms, first %4.0f ms | refused %zu\n",
                c.backend == JpegBackend::hardware ? "hardware" : "hybrid", outputs[int(c.output)],
                c.fancy ? "fancy" : "nearest", c.regions ? "regions" : "whole", c.batches, n * double(batch) / wall,
                alone / n * 1e3, busy / n * 1e3, gpu / n * 1e3, (made - start) * 1e3, first * 1e3, refused);
    std::fflush(stdout);
    if (c.output == JpegOutput::rgb) compare(c, decoder);
  }

  // The first 32 pictures against the decoder for CPUs, with either kind of chroma.
  void compare(const Case& c, BatchedJpeg& decoder) {
    const std::vector<JpegItem> all = items(0);
    decoder.decode(all.data(), int(all.size()), c.output, stream);
    bench::Difference fancy, nearest;
    for (size_t i = 0; i < std::min<size_t>({32, batch, pictures.size()}); i++) {
      const bench::Picture& p = pictures[i];
      const bench::Bytes ours = p.fetch(stream);
      for (bool kind : {true, false}) {
        const bench::Bytes cpu = bench::decode_on_cpu(p.item.data, p.item.size, p.window, kind);
        (kind ? fancy : nearest).add(ours.data(), cpu.data(), cpu.size());
      }
    }
    std::printf("         against the CPU, fancy: %s; nearest: %s\n", fancy.text().c_str(), nearest.text().c_str());
    std::fflush(stdout);
  }
};

int probe(int count, char** words) {
  std::vector<std::string> places;
  size_t batch = 256;
  int rounds = 40, number = 0;
  for (int i = 1; i < count; i++) {
    const auto value = [&](const char* option) { return !std::strcmp(words[i], option) && i + 1 < count; };
    if (value("--batch")) batch = size_t(std::atoi(words[++i]));
    else if (value("--rounds")) rounds = std::atoi(words[++i]);
    else if (value("--device")) number = std::atoi(words[++i]);
    else if (value("--nvjpeg")) set_library_path("nvjpeg", words[++i]);
    else places.push_back(words[i]);
  }
  Device* device = Device::get(number);
  Current current(*device);
  int version[3] = {};
  for (int i = 0; i < 3; i++) nvjpeg().nvjpegGetProperty(i, &version[i]);
  const BatchedJpeg::Engines engines = BatchedJpeg::engines(device);
  std::printf("%s (sm_%d), nvJPEG %d.%d.%d, %u engines of %u cores\n", device->name().c_str(), device->arch(),
              version[0], version[1], version[2], engines.engines, engines.cores);

  Probe p(device, batch, rounds);
  size_t left_out = 0, bytes = 0;
  double checks = 0, pixels = 0;
  for (const std::string& path : bench::find_pictures(places)) {
    const bench::Bytes file = bench::read_file(path);
    const double start = now();
    const bool takes = takes_jpeg(file.data(), file.size());
    checks += now() - start;
    if (!takes) {
      left_out++;
      continue;
    }
    p.pictures.emplace_back(*device, file);
    bytes += file.size(), pixels += double(p.pictures.back().width) * p.pictures.back().height;
  }
  const size_t n = p.pictures.size();
  if (n == 0) return std::fprintf(stderr, "no picture that the GPU could decode\n"), 2;
  std::printf("%zu pictures (%.0f KB, %.2f megapixels on average), %zu more are for the CPU; "
              "takes_jpeg(): %.2f us each\n", n, double(bytes) / double(n) / 1e3, pixels / double(n) / 1e6, left_out,
              checks / double(n + left_out) * 1e6);
  std::printf("batches of %zu; the column of small numbers: batches under way\n", batch);
  std::vector<Case> cases;
  if (engines.engines) {
    for (int batches : {1, 2, 3}) cases.push_back({JpegBackend::hardware, JpegOutput::rgb, true, false, batches});
    cases.push_back({JpegBackend::hardware, JpegOutput::rgb, false, false, 2});
    for (int batches : {2, 3}) cases.push_back({JpegBackend::hardware, JpegOutput::rgb, true, true, batches});
    cases.push_back({JpegBackend::hardware, JpegOutput::planes, true, false, 2});
  }
  for (int batches : {1, 2}) cases.push_back({JpegBackend::hybrid, JpegOutput::rgb, true, false, batches});
  cases.push_back({JpegBackend::hybrid, JpegOutput::rgb, false, false, 2});
  cases.push_back({JpegBackend::hybrid, JpegOutput::rgb, true, true, 2});
  for (const Case& c : cases) {
    try {
      p.run(c);
    } catch (const Error& e) {
      std::printf("%s: %s\n", c.backend == JpegBackend::hardware ? "hardware" : "hybrid", e.what());
    }
  }
  std::printf("held at the end: %.0f MB of the device, %.0f MB pinned\n", double(device->memory()->held()) / 1e6,
              double(device->pinned()->held()) / 1e6);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return probe(count, words);
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
