// The host fills structs in that kernels read, and another compiler, at another time, makes the kernels. So a kernel's
// source says how each of these structs lies in the host's memory: the compiler refuses it where that is not so.
#pragma once

#include <cstddef>
#include <string>

#include "device/base/base.h"

namespace ps::gpu {

// A line of a kernel's source, behind its headers.
inline std::string layout(const std::string& type, size_t bytes, size_t align) {
  return "PS_LAYOUT(" + std::to_string(bytes) + ", " + std::to_string(align) + ", " + type + ");\n";
}
template <class T> std::string layout(const std::string& type) { return layout(type, sizeof(T), alignof(T)); }
// Of a type in ps::device that is no template.
#define PS_LAYOUT_OF(type) ::ps::gpu::layout<::ps::device::type>("ps::device::" #type)

}  // namespace ps::gpu
