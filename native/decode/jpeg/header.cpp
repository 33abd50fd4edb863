#include "decode/jpeg/header.h"

#include <algorithm>
#include <cstring>

#include "decode/jpeg/zigzag.h"

namespace ps::jpeg {
namespace {

enum Marker : int {
  SOF0 = 0xC0, SOF1 = 0xC1, SOF2 = 0xC2, SOF3 = 0xC3, DHT = 0xC4, DAC = 0xCC, SOF15 = 0xCF, RST0 = 0xD0, RST7 = 0xD7,
  SOI = 0xD8, EOI = 0xD9, SOS = 0xDA, DQT = 0xDB, DNL = 0xDC, DRI = 0xDD, APP0 = 0xE0, APP14 = 0xEE, APP15 = 0xEF,
  COM = 0xFE, TEM = 0x01,
};

// The payload of one marker segment.
struct Segment {
  const uint8_t* data;
  size_t left;
  int u8() { left--; return *data++; }
  int u16() { int hi = u8(); return hi << 8 | u8(); }
};

class Parser {
 public:
  Parser(const uint8_t* data, size_t size, Header& header) : data_(data), size_(size), h_(header) {}

  bool run() {
    if (size_ < 2 || data_[0] != 0xFF || data_[1] != SOI) return false;
    at_ = 2;
    for (;;) {
      int marker = next_marker();
      if (marker < 0 || marker == EOI || marker == SOI) return false;
      if (marker == TEM || (marker >= RST0 && marker <= RST7)) continue;   // these have no payload
      Segment s;
      if (!segment(s)) return false;
      if (marker == SOS) {
        h_.sos = size_t(s.data - data_) - 4;
        return scan_header(s);
      }
      if (!payload(marker, s)) return false;
    }
  }

  ScanStatus next(size_t at, Scan& scan) {
    at_ = at;
    for (;;) {
      const int marker = next_marker();
      if (marker == EOI) return ScanStatus::end;
      Segment s;
      const bool table = marker == DHT || marker == DRI || marker == COM || (marker >= APP0 && marker <= APP15);
      if ((!table && marker != SOS) || !segment(s)) return ScanStatus::broken;
      if (marker == SOS) return later_scan(s, scan) ? ScanStatus::scan : ScanStatus::broken;
      if ((marker == DHT || marker == DRI) && !payload(marker, s)) return ScanStatus::broken;
    }
  }

 private:
  // Skips whatever is before a marker, as libjpeg does (with a warning), and any number of fill bytes.
  int next_marker() {
    for (;;) {
      while (at_ < size_ && data_[at_] != 0xFF) at_++;
      while (at_ < size_ && data_[at_] == 0xFF) at_++;
      if (at_ >= size_) return -1;
      if (int marker = data_[at_++]) return marker;
    }
  }

  bool segment(Segment& s) {
    if (size_ - at_ < 2) return false;
    size_t length = size_t(data_[at_]) << 8 | data_[at_ + 1];
    if (length < 2 || length > size_ - at_) return false;
    s = {data_ + at_ + 2, length - 2};
    at_ += length;
    return true;
  }

  bool payload(int marker, Segment s) {
    switch (marker) {
      case DQT: return quantisation(s);
      case DHT: return huffman(s);
      case DRI:
        if (s.left != 2) return false;
        h_.restart_interval = s.u16();
        return true;
      case APP0: jfif_ = jfif_ || (s.left >= 14 && std::memcmp(s.data, "JFIF", 5) == 0); return true;
      case APP14:
        if (s.left >= 12 && std::memcmp(s.data, "Adobe", 5) == 0) adobe_transform_ = s.data[11];
        return true;
      case DAC: return true;
      case COM: case DNL: return true;
      default:
        if (marker >= SOF0 && marker <= SOF15) return frame_header(marker, s);
        if (marker < APP0 || marker > APP15) foreign_ = true;
        return true;
    }
  }

  bool quantisation(Segment s) {
    while (s.left > 0) {
      int head = s.u8(), wide = head >> 4, number = head & 15;
      if (wide > 1 || number > 3 || s.left < (wide ? 128u : 64u)) return false;
      for (int k = 0; k < 64; k++) h_.quant[number][kZigzag[k]] = uint16_t(wide ? s.u16() : s.u8());
      h_.has_quant[number] = true;
    }
    return true;
  }

  bool huffman(Segment s) {
    while (s.left > 0) {
      if (s.left < 17) return false;
      int head = s.u8(), number = head & 15;
      if (head >> 4 > 1 || number > 3) return false;
      HuffmanSpec& spec = head >> 4 ? h_.ac[number] : h_.dc[number];
      spec = {};
      for (uint8_t& count : spec.counts) spec.size += count = uint8_t(s.u8());
      if (spec.size > 256 || size_t(spec.size) > s.left) return false;
      for (int i = 0; i < spec.size; i++) spec.symbols[i] = uint8_t(s.u8());
    }
    return true;
  }

  bool frame_header(int marker, Segment s) {
    if (frame_ || s.left < 6) return false;
    frame_ = marker;
    h_.baseline = marker == SOF0;
    h_.lossless = marker == SOF3;
    int precision = s.u8();
    h_.height = s.u16();
    h_.width = s.u16();
    h_.components = s.u8();
    if (h_.width == 0 || h_.height == 0 || h_.components == 0 || s.left != size_t(h_.components) * 3) return false;
    shape_ok_ = marker >= SOF0 && marker <= SOF2 && precision == 8 && (h_.components == 1 || h_.components == 3) &&
                h_.width <= 65500 && h_.height <= 65500;
    for (int i = 0; i < std::min(h_.components, kMaxComponents); i++) {
      Component& c = h_.component[i];
      c.id = s.u8();
      int sampling = s.u8();
      c.h = sampling >> 4;
      c.v = sampling & 15;
      c.quant = s.u8();
      if (c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4) return false;
    }
    return true;
  }

