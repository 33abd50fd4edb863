// The C ABI over what decoders of pictures are told.
#include "penstock.h"

#include "abi/guard.h"
#include "decode/library.h"
#include "decode/limit.h"

using namespace ps;

void ps_decode_set_max_pixels(int64_t pixels) { set_max_decoded_pixels(pixels); }

int ps_decode_set_library(const char* name, const char* path) {
  return guarded([&] {
    set_codec_path(name, path);
    return 0;
  });
}
