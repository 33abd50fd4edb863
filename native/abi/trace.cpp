// The C ABI of profiles.
#include <algorithm>

#include "abi/executor.h"
#include "abi/guard.h"

using namespace ps;

static_assert(sizeof(ps_span) == sizeof(Span) && alignof(ps_span) == alignof(Span));

int ps_executor_record(ps_executor* e, int on) {
  return guarded([&] { e->use()->record(on != 0); return 0; });
}

int ps_executor_spans(ps_executor* e, ps_span* rows, int max_rows) {
  const auto executor = e->use();
  return executor ? executor->trace().read(reinterpret_cast<Span*>(rows), max_rows) : 0;
}

int64_t ps_executor_spans_lost(ps_executor* e) {
  const auto executor = e->use();
  return executor ? executor->trace().lost() : 0;
}

int ps_executor_passes(ps_executor* e, ps_passes* rows, int max_rows) {
  return guarded([&] {
    const auto passes = e->use()->passes();
    for (int i = 0; i < std::min(int(passes.size()), max_rows); i++) {
      const Passes& p = passes[size_t(i)];
      rows[i] = {p.first_node, p.misfit_node, p.samples, p.why};
    }
    return int(passes.size());
  });
}

int ps_executor_stage_stats(ps_executor* e, int64_t* ns, int max_rows) {
  return guarded([&] {
    const auto stats = e->use()->stats();
    for (int i = 0; i < std::min(int(stats.size()), max_rows); i++) ns[i] = stats[size_t(i)].stage_ns;
    return int(stats.size());
  });
}
