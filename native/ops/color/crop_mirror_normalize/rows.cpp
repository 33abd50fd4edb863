// Rows that are normalized, for all types.
#include "ops/color/crop_mirror_normalize/rows.h"

#include "ops/color/crop_mirror_normalize/types.h"

namespace ps {

NormalizeRow normalize_row(DType from, DType to, bool planes) {
  return visit_types(from, to, [&](auto f, auto t) -> NormalizeRow {
    using In = typename decltype(f)::type;
    using Out = typename decltype(t)::type;
    return planes ? normalize_to_planes<In, Out> : normalize_interleaved<In, Out>;
  });
}

}  // namespace ps
