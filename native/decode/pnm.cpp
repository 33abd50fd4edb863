// Netpbm's formats: PBM, PGM and PPM, as text and as bytes.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/channels.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

constexpr uint32_t kLargest = 0x7FFFFFFF;

bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool sniff(const uint8_t* data, size_t size) {
  return size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' && (is_space(data[2]) || data[2] == '#');
}

[[noreturn]] void truncated() {
  fail(ErrorKind::decode, "this PNM cannot be decoded: the file ends too early (it is truncated)");
}

// Numbers as text, with white space and comments between them.
struct Text {
  const uint8_t *at, *end;

  void skip() {
    for (; at < end; at++) {
      if (*at == '#') {
        while (at < end && *at != '\n' && *at != '\r') at++;
        if (at == end) return;
      } else if (!is_space(*at)) {
        return;
      }
    }
  }
  uint32_t number() {
    skip();
    if (at == end) truncated();
    if (*at < '0' || *at > '9') fail(ErrorKind::decode, "broken PNM: expected a number");
    uint64_t value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) value = std::min<uint64_t>(value * 10 + (*at - '0'), kLargest);
    return uint32_t(value);
  }
  bool bit() {                                  // digits may follow one another without a space
    skip();
    if (at == end) truncated();
    if (*at != '0' && *at != '1') fail(ErrorKind::decode, "broken PNM: expected 0 or 1");
    return *at++ == '1';
  }
};

struct Header {
  bool text, one_bit;
  int channels;
  int64_t width, height;
  uint32_t most = 1;                            // the number that is white
  const uint8_t* pixels;
};

Header parse(const uint8_t* data, size_t size) {
  const int kind = data[1] - '0';
  Header h;
  h.text = kind <= 3;
  h.one_bit = kind == 1 || kind == 4;
  h.channels = kind == 3 || kind == 6 ? 3 : 1;
  Text t{data + 2, data + size};
  h.width = t.number();
  h.height = t.number();
  if (!h.one_bit) h.most = t.number();
  if (h.most < 1 || h.most > 65535)
    fail(ErrorKind::decode, "broken PNM: its largest number would be " + std::to_string(h.most));
  h.pixels = t.at + (t.at < t.end);             // behind one white space
  return h;
}

ImageInfo peek_pnm(const uint8_t* data, size_t size) {
  const Header h = parse(data, size);
  ImageInfo info;
  info.width = h.width;
  info.height = h.height;
  info.channels = h.channels;
  info.bits = h.most > 255 ? 16 : 8;
  return info;
}

class PnmReader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    const Header h = parse(data, size);
    const Window& w = request.window;
    rows_.begin(info.stored_type(), h.channels, usual_colours(h.channels), request, sink, Luma::bits14);
    if (h.text) return read_text(h, data + size, w);
    const size_t bytes = h.one_bit ? (size_t(h.width) + 7) / 8 : size_t(h.width * h.channels * (h.most > 255 ? 2 : 1));
    if (size_t(data + size - h.pixels) / bytes < size_t(w.y1)) truncated();
    for (int64_t y = w.y0; y < w.y1; y++) push_bytes(h, h.pixels + size_t(y) * bytes, y, w);
  }

 private:
  // Numbers of up to 8 bits stay what they are, whatever is white, as in DALI; larger ones go to full scale.
  static uint16_t wide(uint32_t v, uint32_t most) {
    return uint16_t(most == 65535 ? v : (std::min(v, most) * 65535 + most / 2) / most);
  }

  void push_bytes(const Header& h, const uint8_t* from, int64_t y, const Window& w) {
    const int64_t first = w.x0 * h.channels, values = w.width() * h.channels;
    if (h.one_bit) {
      bytes_.resize(size_t(values));
      for (int64_t x = w.x0; x < w.x1; x++) bytes_[size_t(x - w.x0)] = from[x >> 3] >> (7 - (x & 7)) & 1 ? 0 : 255;
      rows_.push(y, bytes_.data());
    } else if (h.most > 255) {
      words_.resize(size_t(values));
      for (int64_t i = 0; i < values; i++) words_[size_t(i)] = uint16_t(be16(from + 2 * (first + i)));
      if (h.most < 65535)
        for (uint16_t& v : words_) v = wide(v, h.most);
      rows_.push(y, words_.data());
    } else {
      rows_.push(y, from + first);
    }
  }

  void read_text(const Header& h, const uint8_t* end, const Window& w) {
    const int64_t values = h.width * h.channels, first = w.x0 * h.channels;
    Text t{h.pixels, end};
    bytes_.clear();
    words_.clear();
    for (int64_t y = 0; y < w.y1; y++) {
      if (y >= w.y0) (h.most > 255 ? words_.resize(size_t(values)) : bytes_.resize(size_t(values)));
      for (int64_t i = 0; i < values; i++) {
        const uint32_t v = h.one_bit ? (t.bit() ? 0 : 255) : t.number();
        if (y < w.y0) continue;
        if (h.most > 255) words_[size_t(i)] = wide(std::min(v, h.most), h.most);
        else bytes_[size_t(i)] = uint8_t(std::min(v, 255u));
      }
      if (y < w.y0) continue;
      if (h.most > 255) rows_.push(y, words_.data() + first);
      else rows_.push(y, bytes_.data() + first);
    }
  }

  ChannelRows rows_;
  std::vector<uint8_t> bytes_;
  std::vector<uint16_t> words_;
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "PNM",
    .patterns = "*.pnm *.ppm *.pgm *.pbm",
    .library = "",
    .sniff = sniff,
    .peek = peek_pnm,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<PnmReader>()); },
    .sample =
      "P5\0128 8\012255\012xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"sv,
});

}  // namespace
}  // namespace ps
