// Shared libraries that are looked for when they are first needed, and never linked.
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>

namespace ps::gpu {

// Where a library lies, for instance ("nvjpeg", "/.../libnvjpeg.so.13"): Python knows what pip has installed. It counts
// for libraries that are not loaded yet; an empty path takes the entry back.
void set_library_path(std::string name, std::string path);

// Loads the library from the path that was set, or else by the first of these names that the system finds, for good.
// Throws Error(device) where there is none: with `missing`, or saying which of Penstock's extras brings `title`.
void* open_library(const std::string& name, const char* title, std::initializer_list<const char*> sonames,
                   const char* missing = nullptr);

// Throws Error(device) where the library has no such function: it is too old.
void* find_function(void* library, const char* title, const char* function);

template <class F>
void find_function(void* library, const char* title, const char* function, F*& to) {
  to = reinterpret_cast<F*>(find_function(library, title, function));
}

}  // namespace ps::gpu
