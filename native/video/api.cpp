// The library's one door.
#include "video/api.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "video/decoder.h"
#include "video/feed.h"
#include "video/make_index.h"

using namespace ps;

struct psv_index {
  std::vector<int64_t> block;
};

struct psv_decoder {
  Input input;
  VideoIndex index;
  Decoder decoder;
  psv_decoder(const psv_source& source, const void* data, int64_t most_pixels)
      : input(source), index(data), decoder(input, index, most_pixels) {}
};

struct psv_feed {
  Input input;
  VideoIndex index;
  Feed feed;
  psv_feed(const psv_source& source, const void* data) : input(source), index(data), feed(input, index) {}
};

namespace {

void note(psv_failure* to, ErrorKind kind, const char* text) {
  to->kind = int32_t(kind);
  std::snprintf(to->text, sizeof to->text, "%s", text);
}

// Null, and a note of why, where it throws.
template <class F> auto guarded(psv_failure* failure, F call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& e) {
    note(failure, e.kind, e.what());
  } catch (const std::bad_alloc&) {
    note(failure, ErrorKind::memory, "out of memory");
  } catch (const std::exception& e) {
    note(failure, ErrorKind::internal, e.what());
  }
  return {};
}

psv_index* make_index(const psv_source* source, int64_t most_pixels, psv_failure* failure) {
  return guarded(failure, [&] {
    Input input(*source);
    return new psv_index{make_video_index(input, most_pixels)};
  });
}

const void* index_data(const psv_index* index, size_t* bytes) {
  *bytes = size_t(VideoIndex(index->block.data()).head().bytes);
  return index->block.data();
}

void free_index(psv_index* index) { delete index; }

psv_decoder* open_decoder(const psv_source* source, const void* index, int64_t most_pixels, psv_failure* failure) {
  return guarded(failure, [&] { return new psv_decoder(*source, index, most_pixels); });
}

int decode(psv_decoder* d, const int64_t* frames, int64_t count, psv_take take, void* user, psv_failure* failure) {
  return guarded(failure, [&] {
    if (!d->decoder.decode(frames, count, take, user)) fail(ErrorKind::stopped, "stopped");
    return 1;
  });
}

void close_decoder(psv_decoder* decoder) { delete decoder; }

void coding(const void* index, psv_coding* to) { *to = coding_of(VideoIndex(index)); }

psv_feed* open_feed(const psv_source* source, const void* index, psv_failure* failure) {
  return guarded(failure, [&] { return new psv_feed(*source, index); });
}

int packet(psv_feed* f, int64_t number, int restarts, const uint8_t** data, int64_t* bytes, psv_failure* failure) {
  return guarded(failure, [&] {
    f->feed.packet(number, restarts != 0, data, bytes);
    return 1;
  });
}

void close_feed(psv_feed* feed) { delete feed; }

const char* libraries() {
  static const std::string text = [] {
    const auto version = [](const char* name, unsigned v) {
      return std::string(name) + " " + std::to_string(v >> 16) + "." + std::to_string(v >> 8 & 255) + "." +
             std::to_string(v & 255);
    };
    return version("libavformat", avformat_version()) + ", " + version("libavcodec", avcodec_version());
  }();
  return text.c_str();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const psv_api* penstock_video_api() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_QUIET);   // it would print; errors are ours to tell
  });
  static const psv_api api = {PSV_VERSION, make_index,    index_data,    free_index,
                              open_decoder, decode,       close_decoder, coding,
                              open_feed,    packet,       close_feed,    libraries};
  return &api;
}
