// Streams, events, modules and launches.
#include "cuda.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

using namespace software_gpu;

namespace {

// As a driver may, which takes locks: SOFTWARE_GPU_HOST_FUNCTION_MS has host functions begin so late, and events are
// not looked at while one is under way.
class HostFunctions {
 public:
  void run(CUhostFn function, void* data) {
    if (!late_.count()) return function(data);
    change(1);
    std::this_thread::sleep_for(late_);
    function(data);
    change(-1);
  }
  void wait() {
    if (!late_.count()) return;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_ == 0; });
  }

 private:
  void change(int by) {
    std::lock_guard lock(mutex_);
    under_way_ += by;
    changed_.notify_all();
  }
  static std::chrono::milliseconds setting() {
    const char* text = std::getenv("SOFTWARE_GPU_HOST_FUNCTION_MS");
    return std::chrono::milliseconds(text ? std::atoi(text) : 0);
  }
  const std::chrono::milliseconds late_ = setting();
  std::mutex mutex_;
  std::condition_variable changed_;
  int under_way_ = 0;
};
HostFunctions& host_functions() {
  static HostFunctions& all = *new HostFunctions;  // streams' threads may outlive the process's statics
  return all;
}

}  // namespace

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  return call([&] {
    require(flags <= kStreamNonBlocking);
    *stream = state().streams.add(current().add_stream());
  });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return call([&] {
    current();
    state().streams.remove(stream)->close();
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return call([&] { stream_of(stream)->wait(); });
}

CUresult cuStreamQuery(CUstream stream) {
  return call([&] { require(stream_of(stream)->idle(), kNotReady); });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return call([&] {
    const StreamRef s = stream_of(stream);
    if (const MarkRef mark = state().events.find(event)->latest()) s->submit([mark] { mark->wait(); });
  });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call([&] { *event = state().events.add(std::make_shared<Event>(current(), !(flags & kEventDisableTiming))); });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call([&] {
    current();
    state().events.remove(event);
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call([&] {
    const StreamRef s = stream_of(stream);
    const auto e = state().events.find(event);
    require(&e->context == &s->context(), kInvalidHandle);
    auto mark = std::make_shared<Mark>(1);
    e->record(mark);
    s->submit([mark] { mark->arrive(); });
  });
}

CUresult cuEventQuery(CUevent event) {
  return call([&] {
    host_functions().wait();
    const MarkRef mark = state().events.find(event)->latest();
    require(!mark || mark->passed(), kNotReady);
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return call([&] {
    current();
    if (const MarkRef mark = state().events.find(event)->latest()) mark->wait();
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return call([&] {
    current();
    const auto a = state().events.find(start), b = state().events.find(end);
    const MarkRef from = a->latest(), to = b->latest();
    require(a->timed && b->timed && &a->context == &b->context && from && to, kInvalidHandle);
    require(from->passed() && to->passed(), kNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(to->time() - from->time()).count();
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call([&] {
    require(function);
    stream_of(stream)->submit([=] {
      in_host_function = true;
      host_functions().run(function, data);
      in_host_function = false;
    });
  });
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return call([&] {
    Context& c = context_of(context);
    const auto e = state().events.find(event);
    require(&e->context == &c, kInvalidHandle);
    e->record(c.mark_all());
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return call([&] { *module = state().modules.add(std::make_shared<Module>(current(), image)); });
}

// Its functions live on until their launches are done.
CUresult cuModuleUnload(CUmodule module) {
  return call([&] {
    current();
    state().functions.remove_if([m = state().modules.remove(module)](const Function& f) { return &f.module() == &*m; });
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call([&] {
    current();
    auto m = state().modules.find(module);
    require(m->has(name), kNotFound);
    *function = state().functions.add(std::make_shared<Function>(std::move(m)));
  });
}

CUresult cuFuncSetAttribute(CUfunction function, int which, int value) {
  return call([&] {
    current();
    const auto f = state().functions.find(function);
    require(which == kFunctionMaxDynamicShared);
    f->allow_shared(value);
  });
}

// The number of threads makes no difference: kernels are right for any, and here one thread does a block's work.
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** arguments,
                        void** extra) {
  return call([&] {
    const StreamRef s = stream_of(stream);
    const auto f = state().functions.find(function);
    require(&f->module().context() == &s->context(), kInvalidHandle);
    require(grid_x > 0 && grid_x <= 0x7fffffff && grid_y == 1 && grid_z == 1 && !extra);
    require(block_x > 0 && block_x <= 1024 && block_y == 1 && block_z == 1);
    s->submit(f->work(grid_x, shared, arguments));
  });
}
