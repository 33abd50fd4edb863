// Checks what needs no GPU of the decoders that NVIDIA's libraries bring: which files are theirs, what is said where a
// library is missing, and, where nvImageCodec is installed (PENSTOCK_TEST_NVIMGCODEC names its file), that its host
// decoders give a TIFF file's pixels, regions and orientation.
//
//   gpu_decode_check     exit status 0: all is well (arguments are ignored)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "core/error.h"
#include "cuda/decode/nvimgcodec/image_codec.h"
#include "cuda/decode/nvjpeg/batched.h"
#include "cuda/driver/libraries.h"

using namespace ps;

namespace {

using Bytes = std::vector<uint8_t>;
int failures = 0;

void expect(bool holds, const std::string& what) {
  if (!holds) std::printf("FAILED: %s\n", what.c_str()), failures++;
}

using Settings = std::function<void(jpeg_compress_struct&)>;

Bytes make_jpeg(int width, int height, const Settings& settings) {
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
  settings(c);
  jpeg_start_compress(&c, TRUE);
  Bytes row(size_t(width) * 4);
  while (c.next_scanline < c.image_height) {
    for (size_t i = 0; i < row.size(); i++) row[i] = uint8_t(i * 7 + c.next_scanline * 13);
    JSAMPROW p = row.data();
    jpeg_write_scanlines(&c, &p, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  Bytes file(memory, memory + size);
  std::free(memory);
  return file;
}

Settings sampling(int h, int v) {
  return [=](jpeg_compress_struct& c) { c.comp_info[0].h_samp_factor = h, c.comp_info[0].v_samp_factor = v; };
}

bool takes(const Bytes& file) { return gpu::takes_jpeg(file.data(), file.size()); }

void check_jpeg() {
  const auto plain = [](jpeg_compress_struct&) {};
  const auto made = [](const Settings& s) { return make_jpeg(100, 80, s); };
  expect(takes(made(sampling(1, 1))), "4:4:4");
  expect(takes(made(sampling(2, 1))), "4:2:2");
  expect(takes(made(sampling(2, 2))), "4:2:0");
  expect(takes(made(sampling(1, 2))), "4:4:0");
  expect(!takes(made(sampling(4, 1))), "4:1:1 is for the CPU");
  expect(!takes(made(sampling(2, 4))), "so is a luma factor of 4 downwards");
  expect(!takes(made([](auto& c) { c.comp_info[1].h_samp_factor = 2; })), "so are two chroma resolutions");
  expect(takes(made([](auto& c) { jpeg_set_colorspace(&c, JCS_GRAYSCALE); })), "grey");
  expect(takes(made([](auto& c) { c.restart_interval = 3; })), "restart markers");
  expect(takes(made([](auto& c) { c.optimize_coding = TRUE; })), "Huffman tables of its own");
  expect(!takes(made([](auto& c) { jpeg_simple_progression(&c); })), "progressive is for the CPU");
  expect(!takes(made([](auto& c) { c.arith_code = TRUE; })), "so is arithmetic coding");
  expect(!takes(made([](auto& c) { jpeg_set_colorspace(&c, JCS_RGB); })), "so is RGB");
  expect(!takes(made([](auto& c) { c.in_color_space = JCS_CMYK, c.input_components = 4;
                                   jpeg_set_colorspace(&c, JCS_CMYK); })), "so is CMYK");
  expect(!takes(made([](auto& c) { jpeg_set_quality(&c, 1, FALSE); })), "so are numbers of 16 bits to divide by");
  static const jpeg_scan_info scans[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  expect(!takes(made([](auto& c) { c.scan_info = scans, c.num_scans = 3; })), "so is a scan for each component");

  expect(takes(make_jpeg(64, 64, plain)), "64 x 64");
  expect(!takes(make_jpeg(63, 64, plain)) && !takes(make_jpeg(64, 63, plain)), "smaller is for the CPU");
  expect(takes(make_jpeg(16384, 64, plain)), "16384 wide");
  expect(!takes(make_jpeg(16385, 64, plain)), "wider is for the CPU");

  Bytes file = made(plain), more = file;
  more.insert(more.end(), {0xFF, 0, 1, 2, 0xFF});
  expect(takes(more), "bytes behind the end");
  for (size_t cut : {size_t(1), size_t(2), file.size() / 3})
    expect(!takes(Bytes(file.begin(), file.end() - long(cut))), "a file cut off by " + std::to_string(cut));
  for (size_t size = 0; size < file.size(); size++)   // exactly as large, for the sanitizers
    expect(!takes(Bytes(file.begin(), file.begin() + long(size))), "its first " + std::to_string(size) + " bytes");
  expect(!takes(Bytes(1000, 0xFF)) && !takes(Bytes(1000, 0)), "no JPEG at all");
}

void check_formats() {
  const auto knows = [](const std::string& s) {
    return gpu::ImageCodec::knows(reinterpret_cast<const uint8_t*>(s.data()), s.size());
  };
  using namespace std::string_literals;
  expect(knows("\0\0\0\x0CjP  \r\n\x87\n\0\0"s), "JP2");
  expect(!knows("\0\0\0\x0CjP  \r\n\x87"s), "JP2 cut off");
  expect(knows("\xFF\x4F\xFF\x51..."s), "a JPEG 2000 code stream");
  for (const auto& start : {"II*\0"s, "MM\0*"s, "II+\0"s, "MM\0+"s}) expect(knows(start + "...."), "TIFF");
  expect(!knows("II*"s) && !knows(""s) && !knows("\x89PNG\r\n\x1A\n"s), "others");
  const auto jpeg = [](char frame) {
    return "\xFF\xD8\xFF\xE0\0\4ab\xFF\xFF"s + frame + "\0\x0B\x10\1\0\1\0\1\1\0\0"s;
  };
  expect(knows(jpeg('\xC3')), "lossless JPEG");
  expect(!knows(jpeg('\xC0')) && !knows(jpeg('\xC2')), "other JPEG");
  const Bytes file = make_jpeg(70, 70, [](auto&) {});
  expect(!gpu::ImageCodec::knows(file.data(), file.size()), "libjpeg's JPEG");
  for (size_t n = 0; n < 14; n++) expect(knows(jpeg('\xC3').substr(0, n)) == (n == 13), "lossless, first bytes");
}

// What an Error says, or nothing.
std::string error_of(ErrorKind kind, const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.kind == kind ? e.what() : "";
  }
  return "";
}

void check_libraries() {
  const auto open = [] { return gpu::open_library("check", "Check", {"libpenstock-nowhere.so.7"}); };
  std::string text = error_of(ErrorKind::device, open);
  for (const char* part : {"Check was not found", "pip install penstock[cuda13]", "libpenstock-nowhere.so.7"})
    expect(text.find(part) != std::string::npos, std::string("the error tells '") + part + "': " + text);
  gpu::set_library_path("check", "/nowhere/libcheck.so");
  text = error_of(ErrorKind::device, open);
  for (const char* part : {"/nowhere/libcheck.so", "libpenstock-nowhere.so.7"})
    expect(text.find(part) != std::string::npos, std::string("the error tells of both places: ") + text);
  gpu::set_library_path("check", "libm.so.6");
  void* library = open();
  double (*cosine)(double) = nullptr;
  gpu::find_function(library, "Check", "cos", cosine);
  expect(cosine(0) == 1, "a function of a library whose path was set");
  text = error_of(ErrorKind::device, [&] { gpu::find_function(library, "Check", "no_such_function"); });
  expect(text.find("too old, it has no no_such_function") != std::string::npos, "a function that is missing: " + text);
}

// A TIFF file as simple as can be: 16 or 8 bits, RGB, one strip, least significant byte first.
Bytes make_tiff(int width, int height, int bits, int orientation, const Bytes& pixels) {
  Bytes f = {'I', 'I', 42, 0, 8, 0, 0, 0};
  const auto u16 = [&](int v) { f.push_back(uint8_t(v)), f.push_back(uint8_t(v >> 8)); };
  const auto u32 = [&](int v) { u16(v & 0xFFFF), u16(v >> 16); };
  const auto tag = [&](int number, int type, int count, int value) { u16(number), u16(type), u32(count), u32(value); };
  constexpr int tags = 11, data = 8 + 2 + tags * 12 + 4;
  u16(tags);
  tag(256, 3, 1, width), tag(257, 3, 1, height), tag(258, 3, 3, data), tag(259, 3, 1, 1), tag(262, 3, 1, 2);
  tag(273, 4, 1, data + 6), tag(274, 3, 1, orientation), tag(277, 3, 1, 3), tag(278, 3, 1, height);
  tag(279, 4, 1, int(pixels.size())), tag(284, 3, 1, 1);
  u32(0);
  for (int i = 0; i < 3; i++) u16(bits);
  f.insert(f.end(), pixels.begin(), pixels.end());
  return f;
}

void check_tiff() {
  if (const char* path = std::getenv("PENSTOCK_TEST_NVIMGCODEC")) gpu::set_library_path("nvimgcodec", path);
  constexpr int width = 50, height = 37;
  for (int bits : {8, 16}) {
    const size_t pixel = size_t(bits) / 8 * 3;
    Bytes pixels(size_t(width * height) * pixel);
    for (size_t i = 0; i < pixels.size(); i++) pixels[i] = uint8_t(i * i * 31 >> 5);
    for (int orientation = 1; orientation <= 8; orientation++) {
      const Bytes file = make_tiff(width, height, bits, orientation, pixels);
      expect(gpu::ImageCodec::knows(file.data(), file.size()), "a TIFF file");
      gpu::CodecItem item;
      const std::string missing =
          error_of(ErrorKind::device, [&] { item.info = gpu::ImageCodec::peek(file.data(), file.size()); });
      if (!missing.empty()) {
        expect(missing.find("pip install") != std::string::npos, "what brings nvImageCodec: " + missing);
        std::printf("nvImageCodec is not here: its host decoders were not tried\n");
        return;
      }
      const gpu::CodecInfo& i = item.info;
      expect(i.format == "tiff" && i.width == width && i.height == height && i.channels == 3 && i.bits == bits &&
             i.dtype == (bits == 8 ? DType::u8 : DType::u16), "what TIFF is: " + i.format);
      expect(i.orientation == orientation, "orientation " + std::to_string(orientation) + ", not " +
             std::to_string(i.orientation));
      gpu::ImageCodec codec(nullptr, 1);
      for (const Window& w : {Window{0, 0, width, height}, Window{5, 7, 29, 30}}) {
        const size_t bytes = pixel * size_t(w.width());
        Bytes out(bytes * size_t(w.height()));
        item.data = file.data(), item.size = file.size(), item.region = w, item.to = out.data(), item.pitch = bytes;
        const auto failed = codec.decode(&item, 1, ImageType::rgb, nullptr);
        expect(failed.empty(), failed.empty() ? "" : failed[0].why);
        bool same = true;
        for (int64_t y = w.y0; y < w.y1; y++)
          same &= !std::memcmp(&out[size_t(y - w.y0) * bytes], &pixels[size_t(y * width + w.x0) * pixel], bytes);
        expect(same, "a TIFF file's pixels");
      }
    }
  }
  const Bytes broken = {'I', 'I', 42, 0, 8, 0, 0, 0, 1};
  expect(!error_of(ErrorKind::decode, [&] { gpu::ImageCodec::peek(broken.data(), broken.size()); }).empty(),
         "a broken TIFF file is an error");
}

}  // namespace

int main() {
  check_jpeg();
  check_formats();
  check_libraries();
  check_tiff();
  std::printf(failures ? "%d failures\n" : "all is well\n", failures);
  return failures ? 1 : 0;
}
