// Files in the memory of the process, by names such as "memory://photographs/1.jpg".
#pragma once

#include <cstddef>
#include <string>

namespace ps {

// Copied, and in place of an older one: readers that have that one open keep reading it. Throws Error(argument) for
// other names.
void put_memory_file(const std::string& name, const void* data, size_t bytes);
void remove_memory_file(const std::string& name);

}  // namespace ps
