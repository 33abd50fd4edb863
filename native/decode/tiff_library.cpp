#include "decode/tiff_library.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "core/error.h"
#include "decode/library.h"

namespace ps {
namespace {

constexpr CodecLibrary kLibrary{
    "libtiff", "TIFF", "the package libtiff6 of Debian and Ubuntu (libtiff5 before), or `pip install pillow`,",
    {"libtiff.so.6", "libtiff.so.5"}};

}  // namespace

TiffApi::TiffApi() {
  void* library = kLibrary.open();
  bool all = true;
#define PS_TIFF(name) find_symbol(library, "TIFF" #name, name), all = all && name;
  PS_TIFF_FUNCTIONS(PS_TIFF)
  require(all, kLibrary);
  PS_TIFF_NEWER_FUNCTIONS(PS_TIFF)
#if TIFFLIB_VERSION >= 20221213
  if (all) return;
#endif
#undef PS_TIFF
  SetErrorHandler(nullptr);       // it would print
  SetWarningHandler(nullptr);
}

const TiffApi& TiffApi::get() {
  static const TiffApi found;
  return found;
}

struct TiffFile::Memory {
  static TiffFile& file(thandle_t h) { return *static_cast<TiffFile*>(h); }
  static tmsize_t read(thandle_t h, void* to, tmsize_t bytes) {
    TiffFile& f = file(h);
    const size_t n = std::min(size_t(std::max<tmsize_t>(bytes, 0)), f.size_ - f.at_);
    if (n) std::memcpy(to, f.data_ + f.at_, n);
    f.at_ += n;
    return tmsize_t(n);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t h, toff_t offset, int whence) {
    TiffFile& f = file(h);
    const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f.at_ : f.size_;
    f.at_ = size_t(std::min<toff_t>(base + offset, f.size_));
    return f.at_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t h) { return file(h).size_; }
  static int map(thandle_t h, void** base, toff_t* size) {
    *base = const_cast<uint8_t*>(file(h).data_);     // it is opened for reading
    *size = file(h).size_;
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}
};

int TiffFile::on_message(TIFF*, void* user, const char*, const char* format, va_list values) {
  auto& message = static_cast<TiffFile*>(user)->message_;
  if (!message.empty()) return 1;
  char text[256];
  std::vsnprintf(text, sizeof text, format, values);
  message = text;
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.pop_back();
  return 1;
}

TiffFile::TiffFile(const uint8_t* data, size_t size) : data_(data), size_(size) {
  const TiffApi& a = TiffApi::get();
#if TIFFLIB_VERSION >= 20221213
  if (a.ClientOpenExt && a.OpenOptionsAlloc && a.OpenOptionsFree && a.OpenOptionsSetErrorHandlerExtR &&
      a.OpenOptionsSetWarningHandlerExtR) {
    TIFFOpenOptions* options = a.OpenOptionsAlloc();
    if (!options) fail(ErrorKind::memory, "libtiff got no memory");
    a.OpenOptionsSetErrorHandlerExtR(options, on_message, this);
    a.OpenOptionsSetWarningHandlerExtR(options, [](TIFF*, void*, const char*, const char*, va_list) { return 1; },
                                       nullptr);
    tiff_ = a.ClientOpenExt("memory", "r", this, Memory::read, Memory::write, Memory::seek, Memory::close,
                            Memory::size, Memory::map, Memory::unmap, options);
    a.OpenOptionsFree(options);
  } else
#endif
    tiff_ = a.ClientOpen("memory", "r", this, Memory::read, Memory::write, Memory::seek, Memory::close, Memory::size,
                         Memory::map, Memory::unmap);
  if (!tiff_) give_up("its header is broken or truncated");
}

TiffFile::~TiffFile() {
  if (tiff_) TiffApi::get().Close(tiff_);
}

void TiffFile::give_up(const char* otherwise) const {
  fail(ErrorKind::decode, "this TIFF cannot be decoded: " + (message_.empty() ? otherwise : message_));
}

}  // namespace ps
