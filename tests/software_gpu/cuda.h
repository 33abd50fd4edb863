// The functions of NVIDIA's driver that native/cuda/driver/driver.h names, for GPUs that are threads of this process,
// and what they share. They are strict where a real driver may be lenient: what needs a context by its documentation
// fails without one, and copies run behind the host whatever memory they use.
//
// SOFTWARE_GPUS is the number of devices (1), SOFTWARE_GPU_MEMORY the bytes that each has, and SOFTWARE_GPU_DELAY_US
// how long a stream waits before each piece of its work.
#pragma once

#include <deque>

#include "cuda/driver/driver.h"
#include "handles.h"
#include "module.h"
#include "stream.h"

// What native/cuda/driver/driver.h takes them for, so a definition that differs does not compile.
#pragma GCC visibility push(default)
extern "C" {
using namespace ps::gpu;
#define DECLARE(name, ...) std::remove_pointer_t<__VA_ARGS__> name;
PS_CUDA_FUNCTIONS(DECLARE)
PS_CUDA_OPTIONAL(DECLARE)
#undef DECLARE

// Of this library alone: what the environment sets for the whole process, for one test.
void software_gpu_set_delay_us(unsigned microseconds);
void software_gpu_set_memory(size_t bytes);
}
#pragma GCC visibility pop

namespace software_gpu {

struct Event {
  Event(Context& c, bool t) : context(c), timed(t) {}
  Context& context;
  const bool timed;
  std::mutex mutex;
  MarkRef mark;                                    // where it was recorded last
  MarkRef latest() {
    std::lock_guard lock(mutex);
    return mark;
  }
  void record(MarkRef at) {
    std::lock_guard lock(mutex);
    mark = std::move(at);
  }
};

// Never destroyed: streams may still be at work when the process ends.
struct State {
  std::mutex mutex;                                // of cuInit
  std::atomic<pid_t> process = 0;                  // that called cuInit: a forked child has no GPU
  std::deque<Context> contexts;                    // one per device
  Handles<CUstream, Stream> streams;
  Handles<CUevent, Event> events;
  Handles<CUmodule, Module> modules;
  Handles<CUfunction, Function> functions;
};

State& state();
Context& current();                                // of this thread; throws Failure, as all that follow
Context& context_of(CUdevice device);
Context& context_of(CUcontext handle);
StreamRef stream_of(CUstream handle);              // the default streams too: those of the current context
inline void* pointer(CUdeviceptr p) { return reinterpret_cast<void*>(p); }

// The bodies of the driver's functions leave by Failure.
inline thread_local bool in_host_function = false;
bool in_process_of_init();
template <class F> CUresult call(F body) {
  if (in_host_function) return kNotPermitted;
  if (!in_process_of_init()) return kNotInitialized;
  try {
    body();
  } catch (const Failure& f) {
    return f.code;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
  return kSuccess;
}

}  // namespace software_gpu
