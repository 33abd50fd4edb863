// Thousands of JPEG files of all kinds that libjpeg writes, with checksums of what libjpeg makes of each: for
// tests/gpu/test_jpeg_corpus.py. On the way the CPU's decoder has to give the same pixels.
//
//   jpeg_corpus [PICTURE.jpg...] [--output FILE] [--pictures N] [--seed N]     exit status 0: all equal
//
// In FILE, for each of them, little endian: uint32 bytes of its name, bytes of the JPEG, width, height; then CRC-32 of
// the pixels as RGB, as RGB with chroma repeated, and of the luma; name; JPEG.
#include <cmath>
#include <cstring>

#include <zlib.h>

#include "decode/jpeg/decoder.h"
#include "jpeg_files.h"

namespace {

using ps::jpeg::Color;

// As photographs have it: light that changes slowly, detail of all sizes, hard edges, grain.
Picture scene(int width, int height) {
  Picture p{width, height, 3, {}};
  std::vector<float> values(size_t(width) * size_t(height) * 3, 128.f);
  float strength = 60;
  for (int cell = std::max({width, height, 16}); cell >= 2; cell /= 3, strength *= 0.6f) {
    const int across = width / cell + 2, down = height / cell + 2;
    std::vector<float> lattice(size_t(across) * size_t(down) * 3);
    for (float& v : lattice) v = strength * (float(uniform(-1000, 1000)) / 1000);
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        const float fx = float(x % cell) / float(cell), fy = float(y % cell) / float(cell);
        const float* a = &lattice[size_t((y / cell * across + x / cell) * 3)];
        const float* b = a + across * 3;
        float* to = &values[size_t((y * width + x) * 3)];
        for (int c = 0; c < 3; c++)
          to[c] += (a[c] * (1 - fx) + a[c + 3] * fx) * (1 - fy) + (b[c] * (1 - fx) + b[c + 3] * fx) * fy;
      }
  }
  for (int shapes = 30; shapes-- > 0;) {
    const ps::Window w = random_window(width, height);
    const float light = float(uniform(-70, 70)), tint[3] = {1.f, float(uniform(-9, 9)) / 9, float(uniform(-9, 9)) / 9};
    const int slope = uniform(-3, 3);              // a parallelogram
    for (int64_t y = w.y0; y < std::min(w.y1, w.y0 + w.width()); y++)
      for (int64_t x = w.x0; x < w.x1; x++)
        if (const int64_t at = x + slope * (y - w.y0) / 2; at >= 0 && at < width)
          for (int c = 0; c < 3; c++) values[size_t((y * width + at) * 3 + c)] += light * tint[c];
  }
  const int grain = uniform(0, 12);
  for (const float v : values)
    p.pixels.push_back(uint8_t(std::clamp(int(std::lround(v)) + uniform(-grain, grain), 0, 255)));
  return p;
}

Picture cut(const Picture& source, int width, int height) {
  Picture p{width, height, 3, {}};
  const int x0 = uniform(0, source.width - width), y0 = uniform(0, source.height - height);
  for (int y = 0; y < height; y++) {
    const auto row = source.pixels.begin() + ((y0 + y) * source.width + x0) * 3;
    p.pixels.insert(p.pixels.end(), row, row + width * 3);
  }
  return p;
}

// Sides of a file's picture: mostly small ones, for many are to be tried.
int random_side() {
  const int kind = uniform(0, 99);
  return kind < 12 ? uniform(1, 20) : kind < 85 ? uniform(16, 200) : uniform(100, 500);
}

Picture random_picture(const std::vector<Picture>& scenes, int number) {
  if (number % 700 == 650) {                       // few are large
    constexpr int sides[4][2] = {{2600, 1900}, {5003, 130}, {41, 6007}, {1201, 1703}};
    const auto [width, height] = sides[number / 700 % 4];
    return scene(width, height);
  }
  const int content = uniform(0, 19);
  const bool larger = uniform(0, 99) == 0;
  const int width = larger ? uniform(300, 700) : random_side(),
            height = larger ? uniform(300, 700) : random_side();
  const Picture& source = scenes[size_t(uniform(0, int(scenes.size()) - 1))];
  Picture p = cut(source, std::min(width, source.width), std::min(height, source.height));
  if (content == 0)
    for (uint8_t& v : p.pixels) v = uint8_t(uniform(0, 255));
  if (content == 1 || content == 2) {              // of one colour: all blocks are alike, whatever bit one begins at
    for (size_t i = 3; i < p.pixels.size(); i++) p.pixels[i] = p.pixels[i % 3];
    if (content == 2) p.pixels[size_t(uniform(0, int(p.pixels.size()) - 1))] ^= 0x80;
  }
  if (content == 3)                                // extreme values, hard edges
    for (uint8_t& v : p.pixels) v = v < 128 ? 0 : 255;
  return p;
}

void make_gray(Picture& p) {
  for (size_t i = 0; i < p.pixels.size() / 3; i++) p.pixels[i] = p.pixels[i * 3 + 1];
  p.pixels.resize(p.pixels.size() / 3);
  p.channels = 1;
}

// Any factors that the standard and libjpeg allow: of the three components one may be as large as it likes.
void set_odd_sampling(Encoding& e) {
  const auto divides = [](int max, int a, int b, int c) { return max % a == 0 && max % b == 0 && max % c == 0; };
  do {
    e.h = uniform(1, 4), e.v = uniform(1, 4);
    e.chroma_h = uniform(1, 4), e.chroma_v = uniform(1, 4);
    e.cr_h = uniform(1, 4), e.cr_v = uniform(1, 4);
  } while (e.h * e.v + e.chroma_h * e.chroma_v + e.cr_h * e.cr_v > 10 ||
           !divides(std::max({e.h, e.chroma_h, e.cr_h}), e.h, e.chroma_h, e.cr_h) ||
           !divides(std::max({e.v, e.chroma_v, e.cr_v}), e.v, e.chroma_v, e.cr_v));
}

