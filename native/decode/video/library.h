// The library that decodes videos: libpenstock_video.so, which lies beside this one and is loaded when the first video
// comes. It needs FFmpeg's libraries, so all else works where these are not.
#pragma once

#include "video/api.h"

namespace ps {

const psv_api& video_library();      // throws Error(unsupported): it says what is missing

}  // namespace ps
