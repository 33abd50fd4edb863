// How many bytes of a file are read whole.
#pragma once

#include <string>

#include "core/bytes_setting.h"
#include "core/error.h"

namespace ps {

inline constexpr const char* kMostFileBytes = "PENSTOCK_MAX_FILE_BYTES";

// The largest picture that decoders take, uncompressed, has room.
inline size_t most_file_bytes() { return bytes_setting(kMostFileBytes, size_t(2) << 30); }

[[noreturn]] inline void refuse_size(const char* name, int64_t bytes, size_t most) {
  fail(ErrorKind::read, std::string("the file ") + name + " has " + std::to_string(bytes) +
       " bytes, and files are read whole: " + kMostFileBytes + " allows " + std::to_string(most));
}

}  // namespace ps
