// What operators on rows do with pictures in memory.
#include "core/operator.h"
#include "rows/memory_rows.h"

namespace ps {

RowFormat RowOperator::format(const Tensor& t) const { return picture_format(t); }

void SourceOperator::run(const Context& c) const {
  MemorySink sink(c.out(0));
  produce(c, sink.window(), sink);
}

}  // namespace ps
