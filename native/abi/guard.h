// How the C ABI's functions tell of failures.
#pragma once

#include <new>

#include "run/batch.h"

namespace ps {

extern thread_local Failure last_failure;    // what ps_error() tells

inline int failed(Failure f) {
  last_failure = std::move(f);
  return -1;
}

template <class F> int guarded(F f) {
  try {
    return f();
  } catch (const Error& e) {
    return failed({e.kind, -1, -1, e.what(), ""});
  } catch (const std::bad_alloc&) {
    return failed({ErrorKind::memory, -1, -1, "the system refused memory", ""});
  } catch (const std::exception& e) {
    return failed({ErrorKind::internal, -1, -1, e.what(), ""});
  }
}

}  // namespace ps
