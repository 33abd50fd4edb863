// What operators on rows do with pictures in memory.
#include <optional>

#include "core/operator.h"
#include "rows/memory_rows.h"

namespace ps {

RowFormat RowOperator::format(const Tensor& t) const { return picture_format(t); }

void SourceOperator::run(const Context& c) const {
  MemorySink sink(c.out(0));
  produce(c, sink.window(), sink);
}

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
