#include "decode/gzip.h"

#include <string>

#include "core/error.h"
#include "decode/library.h"

namespace ps {
namespace {

constexpr CodecLibrary kLibrary{"libz", "gzip-compressed FITS", "the package zlib1g of Debian and Ubuntu",
                                {"libz.so.1"}};
constexpr int kFinish = 4, kOk = 0, kStreamEnd = 1, kBufferError = -5;
constexpr int kEitherHeader = 15 + 32;

// zlib's z_stream, whose layout has not changed since 1995.
struct Stream {
  const uint8_t* next_in = nullptr;
  unsigned available_in = 0;
  unsigned long total_in = 0;
  uint8_t* next_out = nullptr;
  unsigned available_out = 0;
  unsigned long total_out = 0;
  const char* message = nullptr;
  void *state = nullptr, *allocate = nullptr, *release = nullptr, *opaque = nullptr;
  int data_type = 0;
  unsigned long adler = 0, reserved = 0;
};

struct Api {
  int (*inflateInit2_)(Stream*, int, const char*, int) = nullptr;
  int (*inflate)(Stream*, int) = nullptr;
  int (*inflateEnd)(Stream*) = nullptr;

  Api() {
    void* library = kLibrary.open();
    find_symbol(library, "inflateInit2_", inflateInit2_);
    find_symbol(library, "inflate", inflate);
    find_symbol(library, "inflateEnd", inflateEnd);
    require(inflateInit2_ && inflate && inflateEnd, kLibrary);
  }
};

}  // namespace

void inflate_gzip(const uint8_t* in, size_t bytes, uint8_t* out, size_t size) {
  static const Api api;
  if (bytes > UINT32_MAX || size > UINT32_MAX) fail(ErrorKind::unsupported, "a gzip stream has more than 4 GB");
  Stream stream;
  if (api.inflateInit2_(&stream, kEitherHeader, "1.2.0", int(sizeof stream)) != kOk)
    fail(ErrorKind::memory, "zlib has no memory");
  uint8_t none = 0;
  stream.next_in = in;
  stream.available_in = unsigned(bytes);
  stream.next_out = size ? out : &none;
  stream.available_out = unsigned(size);
  const int result = api.inflate(&stream, kFinish);
  const size_t have = size - stream.available_out;
  api.inflateEnd(&stream);
  if (result == kStreamEnd && have == size) return;
  if (result == kStreamEnd || (result == kBufferError && have == size))
    fail(ErrorKind::decode, "a gzip stream has other than " + std::to_string(size) + " bytes");
  fail(ErrorKind::decode, "a gzip stream is broken");
}

}  // namespace ps
