// JPEG 2000 by OpenJPEG: JP2 files and bare codestreams, to 16 bits; windows by its decode area.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <openjpeg.h>

#include "core/error.h"
#include "decode/channels.h"
#include "decode/jpeg2000_header.h"
#include "decode/library.h"

namespace ps {
namespace {

using namespace std::string_view_literals;

constexpr CodecLibrary kLibrary{
    "libopenjp2", "JPEG 2000", "the package libopenjp2-7 of Debian and Ubuntu, or `pip install pillow`,",
    {"libopenjp2.so.7"}};

struct Api {
#define PS_OPENJPEG(name) decltype(&opj_##name) name = nullptr
  PS_OPENJPEG(create_decompress);
  PS_OPENJPEG(destroy_codec);
  PS_OPENJPEG(set_default_decoder_parameters);
  PS_OPENJPEG(setup_decoder);
  PS_OPENJPEG(read_header);
  PS_OPENJPEG(set_decode_area);
  PS_OPENJPEG(decode);
  PS_OPENJPEG(image_destroy);
  PS_OPENJPEG(set_error_handler);
  PS_OPENJPEG(stream_create);
  PS_OPENJPEG(stream_destroy);
  PS_OPENJPEG(stream_set_read_function);
  PS_OPENJPEG(stream_set_skip_function);
  PS_OPENJPEG(stream_set_seek_function);
  PS_OPENJPEG(stream_set_user_data);
  PS_OPENJPEG(stream_set_user_data_length);
#undef PS_OPENJPEG
  Api() {
    void* library = kLibrary.open();
    bool all = true;
    const auto find = [&](const char* function, auto& to) {
      find_symbol(library, function, to);
      all = all && to;
    };
    find("opj_create_decompress", create_decompress);
    find("opj_destroy_codec", destroy_codec);
    find("opj_set_default_decoder_parameters", set_default_decoder_parameters);
    find("opj_setup_decoder", setup_decoder);
    find("opj_read_header", read_header);
    find("opj_set_decode_area", set_decode_area);
    find("opj_decode", decode);
    find("opj_image_destroy", image_destroy);
    find("opj_set_error_handler", set_error_handler);
    find("opj_stream_create", stream_create);
    find("opj_stream_destroy", stream_destroy);
    find("opj_stream_set_read_function", stream_set_read_function);
    find("opj_stream_set_skip_function", stream_set_skip_function);
    find("opj_stream_set_seek_function", stream_set_seek_function);
    find("opj_stream_set_user_data", stream_set_user_data);
    find("opj_stream_set_user_data_length", stream_set_user_data_length);
    require(all, kLibrary);
  }
};

const Api& api() {
  static const Api found;
  return found;
}

bool sniff(const uint8_t* data, size_t size) {
  return jpeg2000::is_file(data, size) || jpeg2000::is_stream(data, size);
}

// OpenJPEG's stream over memory.
struct Input {
  const uint8_t* data;
  size_t size, at;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T bytes, void* user) {
    Input& in = *static_cast<Input*>(user);
    if (in.at >= in.size) return OPJ_SIZE_T(-1);
    const size_t n = std::min<size_t>(bytes, in.size - in.at);
    std::memcpy(to, in.data + in.at, n);
    in.at += n;
    return n;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T bytes, void* user) {
    Input& in = *static_cast<Input*>(user);
    if (bytes < 0 || in.at >= in.size) return -1;
    const size_t n = std::min<size_t>(size_t(bytes), in.size - in.at);
    in.at += n;
    return OPJ_OFF_T(n);
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
    Input& in = *static_cast<Input*>(user);
    if (to < 0 || size_t(to) > in.size) return OPJ_FALSE;
    in.at = size_t(to);
    return OPJ_TRUE;
  }
};

// What one decoding needs of the library.
struct Session {
  opj_codec_t* codec = nullptr;
  opj_stream_t* stream = nullptr;
  opj_image_t* image = nullptr;
  std::string message;
  ~Session() {
    if (image) api().image_destroy(image);
    if (stream) api().stream_destroy(stream);
    if (codec) api().destroy_codec(codec);
  }
  static void on_error(const char* text, void* user) {
    auto& message = static_cast<Session*>(user)->message;
    if (!message.empty() || !text) return;
    message = text;
    while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  }
  [[noreturn]] void give_up(const char* otherwise) const {
    fail(ErrorKind::decode, "this JPEG 2000 cannot be decoded: " + (message.empty() ? otherwise : message));
  }
};

class Jpeg2000Reader : public PictureReader {
 public:
  void read(const uint8_t* data, size_t size, const ImageInfo& info, const PictureRequest& request,
            RowSink& sink) override {
    jpeg2000::check_packets(data, size);
    Session s;
    Input input{data, size, 0};
    decode(s, input, info, request.window);
    const bool cmyk = s.image->color_space == OPJ_CLRSPC_CMYK && info.channels >= 4;
    rows_.begin(info.stored_type(), info.channels, cmyk ? Colours::cmyk : usual_colours(info.channels), request, sink,
                Luma::bits15);
    if (info.bits > 8) push_rows<uint16_t>(*s.image, info, request.window);
    else push_rows<uint8_t>(*s.image, info, request.window);
  }

