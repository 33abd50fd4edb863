#include "decode/video/library.h"

#include "core/error.h"
#include "decode/library.h"

namespace ps {
namespace {

constexpr CodecLibrary kLibrary{
    "libpenstock_video", "videos", "./dev build of a checkout, with the packages libavformat-dev and libavcodec-dev,",
    {}, "in any format"};

}  // namespace

const psv_api& video_library() {
  static const psv_api& api = []() -> const psv_api& {
    psv_get_api get = nullptr;
    find_symbol(kLibrary.open(), "penstock_video_api", get);
    require(get, kLibrary);
    const psv_api* found = get();
    require(found->version == PSV_VERSION, kLibrary);
    return *found;
  }();
  return api;
}

}  // namespace ps
