// Names of types in penstock/device, for the sources of kernels. These are made at run time; so the macros here name
// the type to the host's compiler as well, which refuses one that is misspelt or gone. That the header has the type,
// tests/cuda/test_functors.py tries.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

namespace ps {

// The C++ type of a functor, and what must be included for it.
struct Functor {
  std::string type;                    // "ps::device::Flip"
  std::string header;                  // it is in, such as "device/boxes/bb_flip.h"
  size_t bytes = 0, align = 8;         // its size
  std::string tiled = {};              // stages: a type with the same fields that needs StageOperator::tile_bytes()
  std::string text = {};               // source that stands behind what is included: of types that no header has
};

// A template of penstock/device.
struct TypeTemplate {
  const char* name;                    // "ps::device::Warp"
  std::string of(const std::string& arguments) const { return std::string(name) + "<" + arguments + ">"; }
};
// That of a functor: all of its instantiations have the same fields.
struct FunctorTemplate {
  TypeTemplate type;
  const char* header;
  size_t bytes, align;
  Functor of(const std::string& arguments) const { return {type.of(arguments), header, bytes, align}; }
};

// PS_FUNCTOR(BbFlip, "boxes/bb_flip.h"): the type must be in ps::device.
#define PS_FUNCTOR(type, file) \
  ::ps::Functor{"ps::device::" #type, "device/" file, sizeof(::ps::device::type), alignof(::ps::device::type)}
// PS_FUNCTOR_TEMPLATE(EraseBoxes, "geometry/erase.h", uint8_t).of("float"): behind the header are the arguments of any
// instantiation. cpp_type() gives those of the one that is wanted.
#define PS_FUNCTOR_TEMPLATE(name, file, ...)                                                        \
  ::ps::FunctorTemplate{PS_DEVICE_TEMPLATE(name, __VA_ARGS__), "device/" file,                      \
                        sizeof(::ps::device::name<__VA_ARGS__>), alignof(::ps::device::name<__VA_ARGS__>)}
// The name of a type in ps::device, and of a template there, with the arguments of any instantiation: both may be
// declared only, for the host.
#define PS_DEVICE_TYPE(name) ((void)sizeof(std::type_identity<::ps::device::name>), "ps::device::" #name)
#define PS_DEVICE_TEMPLATE(name, ...) \
  ::ps::TypeTemplate{((void)sizeof(std::type_identity<::ps::device::name<__VA_ARGS__>>), "ps::device::" #name)}

}  // namespace ps