 private:
  static void decode(Session& s, Input& input, const ImageInfo& info, const Window& w) {
    const Api& a = api();
    s.codec = a.create_decompress(jpeg2000::is_stream(input.data, input.size) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    s.stream = a.stream_create(size_t(1) << 16, OPJ_TRUE);
    if (!s.codec || !s.stream) fail(ErrorKind::memory, "OpenJPEG got no memory");
    a.set_error_handler(s.codec, Session::on_error, &s);
    a.stream_set_read_function(s.stream, Input::read);
    a.stream_set_skip_function(s.stream, Input::skip);
    a.stream_set_seek_function(s.stream, Input::seek);
    a.stream_set_user_data(s.stream, &input, nullptr);
    a.stream_set_user_data_length(s.stream, input.size);
    opj_dparameters_t parameters;
    a.set_default_decoder_parameters(&parameters);
    if (!a.setup_decoder(s.codec, &parameters) || !a.read_header(s.stream, s.codec, &s.image))
      s.give_up("its header is broken");
    const int64_t left = s.image->x0, top = s.image->y0;
    if (s.image->x1 - left != info.width || s.image->y1 - top != info.height)
      s.give_up("its headers contradict each other");
    const bool part = w.width() < info.width || w.height() < info.height;
    if (part && !a.set_decode_area(s.codec, s.image, OPJ_INT32(left + w.x0), OPJ_INT32(top + w.y0),
                                   OPJ_INT32(left + w.x1), OPJ_INT32(top + w.y1)))
      s.give_up("the window cannot be decoded");
    if (!a.decode(s.codec, s.stream, s.image)) s.give_up("its data is broken or truncated");
    check(s, info, left, top, w);
  }

  // That all channels are there, of the window.
  static void check(const Session& s, const ImageInfo& info, int64_t left, int64_t top, const Window& w) {
    const opj_image_t& image = *s.image;
    if (image.numcomps < unsigned(info.channels)) s.give_up("it lacks channels");
    for (int c = 0; c < info.channels; c++) {
      const opj_image_comp_t& k = image.comps[c];
      if (!k.data || k.w < 1 || k.h < 1 || k.dx < 1 || k.dy < 1 || k.prec < 1 || k.prec > unsigned(info.bits))
        s.give_up("a channel is missing");
      const bool whole = k.x0 <= left + w.x0 && k.y0 <= top + w.y0 && int64_t(k.x0) + k.w >= left + w.x1 &&
                         int64_t(k.y0) + k.h >= top + w.y1;
      if (k.dx == 1 && k.dy == 1 && !whole) s.give_up("a channel is not whole");
    }
  }

  // One row of a channel, from 0 to 2^prec - 1; where it is subsampled, its samples are repeated.
  static void unpack(const opj_image_comp_t& k, int64_t x, int64_t y, int64_t width, std::vector<int32_t>& to) {
    const int64_t line = std::clamp<int64_t>(y / k.dy - k.y0, 0, k.h - 1);
    const OPJ_INT32* row = k.data + line * k.w;
    const int32_t most = int32_t((1u << k.prec) - 1), offset = k.sgnd ? 1 << (k.prec - 1) : 0;
    if (k.dx == 1) {
      row += x - k.x0;
      for (int64_t i = 0; i < width; i++) to[size_t(i)] = std::clamp(row[i] + offset, 0, most);
    } else {
      for (int64_t i = 0; i < width; i++)
        to[size_t(i)] = std::clamp(row[std::clamp<int64_t>((x + i) / k.dx - k.x0, 0, k.w - 1)] + offset, 0, most);
    }
  }

  void to_rgb(int64_t width, uint32_t prec) {
    const float half = float(1u << (prec - 1)), most = float((1u << prec) - 1);
    const auto whole = [&](float v) { return int32_t(std::clamp(v, 0.0f, most) + 0.5f); };
    for (size_t i = 0; i < size_t(width); i++) {
      const float y = float(planes_[0][i]), cb = float(planes_[1][i]) - half, cr = float(planes_[2][i]) - half;
      planes_[0][i] = whole(y + 1.402f * cr);
      planes_[1][i] = whole(y - 0.344136f * cb - 0.714136f * cr);
      planes_[2][i] = whole(y + 1.772f * cb);
    }
  }

  template <class T> void push_rows(const opj_image_t& image, const ImageInfo& info, const Window& w) {
    const int channels = info.channels;
    const int64_t width = w.width();
    // The origin of the window: the library has moved the image's to it.
    const bool part = w.width() < info.width || w.height() < info.height;
    const int64_t left = int64_t(image.x0) - (part ? w.x0 : 0), top = int64_t(image.y0) - (part ? w.y0 : 0);
    const bool ycc = image.color_space == OPJ_CLRSPC_SYCC && channels >= 3;
    constexpr uint32_t full = T(-1);
    planes_.resize(size_t(channels));
    for (auto& p : planes_) p.resize(size_t(width));
    row_.resize(size_t(width * channels) * sizeof(T));
    T* row = reinterpret_cast<T*>(row_.data());
    for (int64_t y = w.y0; y < w.y1; y++) {
      for (int c = 0; c < channels; c++) unpack(image.comps[c], left + w.x0, top + y, width, planes_[size_t(c)]);
      if (ycc) to_rgb(width, image.comps[0].prec);
      for (int c = 0; c < channels; c++) {
        const uint32_t most = (1u << image.comps[c].prec) - 1;
        const int32_t* from = planes_[size_t(c)].data();
        if (most == full)
          for (int64_t x = 0; x < width; x++) row[x * channels + c] = T(from[x]);
        else
          for (int64_t x = 0; x < width; x++) row[x * channels + c] = T((uint32_t(from[x]) * full + most / 2) / most);
      }
      rows_.push(y, row);
    }
  }

  ChannelRows rows_;
  std::vector<std::vector<int32_t>> planes_;
  std::vector<uint8_t> row_;
};

[[maybe_unused]] const bool registered = add_codec({
    .name = "JPEG 2000",
    .patterns = "*.jp2",
    .library = "libopenjp2",
    .sniff = sniff,
    .peek = jpeg2000::peek,
    .make = [] { return std::unique_ptr<PictureReader>(std::make_unique<Jpeg2000Reader>()); },
    .sample =
      "\000\000\000\014jP  \015\012\207\012\000\000\000\024ftypjp2 \000\000\000\000jp2 \000\000\000-jp2h\000"
      "\000\000\026ihdr\000\000\000\010\000\000\000\010\000\003\007\007\000\000\000\000\000\017colr\001\000\000"
      "\000\000\000\020\000\000\000\247jp2c\377O\377Q\000/\000\000\000\000\000\010\000\000\000\010\000\000\000"
      "\000\000\000\000\000\000\000\000\010\000\000\000\010\000\000\000\000\000\000\000\000\000\003\007\001\001"
      "\007\001\001\007\001\001\377R\000\014\000\000\000\001\000\003\004\004\000\001\377\134\000\015@@HHPHHPHHP"
      "\377d\000%\000\001Created by OpenJPEG version 2.5.4\377\220\000\012\000\000\000\000\000&\000\001\377\223"
      "\317\264\010\004O\303\347\004\011o\317\264\010\006\317\200\200\200\200\200\200\200\200\200\377\331"sv,
});

}  // namespace
}  // namespace ps
