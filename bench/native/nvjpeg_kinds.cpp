// Which kinds of JPEG files nvJPEG takes on the GPU that is here, beside what takes_jpeg() says of them, and how far
// its pixels are from the CPU decoder's: samplings, sizes, markers, damage. Kinds that takes_jpeg() refuses come last.
//
//   nvjpeg_kinds PICTURE.jpg [--device N] [--nvjpeg libnvjpeg.so.13]
#include <cstdio>
#include <cstring>
#include <functional>

#include <jpeglib.h>

#include "core/error.h"
#include "cuda/driver/libraries.h"
#include "gpu_pictures.h"

using namespace ps;
using namespace ps::gpu;
using bench::Bytes;

namespace {

using Settings = std::function<void(jpeg_compress_struct&)>;

struct Source {
  int width, height;
  Bytes pixels;
};

// The source's pixels, repeated where the file is larger.
Bytes make_jpeg(const Source& source, int width, int height, const Settings& settings) {
  jpeg_compress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_compress(&c);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &memory, &size);
  c.image_width = JDIMENSION(width);
  c.image_height = JDIMENSION(height);
  c.input_components = 3;
  c.in_color_space = JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 90, TRUE);
  settings(c);
  jpeg_start_compress(&c, TRUE);
  Bytes row(size_t(width) * 3);
  while (c.next_scanline < c.image_height) {
    const size_t y = c.next_scanline % size_t(source.height);
    for (size_t x = 0; x < size_t(width); x++)
      std::copy_n(&source.pixels[(y * size_t(source.width) + x % size_t(source.width)) * 3], 3, &row[x * 3]);
    JSAMPROW p = row.data();
    jpeg_write_scanlines(&c, &p, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  Bytes file(memory, memory + size);
  std::free(memory);
  return file;
}

struct Kind {
  std::string name;
  Bytes file;
};

std::vector<Kind> kinds(const Source& source) {
  std::vector<Kind> all;
  const auto sampling = [](int h, int v) {
    return [=](jpeg_compress_struct& c) { c.comp_info[0].h_samp_factor = h, c.comp_info[0].v_samp_factor = v; };
  };
  const auto add = [&](const std::string& name, int w, int h, const Settings& s) {
    all.push_back({name, make_jpeg(source, w, h, s)});
  };
  const int w = 500, h = 375;
  add("4:4:4", w, h, sampling(1, 1)), add("4:2:2", w, h, sampling(2, 1)), add("4:2:0", w, h, sampling(2, 2));
  add("4:4:0", w, h, sampling(1, 2)), add("4:1:1", w, h, sampling(4, 1)), add("4:1:0", w, h, sampling(4, 2));
  add("grey", w, h, [](auto& c) { jpeg_set_colorspace(&c, JCS_GRAYSCALE); });
  add("restart markers", w, h, [](auto& c) { c.restart_interval = 7; });
  add("own Huffman tables", w, h, [](auto& c) { c.optimize_coding = TRUE; });
  add("RGB", w, h, [](auto& c) { jpeg_set_colorspace(&c, JCS_RGB); });
  add("progressive", w, h, [](auto& c) { jpeg_simple_progression(&c); });
  add("divisors of 16 bits", w, h, [](auto& c) { jpeg_set_quality(&c, 2, FALSE); });
  for (int size : {1, 8, 16, 17, 32, 47, 48, 63, 64, 65, 127, 128, 129})
    for (bool half : {false, true})
      add(std::to_string(size) + " x " + std::to_string(size) + (half ? " 4:2:0" : " 4:4:4"), size, size,
          half ? sampling(2, 2) : sampling(1, 1));
  for (int size : {4096, 8192, 16384, 20000, 32768})
    add(std::to_string(size) + " x 80", size, 80, sampling(2, 2)),
        add("80 x " + std::to_string(size), 80, size, sampling(2, 2));
  Bytes file = all[2].file;
  file.insert(file.end(), 1000, 0x55);
  all.push_back({"bytes behind the end", file});
  file.resize(file.size() - 1002);
  all.push_back({"no end marker", file});
  file.resize(file.size() * 2 / 3);
  all.push_back({"cut off at two thirds", file});
  file = all[2].file;
  for (size_t i = 0; i < 40; i++) file[file.size() / 2 + i] = uint8_t(i * 77);
  all.push_back({"damaged in the middle", file});
  return all;
}

void try_kind(const Kind& kind, Device* device, BatchedJpeg& decoder, CUstream stream) {
  const bool ours = takes_jpeg(kind.file.data(), kind.file.size());
  std::string result;
  try {
    bench::Picture p(*device, kind.file);
    p.aim(*device, nullptr, false);
    check(driver().cuMemsetD8Async(p.item.to[0].data, 0, p.pixel_bytes(), stream), "cuMemsetD8Async");
    if (!decoder.decode(&p.item, 1, JpegOutput::rgb, stream).empty()) {
      result = "refused";
    } else {
      const Bytes pixels = p.fetch(stream);
      result = "decodes it; the CPU: ";              // if that is an error
      const Bytes cpu = bench::decode_on_cpu(p.item.data, p.item.size, p.window, true);
      bench::Difference d;
      d.add(pixels.data(), cpu.data(), cpu.size());
      result = d.text();
    }
  } catch (const Error& e) {
    result += e.what();
  }
  std::printf("%-24s takes_jpeg() %-4s nvJPEG: %s\n", kind.name.c_str(), ours ? "yes" : "no", result.c_str());
  std::fflush(stdout);
}

int probe(int count, char** words) {
  std::string path;
  int number = 0;
  for (int i = 1; i < count; i++) {
    if (!std::strcmp(words[i], "--device") && i + 1 < count) number = std::atoi(words[++i]);
    else if (!std::strcmp(words[i], "--nvjpeg") && i + 1 < count) set_library_path("nvjpeg", words[++i]);
    else path = words[i];
  }
  if (path.empty()) return std::fprintf(stderr, "usage: nvjpeg_kinds PICTURE.jpg [--device N] [--nvjpeg FILE]\n"), 2;
  const Bytes file = bench::read_file(path);
  const ImageInfo info = peek(file.data(), file.size());
  const Window whole{0, 0, info.width, info.height};
  const Source source{int(info.width), int(info.height), bench::decode_on_cpu(file.data(), file.size(), whole, true)};
  std::vector<Kind> all = kinds(source);
  std::stable_partition(all.begin(), all.end(), [](const Kind& k) { return takes_jpeg(k.file.data(), k.file.size()); });
  Device* device = Device::get(number);
  Current current(*device);
  Stream stream(device, 0);
  for (JpegBackend backend : {JpegBackend::hardware, JpegBackend::hybrid}) {
    const bool hardware = backend == JpegBackend::hardware;
    std::printf("%s, chroma interpolated\n", hardware ? "hardware" : "hybrid");
    if (hardware && !BatchedJpeg::engines(device).engines) continue;
    BatchedJpeg::Options options;
    options.backend = backend;
    BatchedJpeg decoder(device, options);
    for (const Kind& kind : all) try_kind(kind, device, decoder, stream);
  }
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
