// Which branch a sample takes.
#pragma once

#include "core/operator.h"

namespace ps {

class Predicate {
 public:
  explicit Predicate(const Spec& s) : value_(s.arg<bool>("predicate")) {}

  // That it is one truth value: the engine goes by it.
  void check(const Context& c) const {
    const Tensor* t = value_.tensor(c);
    if (!t) fail(ErrorKind::argument, "predicate: expected a value per sample");
    if (t->dtype != DType::boolean)
      fail(ErrorKind::type, std::string("predicate: expected BOOL, got ") + name_of(t->dtype));
    if (t->shape.ndim != 0)
      fail(ErrorKind::argument, "predicate: expected one value, without axes, got the shape " + to_string(t->shape));
  }
  bool get(const Context& c) const { return *value_.tensor(c)->as<uint8_t>() != 0; }

 private:
  Arg<bool> value_;
};

}  // namespace ps
