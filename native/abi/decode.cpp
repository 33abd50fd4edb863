// The C ABI of the settings of picture decoders.
#include "penstock.h"

#include "abi/guard.h"
#include "decode/codec.h"
#include "decode/library.h"
#include "decode/limit.h"

using namespace ps;

void ps_decode_set_max_pixels(int64_t pixels) { set_max_decoded_pixels(pixels); }

int ps_decode_codecs(ps_codec* to, int n) {
  const std::vector<Codec>& all = codecs();
  for (int i = 0; i < n && size_t(i) < all.size(); i++) {
    const Codec& codec = all[size_t(i)];
    to[i] = {codec.name, codec.patterns, codec.library, codec.sample.data(), int64_t(codec.sample.size())};
  }
  return int(all.size());
}

int ps_decode_set_library(const char* name, const char* path) {
  return guarded([&] {
    set_codec_path(name, path);
    return 0;
  });
}