Encoding random_encoding(Picture& p) {
  Encoding e;
  e.quality = uniform(0, 9) ? uniform(5, 100) : 100;
  if (p.width * p.height > 500'000) e.quality = uniform(20, 70);
  const int mcus = (p.width + 7) / 8;
  const int intervals[] = {0, 0, 0, 0, 0, 1, uniform(2, 20), uniform(1, 300), mcus, 65535};
  e.restart = intervals[uniform(0, 9)];
  e.optimised = uniform(0, 1) == 1;
  e.progressive = uniform(0, 39) == 0;
  const int kind = uniform(0, 19);
  const Sampling s = kSamplings[uniform(0, 5)];    // as names stand for them
  e.h = s.h, e.v = s.v, e.chroma_h = s.chroma_h, e.chroma_v = s.chroma_v;
  if (kind < 2) make_gray(p);
  if (kind == 2) e.rgb = true, e.h = e.v = e.chroma_h = e.chroma_v = 1;
  if (kind == 3 || kind == 4) set_odd_sampling(e);
  return e;
}

std::string describe(int number, const Picture& p, const Encoding& e) {
  char text[200], cr[40] = "";
  if (e.cr_h) std::snprintf(cr, sizeof cr, " and %dx%d", e.cr_h, e.cr_v);
  std::snprintf(text, sizeof text, "%d: %dx%d%s, quality %d, %dx%d over %dx%d%s, restart %d%s%s%s", number, p.width,
                p.height, p.channels == 1 ? " gray" : "", e.quality, e.h, e.v, e.chroma_h, e.chroma_v, cr, e.restart,
                e.optimised ? ", optimised" : "", e.rgb ? ", RGB" : "", e.progressive ? ", progressive" : "");
  return text;
}

struct Rows : ps::RowSink {
  explicit Rows(size_t row) : bytes(row) {}
  void push(int64_t, const void* row) override {
    const auto* from = static_cast<const uint8_t*>(row);
    pixels.insert(pixels.end(), from, from + bytes);
  }
  Bytes pixels;
  size_t bytes;
};

struct View {
  J_COLOR_SPACE space;
  Color color;
  bool fancy;
};
constexpr View kViews[] = {{JCS_RGB, Color::RGB, true}, {JCS_RGB, Color::RGB, false},
                           {JCS_GRAYSCALE, Color::GRAY, true}};

// Pixels of libjpeg, and whether the CPU's decoder has the same, where it is for such files.
uint32_t checksum(ps::jpeg::Decoder& decoder, const Bytes& file, const View& view, bool& equal) {
  const Picture expected = reference(file, view.space, view.fancy);
  ps::jpeg::Header h;
  equal = ps::jpeg::parse(file.data(), file.size(), h);
  if (equal && h.supported) {
    Rows rows(size_t(expected.width * expected.channels));
    const auto status = decoder.decode(file.data(), file.size(), h, {0, 0, expected.width, expected.height}, view.color,
                                       view.fancy, rows);
    equal = status == ps::jpeg::Status::ok && rows.pixels == expected.pixels;
  }
  return uint32_t(crc32(0, expected.pixels.data(), uInt(expected.pixels.size())));
}

}  // namespace

int main(int argc, char** argv) {
  int pictures = 300, failures = 0;
  std::FILE* output = nullptr;
  std::vector<Picture> scenes;
  std::vector<const char*> photographs;
  for (int i = 1; i < argc; i++) {
    const bool value = i + 1 < argc;
    if (value && !std::strcmp(argv[i], "--pictures")) pictures = std::atoi(argv[++i]);
    else if (value && !std::strcmp(argv[i], "--seed")) random_bits.seed(unsigned(std::atoi(argv[++i])));
    else if (value && !std::strcmp(argv[i], "--output")) {
      output = std::fopen(argv[++i], "wb");
      if (!output) return std::perror(argv[i]), 2;
    } else if (photographs.size() < 4) photographs.push_back(argv[i]);
  }
  for (int i = 0; i < 4; i++) scenes.push_back(scene(900, 800));
  for (const char* name : photographs) scenes.push_back(reference(read_file(name), JCS_RGB, true));
  ps::jpeg::Decoder decoder;
  for (int i = 0; i < pictures; i++) {
    Picture p = random_picture(scenes, i);
    const Encoding e = random_encoding(p);
    const Bytes file = encode(p, e);
    const std::string name = describe(i, p, e);
    uint32_t head[7] = {uint32_t(name.size()), uint32_t(file.size()), uint32_t(p.width), uint32_t(p.height)};
    for (int k = 0; k < 3; k++) {
      bool equal = false;
      head[4 + k] = checksum(decoder, file, kViews[k], equal);
      if (!equal) std::printf("the CPU's decoder differs: %s, view %d\n", name.c_str(), k), failures++;
    }
    if (!output) continue;
    std::fwrite(head, sizeof head, 1, output);
    std::fwrite(name.data(), name.size(), 1, output);
    std::fwrite(file.data(), file.size(), 1, output);
  }
  if (output && (std::ferror(output) | std::fclose(output))) return std::perror("output"), 2;
  std::printf("%d pictures; %d failures\n", pictures, failures);
  return failures != 0;
}
