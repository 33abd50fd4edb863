// The C ABI over indexes of videos.
#include <memory>
#include <vector>

#include "abi/guard.h"
#include "decode/video/library.h"
#include "decode/video/video.h"
#include "penstock.h"

using namespace ps;

struct ps_video_index {
  std::vector<int64_t> block;
};

ps_video_index* ps_video_index_make(const char* path, const void** data, int64_t* bytes) {
  std::unique_ptr<ps_video_index> made;
  guarded([&] {
    VideoBytes video(open_file(path));
    made = std::make_unique<ps_video_index>(ps_video_index{index_video(video)});
    return 0;
  });
  if (!made) return nullptr;
  *data = made->block.data();
  *bytes = VideoIndex(made->block.data()).head().bytes;
  return made.release();
}

int ps_video_index_check(const void* data, int64_t bytes) { return VideoIndex::is_sound(data, size_t(bytes)); }

void ps_video_index_destroy(ps_video_index* index) { delete index; }

const char* ps_video_libraries(void) {
  const char* found = nullptr;
  guarded([&] {
    found = video_library().libraries();
    return 0;
  });
  return found;
}
