#include "rows/frames.h"

namespace ps {
void SequenceSource::run(const Context& c) const {
  FramesInMemory frames(c.out(0));
  produce(c, frames);
}

}  // namespace ps
