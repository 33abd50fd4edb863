#include "core/converter.h"

#include "core/convert.h"

namespace ps {

Convert converter(DType from, DType to) {
  return visit(from, [&](auto f) {
    return visit(to, [&](auto t) -> Convert {
      return [](const void* a, void* b, size_t n) {
        convert_n(static_cast<const typename decltype(f)::type*>(a), static_cast<typename decltype(t)::type*>(b), n);
      };
    });
  });
}

}  // namespace ps
