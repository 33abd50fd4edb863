// The source of a library's functor for the GPU.
#pragma once

#include <string>

#include "include/penstock/operator.h"

namespace ps::custom {

// Names of several libraries stay apart: "mine.sepia" is in penstock_custom::op_mine::op_sepia.
inline std::string device_space(const penstock_operator& op) {
  std::string name = "penstock_custom::op_";
  for (const char* p = op.name; *p; p++) name += *p == '.' ? "::op_" : std::string(1, *p);
  return name;
}
inline std::string device_type(const penstock_operator& op) { return device_space(op) + "::" + op.device_type; }

inline std::string device_text(const penstock_operator& op) {
  return "namespace " + device_space(op) + " {\n" + op.device_source + "\nstatic_assert(sizeof(" + op.device_type +
         ") == " + std::to_string(op.params_bytes) + " && alignof(" + op.device_type +
         ") == " + std::to_string(op.params_align) + ", \"the struct is not that of the host\");\n}\n";
}

}  // namespace ps::custom
