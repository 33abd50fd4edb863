// TIFF by libtiff: strips and tiles, interleaved and planar, 1 to 16 bits and floats, any number of channels. Only the
// blocks that a window touches are decoded.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/byte_order.h"
#include "core/error.h"
#include "decode/channels.h"
#include "decode/tiff_library.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

bool sniff(const uint8_t* data, size_t size) {
  if (size < 8) return false;
  const bool little = data[0] == 'I' && data[1] == 'I', big = data[0] == 'M' && data[1] == 'M';
  const uint32_t version = little ? le16(data + 2) : be16(data + 2);
  return (little || big) && (version == 42 || version == 43);
}

struct Layout {
  int64_t width = 0, height = 0;
  int bits = 1, samples = 1;         // stored
  int photometric = PHOTOMETRIC_MINISBLACK, orientation = 1;
  int compression = COMPRESSION_NONE;
  bool floats = false, planar = false, tiled = false;
  bool by_library = false;           // colours that libtiff converts, to 8 bits
  int64_t block_width = 0, block_height = 0;

  bool palette() const { return photometric == PHOTOMETRIC_PALETTE && !by_library; }
  int channels() const { return by_library || palette() ? 3 : samples; }
  int bits_out() const { return by_library ? 8 : palette() ? 16 : bits; }
};

// What libtiff has a decoder for, but DALI and this one have not.
[[noreturn]] void not_decoded(const std::string& what) {
  fail(ErrorKind::decode, "TIFF of " + what + " is not decoded");
}

Layout layout_of(const TiffFile& file) {
  const TiffApi& api = TiffApi::get();
  Layout l;
  l.width = file.field<uint32_t>(TIFFTAG_IMAGEWIDTH);
  l.height = file.field<uint32_t>(TIFFTAG_IMAGELENGTH);
  l.bits = file.field<uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  l.samples = file.field<uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  l.planar = file.field<uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE && l.samples > 1;
  const int orientation = file.field<uint16_t>(TIFFTAG_ORIENTATION, 1);
  l.orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
  l.compression = file.field<uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  uint16_t photometric = 0;
  const bool known = api.GetField(file.get(), TIFFTAG_PHOTOMETRIC, &photometric);
  l.photometric = known ? photometric : l.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  if (l.photometric == PHOTOMETRIC_YCBCR && l.compression == COMPRESSION_JPEG && !l.planar) {
    api.SetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    l.photometric = PHOTOMETRIC_RGB;
  }
  const int p = l.photometric;
  l.by_library = p == PHOTOMETRIC_YCBCR || p == PHOTOMETRIC_CIELAB || p == PHOTOMETRIC_ICCLAB ||
                 p == PHOTOMETRIC_ITULAB || p == PHOTOMETRIC_LOGL || p == PHOTOMETRIC_LOGLUV;
  if (l.samples < 1) not_decoded("0 channels");
  if (!l.by_library) {
    const int format = file.field<uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    l.floats = format == SAMPLEFORMAT_IEEEFP;
    const bool whole = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
    if (!(l.floats && l.bits == 32) && !(whole && l.bits >= 1 && l.bits <= 16))
      not_decoded(std::to_string(l.bits) + " bits of sample format " + std::to_string(format));
    if (l.palette() && (l.samples != 1 || l.floats))
      not_decoded("a palette and " + std::to_string(l.samples) + " channels");
  }
  l.tiled = api.IsTiled(file.get());
  l.block_width = l.tiled ? file.field<uint32_t>(TIFFTAG_TILEWIDTH) : l.width;
  l.block_height = l.tiled ? file.field<uint32_t>(TIFFTAG_TILELENGTH)
                           : std::min<int64_t>(file.field<uint32_t>(TIFFTAG_ROWSPERSTRIP, 0xFFFFFFFF), l.height);
  return l;
}

ImageInfo peek_tiff(const uint8_t* data, size_t size) {
  const TiffFile file(data, size);
  const Layout l = layout_of(file);
  ImageInfo info;
  info.width = l.width;
  info.height = l.height;
  info.channels = l.channels();
  info.bits = l.bits_out();
  info.orientation = l.orientation;
  return info;
}

// How many bytes can come out of one; 0: any number.
size_t most_from_a_byte(int compression) {
  switch (compression) {
    case COMPRESSION_NONE: return 1;
    case COMPRESSION_PACKBITS: return 128;
    case COMPRESSION_DEFLATE: case COMPRESSION_ADOBE_DEFLATE: return 1032;
    case COMPRESSION_LZW: return 4096;
    default: return 0;
  }
}

