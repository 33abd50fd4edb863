#include "decode/audio/library.h"

#include "decode/library.h"

namespace ps {
namespace {

constexpr CodecLibrary kLibrary{
    "libsndfile", "Sound", "the package libsndfile1 of Debian and Ubuntu, or `pip install soundfile`,",
    {"libsndfile.so.1"}, "files"};

}  // namespace

SndLibrary::SndLibrary() {
  void* library = kLibrary.open();
  bool all = true;
#define PS_SND(name) find_symbol(library, "sf_" #name, name), all = all && name;
  PS_SND(open_virtual) PS_SND(close) PS_SND(strerror) PS_SND(seek)
  PS_SND(readf_float) PS_SND(readf_short) PS_SND(readf_int) PS_SND(read_raw)
#undef PS_SND
  require(all, kLibrary);
}

const SndLibrary& SndLibrary::get() {
  static const SndLibrary found;
  return found;
}

}  // namespace ps
