// A container of samples that is open.
#pragma once

#include <cstdint>
#include <memory>

#include "read/storage.h"

namespace ps {

// `place` is where the last range that was read of it ended.
struct Open {
  int64_t container = 0, place = 0;
  std::unique_ptr<StoredFile> file;
};

}  // namespace ps
