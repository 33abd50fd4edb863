// Compares our JPEG decoder with libjpeg bit for bit: pictures made by libjpeg from photographs, in all samplings,
// qualities and restart intervals, as a whole and in windows. And it checks what the decoder must refuse.
//
//   jpeg_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all equal
#include <cmath>
#include <cstring>

#include "decode/jpeg/decoder.h"
#include "jpeg_rows.h"

namespace {

using ps::jpeg::Color;

// Decodes `file` whole and in windows; true: as libjpeg does.
bool check(ps::jpeg::Decoder& decoder, const Bytes& file, const std::string& name, int windows) {
  ps::jpeg::Header header;
  if (!ps::jpeg::parse(file.data(), file.size(), header) || !header.supported) {
    std::printf("not supported: %s\n", name.c_str());
    return false;
  }
  for (bool fancy : {true, false})
    for (Color color : {Color::RGB, Color::GRAY}) {
      Picture full = reference(file, color == Color::RGB ? JCS_RGB : JCS_GRAYSCALE, fancy);
      for (int i = 0; i <= windows; i++) {
        ps::Window window{0, 0, full.width, full.height};
        if (i > 0) window = random_window(full.width, full.height);
        bool bgr = color == Color::RGB && uniform(0, 3) == 0;
        Collector rows(window, full.channels, uniform(0, 1));
        auto status = decoder.decode(file.data(), file.size(), header, window, bgr ? Color::BGR : color, fancy, rows);
        if (bgr)
          for (size_t k = 0; k + 2 < rows.rows.size(); k += 3) std::swap(rows.rows[k], rows.rows[k + 2]);
        if (status == ps::jpeg::Status::ok && equal(rows, full, window)) continue;
        std::printf("%s: %s, %s, %dx%d, window x %ld..%ld y %ld..%ld%s\n",
                    status == ps::jpeg::Status::ok ? "differs" : "inconsistent", name.c_str(),
                    color == Color::GRAY ? "gray" : bgr ? "BGR" : "RGB", full.width, full.height, long(window.x0),
                    long(window.x1), long(window.y0), long(window.y1), fancy ? ", fancy" : "");
        return false;
      }
    }
  return true;
}

// Studio-range YCbCr, from libjpeg's RGB by the formula of ITU-R BT.601; true: nowhere more than 1 apart.
bool check_ycc(ps::jpeg::Decoder& decoder, const Bytes& file, const std::string& name) {
  ps::jpeg::Header header;
  ps::jpeg::parse(file.data(), file.size(), header);
  Picture rgb = reference(file, JCS_RGB, true);
  ps::Window whole{0, 0, rgb.width, rgb.height};
  Collector rows(whole, 3, false);
  if (decoder.decode(file.data(), file.size(), header, whole, Color::YCbCr, true, rows) != ps::jpeg::Status::ok)
    return false;
  for (size_t i = 0; i < rgb.pixels.size(); i += 3) {
    double r = rgb.pixels[i] / 255.0, g = rgb.pixels[i + 1] / 255.0, b = rgb.pixels[i + 2] / 255.0;
    double y = 0.299 * r + 0.587 * g + 0.114 * b;
    double expected[3] = {16 + 219 * y, 128 + 224 * (b - y) / 1.772, 128 + 224 * (r - y) / 1.402};
    for (size_t c = 0; c < 3; c++)
      if (std::abs(rows.rows[i + c] - expected[c]) > 0.51) {
        std::printf("YCbCr differs: %s, byte %zu: %d, not %.2f\n", name.c_str(), i + c, rows.rows[i + c], expected[c]);
        return false;
      }
  }
  return true;
}

// Files of other kinds are recognised as such; broken ones are noticed.
bool check_refusals(ps::jpeg::Decoder& decoder, const Picture& photograph) {
  auto fail = [](const char* what) { return std::printf("not refused: %s\n", what), false; };
  ps::jpeg::Header header;
  Encoding progressive, cmyk;
  progressive.progressive = true;
  Bytes file = encode(photograph, progressive);
  if (!ps::jpeg::parse(file.data(), file.size(), header) || header.supported) return fail("progressive");
  if (header.width != photograph.width || header.height != photograph.height) return fail("size of progressive");
  Picture four{photograph.width / 4, photograph.height, 4, photograph.pixels};
  file = encode(four, cmyk);
  if (!ps::jpeg::parse(file.data(), file.size(), header) || header.supported) return fail("CMYK");
  if (header.components != 4) return fail("components of CMYK");

  file = encode(photograph, {});
  if (!ps::jpeg::parse(file.data(), file.size(), header) || !header.supported) return fail("baseline, wrongly");
  for (size_t size = 0; size < header.scan; size++) {
    Bytes head(file.begin(), file.begin() + ptrdiff_t(size));   // on the heap, so that a sanitizer sees its end
    if (ps::jpeg::Header h; ps::jpeg::parse(head.data(), head.size(), h)) return fail("a header cut off");
  }
  ps::Window whole{0, 0, photograph.width, photograph.height};
  file.resize(header.scan + (file.size() - header.scan) / 2);
  Collector half(whole, 3, true);
  if (decoder.decode(file.data(), file.size(), header, whole, Color::RGB, true, half) == ps::jpeg::Status::ok)
    return fail("half a scan");
  return half.next > 0 || fail("rows of half a scan");
}

}  // namespace

int main(int argc, char** argv) {
  const auto [paths, cases] = Arguments(argc, argv, 1000);
  ps::jpeg::Decoder decoder;
  std::vector<Picture> photographs;
  int failures = 0, checked = 0;
  for (const std::string& path : paths) {
    Bytes file = read_file(path);
    ps::jpeg::Header header;
    if (!ps::jpeg::parse(file.data(), file.size(), header)) std::printf("cannot parse %s\n", path.c_str()), failures++;
    if (header.supported) failures += !check(decoder, file, path, 3), checked++;
    photographs.push_back(reference(file, JCS_RGB, true));
    failures += !check_refusals(decoder, photographs.back());
  }
  for (int i = 0; i < cases; i++) {
    Picture part = excerpt(photographs[size_t(uniform(0, int(photographs.size()) - 1))]);
    Sampling s = kSamplings[uniform(0, 5) ? uniform(0, 4) : uniform(0, int(std::size(kSamplings)) - 1)];
    Encoding e;
    e.quality = uniform(5, 100), e.restart = uniform(0, 2) ? 0 : uniform(1, 20), e.optimised = uniform(0, 1) == 1;
    e.h = s.h, e.v = s.v, e.chroma_h = s.chroma_h, e.chroma_v = s.chroma_v;
    e.rgb = part.channels == 3 && uniform(0, 9) == 0;
    char name[128];
    std::snprintf(name, sizeof name, "case %d (quality %d, %dx%d over %dx%d, restart %d%s%s)", i, e.quality, e.h, e.v,
                  e.chroma_h, e.chroma_v, e.restart, e.optimised ? ", optimised" : "", e.rgb ? ", RGB" : "");
    Bytes file = encode(part, e);
    failures += !check(decoder, file, name, 4) || !check_ycc(decoder, file, name), checked++;
  }
  std::printf("%d files checked, %d differ\n", checked, failures);
  return failures != 0;
}