  bool scan_header(Segment s) {
    if (!frame_ || s.left < 1) return false;
    h_.scan = at_;
    int scanned = s.u8();
    if (scanned < 1 || scanned > 4 || s.left != size_t(scanned) * 2 + 3) return false;
    if (!shape_ok_ || foreign_) return true;   // parseable, not supported
    if (frame_ == SOF2) {
      h_.progressive = sampling() && quantisation_ok();
      h_.ycc = h_.components == 3 && is_ycc();
      return true;
    }
    if (scanned != h_.components) return true;
    for (int i = 0; i < scanned; i++) {
      Component& c = h_.component[i];
      bool in_order = s.u8() == c.id;
      int tables = s.u8();
      c.dc = tables >> 4;
      c.ac = tables & 15;
      if (!in_order || c.dc > 3 || c.ac > 3) return true;
    }
    bool whole_spectrum = s.u8() == 0 && s.u8() == 63 && s.u8() == 0;
    h_.supported = whole_spectrum && sampling() && tables_ok();
    h_.ycc = h_.components == 3 && is_ycc();
    return true;
  }

  // Of a progressive file. false: not as the standard has it.
  bool later_scan(Segment s, Scan& scan) const {
    scan = {};
    scan.data = at_;
    if (s.left < 1) return false;
    scan.components = s.u8();
    if (scan.components < 1 || scan.components > h_.components || s.left != size_t(scan.components) * 2 + 3)
      return false;
    for (int i = 0, number = 0; i < scan.components; i++, number++) {
      const int id = s.u8(), tables = s.u8();
      while (number < h_.components && h_.component[number].id != id) number++;
      if (number == h_.components || tables >> 4 > 3 || (tables & 15) > 3) return false;
      scan.component[i] = number;
      scan.dc[i] = tables >> 4;
      scan.ac[i] = tables & 15;
    }
    scan.first = s.u8();
    scan.last = s.u8();
    const int bits = s.u8();
    scan.high = bits >> 4;
    scan.low = bits & 15;
    const bool spectrum = scan.first == 0 ? scan.last == 0 : scan.first <= scan.last && scan.last <= 63;
    return spectrum && (scan.first == 0 || scan.components == 1) && scan.low <= 13 &&
           (scan.high == 0 || scan.high == scan.low + 1);
  }

  // false: sampling that the upsampler does not know.
  bool sampling() {
    if (h_.components == 1) h_.component[0].h = h_.component[0].v = 1;   // a lone component has one block in each MCU
    h_.h_max = h_.v_max = 1;
    int blocks = 0;
    for (int i = 0; i < h_.components; i++) {
      const Component& c = h_.component[i];
      h_.h_max = std::max(h_.h_max, c.h);
      h_.v_max = std::max(h_.v_max, c.v);
      blocks += c.h * c.v;
    }
    if (blocks > kMaxBlocksInMcu) return false;
    for (int i = 0; i < h_.components; i++) {
      Component& c = h_.component[i];
      if (h_.h_max % c.h || h_.v_max % c.v) return false;
      c.width = (h_.width * c.h + h_.h_max - 1) / h_.h_max;
      c.height = (h_.height * c.v + h_.v_max - 1) / h_.v_max;
    }
    return true;
  }

  bool quantisation_ok() const {
    return std::all_of(h_.component, h_.component + h_.components, [&](const Component& c) {
      return c.quant <= 3 && h_.has_quant[c.quant] &&
             std::all_of(h_.quant[c.quant], h_.quant[c.quant] + 64, [](int q) { return q <= 0x7FFF; });
    });
  }

  bool tables_ok() const {
    if (!quantisation_ok()) return false;
    for (int i = 0; i < h_.components; i++) {
      const Component& c = h_.component[i];
      if (!is_code_of_means(h_.dc[c.dc]) || !is_prefix_code(h_.ac[c.ac])) return false;
    }
    return true;
  }

  // libjpeg's rules: JFIF means YCbCr; then Adobe's marker decides; then the components' names.
  bool is_ycc() const {
    if (jfif_) return true;
    if (adobe_transform_ >= 0) return adobe_transform_ != 0;
    const Component* c = h_.component;
    return !(c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B');
  }

  const uint8_t* data_;
  size_t size_;
  Header& h_;
  size_t at_ = 0;
  int frame_ = 0;   // the SOF marker
  bool shape_ok_ = false, jfif_ = false;
  bool foreign_ = false;   // there was a marker that libjpeg rejects
  int adobe_transform_ = -1;
};

}  // namespace

bool is_prefix_code(const HuffmanSpec& spec) {
  uint32_t code = 0;
  for (int length = 1; length <= 16; length++) {
    code = (code << 1) + spec.counts[length - 1];
    if (code >= 1u << length) return false;   // no code may be all ones
  }
  return spec.size > 0;
}

bool is_code_of_means(const HuffmanSpec& spec) {
  return is_prefix_code(spec) && std::all_of(spec.symbols, spec.symbols + spec.size, [](int s) { return s <= 15; });
}

ScanStatus next_scan(const uint8_t* data, size_t size, size_t at, Header& header, Scan& scan) {
  return Parser(data, size, header).next(at, scan);
}

bool parse(const uint8_t* data, size_t size, Header& header) {
  header = {};
  return Parser(data, size, header).run();
}

}  // namespace ps::jpeg
