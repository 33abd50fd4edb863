// libtiff's functions, found when the first TIFF file comes, and a file in memory as libtiff sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tiffio.h>

namespace ps {

struct TiffApi {
#define PS_TIFF(name) decltype(&TIFF##name) name = nullptr
  PS_TIFF(ClientOpen);
  PS_TIFF(Close);
  PS_TIFF(GetField);
  PS_TIFF(GetFieldDefaulted);
  PS_TIFF(SetField);
  PS_TIFF(IsTiled);
  PS_TIFF(ScanlineSize64);
  PS_TIFF(TileRowSize64);
  PS_TIFF(ComputeTile);
  PS_TIFF(ComputeStrip);
  PS_TIFF(ReadEncodedTile);
  PS_TIFF(ReadEncodedStrip);
  PS_TIFF(RGBAImageOK);
  PS_TIFF(ReadRGBAImageOriented);
  PS_TIFF(SetErrorHandler);
  PS_TIFF(SetWarningHandler);
#undef PS_TIFF
#if TIFFLIB_VERSION >= 20221213
  // Since 4.5; without them messages are lost.
  decltype(&TIFFClientOpenExt) ClientOpenExt = nullptr;
  decltype(&TIFFOpenOptionsAlloc) OpenOptionsAlloc = nullptr;
  decltype(&TIFFOpenOptionsFree) OpenOptionsFree = nullptr;
  decltype(&TIFFOpenOptionsSetErrorHandlerExtR) OpenOptionsSetErrorHandlerExtR = nullptr;
  decltype(&TIFFOpenOptionsSetWarningHandlerExtR) OpenOptionsSetWarningHandlerExtR = nullptr;
#endif
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
