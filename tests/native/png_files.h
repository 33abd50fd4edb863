// PNG files of all kinds, made from parts of photographs: any type, depth, filters and compression; and broken ones.
#pragma once

#include <zlib.h>

#include "decode/png/chunks.h"
#include "jpeg_rows.h"

namespace png_files {

using namespace jpeg_files;
namespace png = ps::png;

inline void put32(Bytes& to, uint32_t v) {
  for (int i = 24; i >= 0; i -= 8) to.push_back(uint8_t(v >> i));
}

struct Chunk {
  std::string kind;
  Bytes body;
};

// What a file is made of.
struct Parts {
  png::Header header;
  uint8_t methods[3] = {};                    // compression, filters, interlacing
  std::vector<Chunk> before, behind;
  Bytes stream;
  std::vector<size_t> cuts;                   // of the stream, into chunks
};

inline void put(Bytes& file, const std::string& kind, const uint8_t* body, size_t size) {
  put32(file, uint32_t(size));
  const size_t at = file.size();
  file.insert(file.end(), kind.begin(), kind.end());
  file.insert(file.end(), body, body + size);
  put32(file, uint32_t(::crc32(0, file.data() + at, uInt(4 + size))));
}

inline Bytes file_of(const Parts& p) {
  Bytes file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'}, ihdr;
  put32(ihdr, uint32_t(p.header.width));
  put32(ihdr, uint32_t(p.header.height));
  for (uint8_t v : {p.header.depth, p.header.type, p.methods[0], p.methods[1], p.methods[2]}) ihdr.push_back(v);
  put(file, "IHDR", ihdr.data(), ihdr.size());
  for (const Chunk& c : p.before) put(file, c.kind, c.body.data(), c.body.size());
  size_t at = 0;
  for (size_t n : p.cuts) {
    n = std::min(n, p.stream.size() - at);
    put(file, "IDAT", p.stream.data() + at, n);
    at += n;
  }
  put(file, "IDAT", p.stream.data() + at, p.stream.size() - at);
  for (const Chunk& c : p.behind) put(file, c.kind, c.body.data(), c.body.size());
  return file;
}

// The filters of the standard, done: the slow way.
inline uint8_t predicted(int filter, int a, int b, int c) {
  if (filter == 1) return uint8_t(a);
  if (filter == 2) return uint8_t(b);
  if (filter == 3) return uint8_t((a + b) / 2);
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return uint8_t(filter == 0 ? 0 : pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

// Rows of samples that are bytes of a picture, filtered.
inline Bytes filtered_rows(const png::Header& h, const Picture& picture) {
  const size_t bytes = h.row_bytes(h.width), step = size_t(std::max(1, h.pixel_bits() / 8));
  const int usual = uniform(0, 6);            // 5 and 6: each row its own
  Bytes rows, above(bytes, 0), row(bytes);
  size_t at = 0;
  for (int64_t y = 0; y < h.height; y++) {
    for (uint8_t& v : row) v = picture.pixels[at++ % picture.pixels.size()];
    const int filter = usual < 5 ? usual : uniform(0, 4);
    rows.push_back(uint8_t(filter));
    for (size_t i = 0; i < bytes; i++) {
      const int a = i < step ? 0 : row[i - step], c = i < step ? 0 : above[i - step];
      rows.push_back(uint8_t(row[i] - predicted(filter, a, above[i], c)));
    }
    std::swap(row, above);
  }
  return rows;
}

// By any of zlib's levels, strategies and window sizes, which change on the way now and then, as blocks end.
inline Bytes compressed(const Bytes& data) {
  z_stream z{};
  const auto level = [] { return uniform(0, 3) ? uniform(1, 9) : uniform(0, 1); };
  deflateInit2(&z, level(), Z_DEFLATED, uniform(0, 2) ? 15 : uniform(9, 15), uniform(1, 9), uniform(0, 4));
  Bytes stream(deflateBound(&z, uLong(data.size())) + 64 * 1024);
  z.next_in = const_cast<uint8_t*>(data.data());
  z.next_out = stream.data();
  z.avail_out = uInt(stream.size());
  const int flushes = uniform(0, 2) ? 0 : uniform(1, 12);
  for (int i = 0; i < flushes; i++) {
    z.avail_in = uInt(std::min<size_t>(size_t(uniform(0, int(data.size() / 6 + 1))), data.size() - z.total_in));
    deflate(&z, uniform(Z_NO_FLUSH, Z_BLOCK) % Z_FINISH);
    if (!uniform(0, 3)) deflateParams(&z, level(), uniform(0, 4));
  }
  z.avail_in = uInt(data.size() - z.total_in);
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) std::printf("zlib ran out of room\n"), std::exit(1);
  stream.resize(z.total_out);
  deflateEnd(&z);
  return stream;
}

inline Parts random_parts(const Picture& picture) {
  constexpr png::ColorType kTypes[] = {png::kRgb, png::kRgb, png::kRgba, png::kGray, png::kGrayAlpha, png::kPalette};
  Parts p;
  png::Header& h = p.header;
  h.width = picture.width, h.height = picture.height;
  h.type = kTypes[uniform(0, 5)];
  const bool small = h.type == png::kGray || h.type == png::kPalette;
  const int deepest = h.type == png::kPalette ? 3 : 4;
  h.depth = uint8_t(1 << (small ? uniform(0, deepest) : uniform(0, 3) ? 3 : 4));
  const auto any = [](int count) {
    Bytes b(static_cast<size_t>(count));
    for (uint8_t& v : b) v = uint8_t(uniform(0, 255));
    return b;
  };
  const int colours = 1 << std::min<int>(h.depth, 8);
  if (!uniform(0, 3)) p.before.push_back({"gAMA", any(4)});
  if (h.type == png::kPalette || (h.type != png::kGray && h.type != png::kGrayAlpha && !uniform(0, 5)))
    p.before.push_back({"PLTE", any(3 * (uniform(0, 2) ? colours : uniform(1, colours)))});
  if (!uniform(0, 3)) p.before.push_back({"tRNS", any(h.type == png::kPalette ? 2 : h.type == png::kRgb ? 6 : 2)});
  if (!uniform(0, 3)) p.before.push_back({"tEXt", any(uniform(0, 300))});
  if (!uniform(0, 3)) p.behind.push_back({"tIME", any(uniform(0, 9))});
  p.behind.push_back({"IEND", {}});
  p.stream = compressed(filtered_rows(h, picture));
  const int chunks = uniform(0, 2) ? uniform(0, 3) : uniform(0, 100);
  for (int i = 0; i < chunks; i++)
    p.cuts.push_back(uniform(0, 9) ? size_t(uniform(1, 2 * int(p.stream.size()) / chunks + 1)) : size_t(uniform(0, 2)));
  return p;
}

// Files whose checksums are right mostly, so that what lies behind them is reached.
inline Bytes broken(Parts p) {
  const auto spoil = [](Bytes& b) {
    if (!b.empty()) b[size_t(uniform(0, int(b.size()) - 1))] = uint8_t(uniform(0, 255));
  };
  Bytes file;
  switch (uniform(0, 9)) {
    case 0: case 1: case 2: for (int i = uniform(1, 4); i > 0; i--) spoil(p.stream); break;
    case 3: p.stream.end()[-uniform(1, 8)] ^= uint8_t(1 << uniform(0, 7)); break;
    case 4: p.stream.resize(size_t(uniform(0, int(p.stream.size())))); break;
    case 5: p.stream.insert(p.stream.begin() + uniform(0, int(p.stream.size())), uint8_t(uniform(0, 255))); break;
    case 6: p.header.height += uniform(-2, 2), p.header.width += uniform(-1, 1); break;
    case 7: {
      uint8_t* fields[] = {&p.header.depth, &p.header.type, p.methods, p.methods + 1, p.methods + 2};
      *fields[uniform(0, 4)] = uint8_t(1 << uniform(0, 7));
      break;
    }
    case 8: {
      auto& chunks = uniform(0, 1) ? p.before : p.behind;
      if (chunks.empty()) chunks.push_back({"ABCD", {}});
      Chunk& c = chunks[size_t(uniform(0, int(chunks.size()) - 1))];
      if (uniform(0, 1)) c.kind[size_t(uniform(0, 3))] = char(uniform(1, 255));
      else c.body.resize(size_t(uniform(0, 800)));
      break;
    }
    default:
      file = file_of(p);
      if (uniform(0, 1)) file.resize(size_t(uniform(33, int(file.size()))));
      else
        for (int i = uniform(1, 3); i > 0; i--)
          file[size_t(uniform(8, int(file.size()) - 1))] = uint8_t(uniform(0, 255));
      return file;
  }
  p.header.width = std::max<int64_t>(p.header.width, 1);
  p.header.height = std::max<int64_t>(p.header.height, 1);
  return file_of(p);
}

}  // namespace png_files