// `count` numbers from position `first` of a row as libtiff gives it, at full scale, `step` places apart.
template <class T>
void unpack(const uint8_t* row, int bits, int64_t first, int64_t count, T* to, int64_t step) {
  if (size_t(bits) == 8 * sizeof(T)) {
    const uint8_t* from = row + size_t(first) * sizeof(T);
    if (step == 1) {
      std::memcpy(to, from, size_t(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; i++) std::memcpy(to + i * step, from + size_t(i) * sizeof(T), sizeof(T));
    }
    return;
  }
  if constexpr (!std::is_floating_point_v<T>) {
    const uint32_t most = (1u << bits) - 1, full = T(-1);
    for (int64_t i = 0; i < count; i++) {
      uint32_t v = 0;
      for (int64_t bit = (first + i) * bits, left = bits; left > 0;) {
        const int n = int(std::min<int64_t>(left, 8 - (bit & 7)));
        v = v << n | (row[bit >> 3] >> (8 - n - int(bit & 7)) & ((1u << n) - 1));
        bit += n, left -= n;
      }
      // Up to 8 bits are stretched, more are shifted: as DALI has it.
      to[i * step] = T(bits < 8 ? v * full / most : v << (8 * int(sizeof(T)) - bits));
    }
  }
}

class TiffReader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    size_ = size;
    const TiffFile file(data, size);
    const Layout l = layout_of(file);
    if (l.width != info.width || l.height != info.height || l.channels() != info.channels)
      file.give_up("its header has changed");
    const bool cmyk = l.photometric == PHOTOMETRIC_SEPARATED && l.samples >= 4 && !l.by_library;
    rows_.begin(info.stored_type(), info.channels, cmyk ? Colours::cmyk : usual_colours(info.channels), request, sink);
    if (l.by_library) return convert(file, l, request.window);
    if (l.palette()) return push_palette(file, l, request.window);
    if (l.floats) push_blocks<float>(file, l, request.window);
    else if (l.bits > 8) push_blocks<uint16_t>(file, l, request.window);
    else push_blocks<uint8_t>(file, l, request.window);
  }

 private:
  // The whole picture, as libtiff thinks best.
  void convert(const TiffFile& file, const Layout& l, const Window& w) {
    const TiffApi& api = TiffApi::get();
    char why[1024] = "";
    if (!api.RGBAImageOK(file.get(), why)) file.give_up(why);
    std::vector<uint32_t> picture(size_t(l.width) * size_t(l.height));
    if (!api.ReadRGBAImageOriented(file.get(), uint32_t(l.width), uint32_t(l.height), picture.data(), l.orientation, 1))
      file.give_up("its data is broken");
    band_.resize(size_t(w.width()) * 3);
    for (int64_t y = w.y0; y < w.y1; y++) {
      const uint32_t* from = picture.data() + y * l.width + w.x0;
      for (size_t x = 0; x < size_t(w.width()); x++) {
        band_[3 * x] = uint8_t(TIFFGetR(from[x]));
        band_[3 * x + 1] = uint8_t(TIFFGetG(from[x]));
        band_[3 * x + 2] = uint8_t(TIFFGetB(from[x]));
      }
      rows_.push(y, band_.data());
    }
  }

  // Decodes a block's first `lines` lines into block_.
  void read_block(const TiffFile& file, const Layout& l, int64_t x, int64_t y, int sample, size_t row, int64_t lines) {
    const TiffApi& api = TiffApi::get();
    const size_t bytes = row * size_t(lines);
    // Before memory is taken for what a header claims.
    if (const size_t most = most_from_a_byte(l.compression); most && bytes / most > size_)
      file.give_up("its data is broken or truncated");
    if (block_.size() < bytes + kRowSlack) block_.resize(bytes + kRowSlack);
    // Of broken blocks libtiff may leave out a part, and call it a success: what another block left must not show.
    if (l.compression != COMPRESSION_NONE) std::fill_n(block_.begin(), bytes, uint8_t(0));
    const uint32_t number = l.tiled ? api.ComputeTile(file.get(), uint32_t(x), uint32_t(y), 0, uint16_t(sample))
                                    : api.ComputeStrip(file.get(), uint32_t(y), uint16_t(sample));
    const auto read = l.tiled ? api.ReadEncodedTile : api.ReadEncodedStrip;
    const tmsize_t got = read(file.get(), number, block_.data(), tmsize_t(bytes));
    if (got < 0 || size_t(got) < bytes) file.give_up("its data is broken or truncated");
  }

  // Calls f(y, row) for the window's rows of stored samples.
  template <class T, class F> void for_rows(const TiffFile& file, const Layout& l, const Window& w, F f) {
    const TiffApi& api = TiffApi::get();
    const int planes = l.planar ? l.samples : 1, together = l.planar ? 1 : l.samples;
    const uint64_t row = l.tiled ? api.TileRowSize64(file.get()) : api.ScanlineSize64(file.get());
    // Tiles may be larger than the picture, but not out of all proportion.
    constexpr int64_t kLargestTile = int64_t(1) << 26;
    if (l.block_width < 1 || l.block_height < 1 || l.block_width > kLargestTile ||
        (l.tiled && l.block_height > kLargestTile / l.block_width) ||
        row < (uint64_t(l.block_width) * uint64_t(together) * uint64_t(l.bits) + 7) / 8)
      file.give_up("its blocks are of an impossible size");
    const size_t stride = size_t(w.width()) * size_t(l.samples) * sizeof(T);
    for (int64_t top = w.y0 / l.block_height * l.block_height; top < w.y1; top += l.block_height) {
      const int64_t y0 = std::max(top, w.y0), y1 = std::min(top + l.block_height, w.y1);
      band_.resize(stride * size_t(y1 - y0));
      for (int64_t left = w.x0 / l.block_width * l.block_width; left < w.x1; left += l.block_width) {
        const int64_t x0 = std::max(left, w.x0), x1 = std::min(left + l.block_width, w.x1);
        for (int s = 0; s < planes; s++) {
          read_block(file, l, left, top, s, size_t(row), l.tiled ? l.block_height : y1 - top);
          for (int64_t y = y0; y < y1; y++) {
            T* to = reinterpret_cast<T*>(band_.data() + size_t(y - y0) * stride) + (x0 - w.x0) * l.samples + s;
            unpack(block_.data() + size_t(y - top) * size_t(row), l.bits, (x0 - left) * together,
                   (x1 - x0) * together, to, planes > 1 ? l.samples : 1);
          }
        }
      }
      for (int64_t y = y0; y < y1; y++) f(y, reinterpret_cast<T*>(band_.data() + size_t(y - y0) * stride));
    }
  }

  template <class T> void push_blocks(const TiffFile& file, const Layout& l, const Window& w) {
    const bool inverted = l.photometric == PHOTOMETRIC_MINISWHITE;
    const T full = std::is_floating_point_v<T> ? T(1) : std::numeric_limits<T>::max();
    for_rows<T>(file, l, w, [&](int64_t y, T* row) {
      if (inverted)
        for (int64_t i = 0; i < w.width() * l.samples; i++) row[i] = T(full - row[i]);
      rows_.push(y, row);
    });
  }

  void push_palette(const TiffFile& file, const Layout& l, const Window& w) {
    uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    if (!TiffApi::get().GetField(file.get(), TIFFTAG_COLORMAP, &red, &green, &blue)) file.give_up("it has no palette");
    colours_.resize(size_t(w.width()) * 3);
    // Indices come stretched or shifted to full scale, like gray.
    const auto push = [&](int64_t y, const auto* row) {
      using T = std::remove_cvref_t<decltype(*row)>;
      for (size_t x = 0; x < size_t(w.width()); x++) {
        const size_t i = size_t(row[x]) >> (8 * sizeof(T) - size_t(l.bits));
        colours_[3 * x] = red[i];
        colours_[3 * x + 1] = green[i];
        colours_[3 * x + 2] = blue[i];
      }
      rows_.push(y, colours_.data());
    };
    if (l.bits > 8) for_rows<uint16_t>(file, l, w, push);
    else for_rows<uint8_t>(file, l, w, push);
  }

  ChannelRows rows_;
  size_t size_ = 0;                  // of the file
  std::vector<uint8_t> block_, band_;
  std::vector<uint16_t> colours_;
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "TIFF",
    .patterns = "*.tif *.tiff",
    .library = "libtiff",
    .sniff = sniff,
    .peek = peek_tiff,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<TiffReader>()); },
    .sample =
      "II*\000\026\000\000\000x\234;\221btb(#\000#\357W\201\012\000\000\001\003\000\001\000\000\000\010\000\000"
      "\000\001\001\003\000\001\000\000\000\010\000\000\000\002\001\003\000\003\000\000\000\224\000\000\000\003"
      "\001\003\000\001\000\000\000\010\000\000\000\006\001\003\000\001\000\000\000\002\000\000\000\021\001\004"
      "\000\001\000\000\000\010\000\000\000\025\001\003\000\001\000\000\000\003\000\000\000\026\001\003\000\001"
      "\000\000\000\010\000\000\000\027\001\004\000\001\000\000\000\016\000\000\000\034\001\003\000\001\000\000"
      "\000\001\000\000\000\000\000\000\000\010\000\010\000\010\000"sv,
});

}  // namespace
}  // namespace ps
