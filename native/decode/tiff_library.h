// libtiff's functions, found when the first TIFF file comes, and a file in memory as libtiff sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tiffio.h>

namespace ps {

// Those that are needed, without their prefix.
#define PS_TIFF_FUNCTIONS(X)                                                                                        \
  X(ClientOpen) X(Close) X(GetField) X(GetFieldDefaulted) X(SetField) X(IsTiled) X(ScanlineSize64) X(TileRowSize64) \
  X(ComputeTile) X(ComputeStrip) X(ReadEncodedTile) X(ReadEncodedStrip) X(RGBAImageOK) X(ReadRGBAImageOriented)     \
  X(SetErrorHandler) X(SetWarningHandler)

// Since 4.5; without them messages are lost.
#if TIFFLIB_VERSION >= 20221213
#define PS_TIFF_NEWER_FUNCTIONS(X)                                \
  X(ClientOpenExt) X(OpenOptionsAlloc) X(OpenOptionsFree)         \
  X(OpenOptionsSetErrorHandlerExtR) X(OpenOptionsSetWarningHandlerExtR)
#else
#define PS_TIFF_NEWER_FUNCTIONS(X)
#endif

struct TiffApi {
#define PS_TIFF(name) decltype(&TIFF##name) name = nullptr;
  PS_TIFF_FUNCTIONS(PS_TIFF)
  PS_TIFF_NEWER_FUNCTIONS(PS_TIFF)
#undef PS_TIFF
  static const TiffApi& get();     // throws Error(unsupported) where there is none

 private:
  TiffApi();
};

// The first picture of a file. Does not move: libtiff holds its address.
class TiffFile {
 public:
  TiffFile(const uint8_t* data, size_t size);    // throws Error(decode)
  ~TiffFile();
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_; }
  template <class T> T field(uint32_t tag, T otherwise = {}) const {
    T value{};
    return TiffApi::get().GetFieldDefaulted(tiff_, tag, &value) ? value : otherwise;
  }
  [[noreturn]] void give_up(const char* otherwise) const;   // with libtiff's own words, if it had any

 private:
  struct Memory;
  static int on_message(TIFF*, void* user, const char* module, const char* format, va_list values);
  const uint8_t* data_;
  size_t size_, at_ = 0;
  TIFF* tiff_ = nullptr;
  mutable std::string message_;
};

}  // namespace ps
