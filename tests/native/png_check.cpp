// Compares our decoder of PNG with libpng bit for bit: files of every type, depth and filter, packed by zlib in any
// way, as a whole and in windows. Of broken files it must make what libpng makes, be that rows or an error.
//
//   png_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all equal
#include "core/error.h"
#include "decode/png.h"
#include "decode/png/checksum.h"
#include "decode/png/decoder.h"
#include "png_files.h"

namespace {

using namespace png_files;
using ps::ImageType;

constexpr ImageType kTypes[] = {ImageType::rgb, ImageType::bgr, ImageType::gray, ImageType::any};

int channels_of(ImageType type, const ps::ImageInfo& info) {
  return type == ImageType::gray ? 1 : type == ImageType::any ? info.channels : 3;
}

struct Outcome {
  Collector rows;
  std::string error;
};

// What `read`, which is given a sink, makes of a window.
template <class Read> Outcome outcome(const ps::ImageInfo& info, const ps::PictureRequest& request, Read read) {
  const int bytes = channels_of(request.type, info) * (info.bits == 16 ? 2 : 1);
  Outcome o{Collector(request.window, bytes, uniform(0, 1)), ""};
  try {
    read(o.rows);
  } catch (const ps::Error& e) {
    o.error = e.what();
  }
  return o;
}

bool same(const Outcome& a, const Outcome& b) {
  return a.error == b.error && (!a.error.empty() || (a.rows.next == b.rows.next && a.rows.rows == b.rows.rows));
}

void tell(const char* what, int number, const ps::ImageInfo& info, const ps::Window& w, const std::string& error) {
  std::printf("%s: case %d, %ldx%ld, %d channels of %d bits, window x %ld..%ld y %ld..%ld %s\n", what, number,
              long(info.width), long(info.height), info.channels, info.bits, long(w.x0), long(w.x1), long(w.y0),
              long(w.y1), error.c_str());
}

bool check(ps::png::Decoder& decoder, ps::LibPng& library, const Bytes& file, int number) {
  const ps::ImageInfo info = ps::peek(file.data(), file.size());
  for (ImageType type : kTypes)
    for (int i = 0; i < 4; i++) {
      ps::PictureRequest request{type, {0, 0, info.width, info.height}, true, false};
      if (i > 0) request.window = random_window(int(info.width), int(info.height));
      bool decoded = false;
      const Outcome ours = outcome(info, request, [&](ps::RowSink& sink) {
        decoded = decoder.decode(file.data(), file.size(), request, sink);
      });
      const Outcome theirs = outcome(info, request, [&](ps::RowSink& sink) {
        library.read(file.data(), file.size(), info, request, sink);
      });
      if (decoded && same(ours, theirs)) continue;
      tell(decoded ? "differs" : "not decoded", number, info, request.window, theirs.error);
      return false;
    }
  return true;
}

bool check_broken(ps::PictureReader& reader, ps::LibPng& library, const Bytes& broken, int number) {
  const Bytes file(broken);                // so that a sanitizer sees its end
  ps::ImageInfo info;
  try {
    info = ps::peek(file.data(), file.size());
    ps::check_size(info, 1 << 20);
  } catch (const ps::Error&) {
    return true;
  }
  ps::PictureRequest request{kTypes[uniform(0, 3)], {0, 0, info.width, info.height}, true, false};
  if (uniform(0, 1)) request.window = random_window(int(info.width), int(info.height));
  const auto by = [&](auto& decoder) {
    return outcome(info, request, [&](ps::RowSink& sink) {
      decoder.read(file.data(), file.size(), info, request, sink);
    });
  };
  const Outcome ours = by(reader), theirs = by(library);
  if (same(ours, theirs)) return true;
  tell("broken, and differs", number, info, request.window, "'" + ours.error + "', '" + theirs.error + "'");
  return false;
}

bool check_checksums() {
  Bytes bytes(static_cast<size_t>(uniform(1, 20000)));
  const int fill = uniform(0, 3);
  for (uint8_t& v : bytes) v = fill ? uint8_t(uniform(0, 255)) : 255;
  const auto before = uint32_t(uniform(0, 65520)) << 16 | uint32_t(uniform(0, 65520));
  const auto size = uInt(bytes.size());
  return ps::png::crc32(before, bytes.data(), size) == ::crc32(before, bytes.data(), size) &&
         ps::png::adler32(before, bytes.data(), size) == ::adler32(before, bytes.data(), size);
}

}  // namespace

int main(int argc, char** argv) {
  const auto [paths, cases] = Arguments(argc, argv, 500);
  constexpr int kBroken = 40;              // of each sound one
  std::vector<Picture> photographs;
  for (const std::string& path : paths) photographs.push_back(reference(read_file(path), JCS_RGB, true));
  ps::png::Decoder decoder;
  ps::LibPng library;
  const auto png = std::ranges::find(ps::codecs(), std::string_view("PNG"), &ps::Codec::name);
  const auto reader = png->make();
  int failures = 0;
  for (int i = 0; i < cases; i++) {
    const Picture part = excerpt(photographs[size_t(uniform(0, int(photographs.size()) - 1))]);
    const Parts parts = random_parts(part);
    failures += !check(decoder, library, file_of(parts), i);
    for (int k = 0; k < kBroken; k++) failures += !check_broken(*reader, library, broken(parts), i);
    if (!check_checksums()) failures++, std::printf("a checksum is wrong\n");
  }
  std::printf("%d files and %d broken ones checked, %d differ\n", cases, cases * kBroken, failures);
  return failures != 0;
}
