// Settings in the environment that are numbers of bytes.
#pragma once

#include <cstddef>

namespace ps {

// Bytes, or with a letter behind: K, M or G, of 1024, 1024^2, 1024^3. Not set or empty: `otherwise`. Throws
// Error(argument) where it is neither.
size_t bytes_setting(const char* variable, size_t otherwise);

}  // namespace ps
