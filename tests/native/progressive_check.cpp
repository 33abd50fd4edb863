// Compares our decoder of progressive JPEG with libjpeg bit for bit: files that libjpeg makes from photographs, in any
// order of scans that the standard allows, as a whole and in windows. Files that lack a scan must be refused; broken
// ones do no harm.
//
//   progressive_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all equal
#include "decode/jpeg/progressive.h"
#include "jpeg_rows.h"
#include "jpeg_scripts.h"

namespace {

using ps::jpeg::Color;
using ps::jpeg::Status;

bool check(ps::jpeg::ProgressiveDecoder& decoder, const Bytes& file, const std::string& name, int windows) {
  ps::jpeg::Header header;
  for (bool fancy : {true, false})
    for (Color color : {Color::RGB, Color::GRAY}) {
      Picture full = reference(file, color == Color::RGB ? JCS_RGB : JCS_GRAYSCALE, fancy);
      for (int i = 0; i <= windows; i++) {
        ps::Window window{0, 0, full.width, full.height};
        if (i > 0) window = random_window(full.width, full.height);
        Collector rows(window, full.channels, uniform(0, 1));
        if (!ps::jpeg::parse(file.data(), file.size(), header) || !header.progressive || header.supported)
          return std::printf("not progressive: %s\n", name.c_str()), false;
        const Status status = decoder.decode(file.data(), file.size(), header, window, color, fancy, rows);
        if (status == Status::ok && equal(rows, full, window)) continue;
        std::printf("%s: %s, %s, %dx%d, window x %ld..%ld y %ld..%ld%s\n",
                    status == Status::ok ? "differs" : "inconsistent", name.c_str(),
                    color == Color::GRAY ? "gray" : "RGB", full.width, full.height, long(window.x0), long(window.x1),
                    long(window.y0), long(window.y1), fancy ? ", fancy" : "");
        return false;
      }
    }
  return true;
}

// What is not whole has to be left to libjpeg, before any row is given: where a scan is missing, it smooths.
bool check_refusal(ps::jpeg::ProgressiveDecoder& decoder, const Bytes& file, const char* what) {
  ps::jpeg::Header header;
  if (!ps::jpeg::parse(file.data(), file.size(), header) || !header.progressive) return true;
  const ps::Window whole{0, 0, header.width, header.height};
  Collector rows(whole, 3, false);
  if (decoder.decode(file.data(), file.size(), header, whole, Color::RGB, true, rows) == Status::inconsistent &&
      rows.next == 0)
    return true;
  return std::printf("not refused: %s\n", what), false;
}

// Broken files, whose results do not matter: they are for sanitizers. What is decoded is decoded whole.
bool check_broken(ps::jpeg::ProgressiveDecoder& decoder, Bytes file) {
  for (int i = uniform(1, 5); i > 0; i--) file[size_t(uniform(2, int(file.size()) - 1))] = uint8_t(uniform(0, 255));
  const Bytes exact(file);             // so that a sanitizer sees its end
  ps::jpeg::Header header;
  if (!ps::jpeg::parse(exact.data(), exact.size(), header) || !header.progressive) return true;
  if (int64_t(header.width) * header.height > 1 << 20) return true;
  const ps::Window window = random_window(header.width, header.height);
  Collector rows(window, 3, false);
  const Status status = decoder.decode(exact.data(), exact.size(), header, window, Color::RGB, true, rows);
  return rows.next == (status == Status::ok ? window.y1 : window.y0);
}

}  // namespace

int main(int argc, char** argv) {
  const auto [paths, cases] = Arguments(argc, argv, 300);
  std::vector<Picture> photographs;
  for (const std::string& path : paths) photographs.push_back(reference(read_file(path), JCS_RGB, true));
  ps::jpeg::ProgressiveDecoder decoder;
  int failures = 0;
  for (int i = 0; i < cases; i++) {
    const Picture part = excerpt(photographs[size_t(uniform(0, int(photographs.size()) - 1))]);
    Encoding e = random_progressive(part);
    char name[128];
    std::snprintf(name, sizeof name, "case %d (quality %d, %dx%d over %dx%d, restart %d, %zu scans)", i, e.quality, e.h,
                  e.v, e.chroma_h, e.chroma_v, e.restart, e.scans.size());
    const Bytes file = encode(part, e);
    if (e.scans.size() > 64) failures += !check_refusal(decoder, file, "more scans than are written");
    else failures += !check(decoder, file, name, 4);
    Bytes half(file.begin(), file.begin() + ptrdiff_t(file.size() * size_t(uniform(50, 95)) / 100));
    failures += !check_refusal(decoder, half, "a file cut off");
    for (int k = 0; k < 20; k++) failures += !check_broken(decoder, file);
    if (e.scans.empty()) continue;
    e.scans.pop_back();
    failures += !check_refusal(decoder, encode(part, e), "a scan left out");
  }
  std::printf("%d files checked, %d differ\n", cases, failures);
  return failures != 0;
}
