#include "rows/frames.h"

#include <optional>

namespace ps {
namespace {

struct FramesInMemory : SequenceSource::Frames {
  Tensor& to;
  std::optional<MemorySink> sink;
  explicit FramesInMemory(Tensor& t) : to(t) {}
  RowSink& begin(int64_t frame, Window& wanted) override {
    sink.emplace(frame_of(to, frame), picture_format(to));
    wanted = sink->window();
    return *sink;
  }
};

}  // namespace

void SequenceSource::run(const Context& c) const {
  FramesInMemory frames(c.out(0));
  produce(c, frames);
}

}  // namespace ps
