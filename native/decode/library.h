// Codec libraries that are looked for when a picture first needs them, and never linked: each format works, or says
// what is missing, for itself.
#pragma once

#include <initializer_list>
#include <string>

namespace ps {

// Where a library lies, by the name that CodecLibrary has for it: Python knows what pip has installed. It has an effect
// on libraries that are not loaded yet.
void set_codec_path(std::string name, std::string path);

struct CodecLibrary {
  const char* name;        // "libtiff": PENSTOCK_LIBTIFF in the environment is its path, if set
  const char* format;      // what it decodes, for messages: "TIFF"
  const char* packages;    // that bring it
  std::initializer_list<const char*> sonames;
  const char* kind = "pictures";        // of that format

  // Tried in turn: the environment's path; then the wheel's own ("libtiff-penstock.so" beside this library), the
  // system's libraries, the path that was set. It stays loaded for good.
  // Throws Error(unsupported), which says what to install.
  void* open() const;
};

// Null where the library has no such function.
void* find_symbol(void* library, const char* function);

template <class F>
void find_symbol(void* library, const char* function, F*& to) {
  to = reinterpret_cast<F*>(find_symbol(library, function));
}

// Throws Error(unsupported): the library lacks a function, so it is too old.
void require(bool all_found, const CodecLibrary& library);

}  // namespace ps
