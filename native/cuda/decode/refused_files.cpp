#include "cuda/decode/refused_files.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "core/error.h"

namespace ps::gpu {
namespace {

// How many processors the calling thread may run on.
int processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;      // there are more processors than the set has room for
  return std::max(CPU_COUNT(&set), 1);
}

// f(0) to f(n - 1), by this thread and others that end with the call: few batches need it, and the pipeline's own
// threads are busy with the following batches. They may run where the calling thread may.
template <class F> void in_parallel(int n, F f) {
  constexpr int kMost = 16;
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int i; (i = next++) < n;) f(i);
  };
  std::vector<std::thread> others;
  others.reserve(kMost);
  try {
    while (int(others.size()) + 1 < std::min({n, processors(), kMost})) others.emplace_back(work);
  } catch (const std::exception&) {
    // The system refuses a thread: there are fewer.
  }
  work();
  for (std::thread& t : others) t.join();
}

}  // namespace

void decode_refused(Device& device, const std::vector<Context>& files, const DecodeOnCpu& decode, CUstream stream) {
  if (files.empty()) return;
  size_t bytes = 0;
  for (const Context& c : files) bytes += c.out(0).bytes();
  const BufferRef memory = device.pinned()->take(bytes);
  std::vector<uint8_t*> to;
  for (uint8_t* at = memory->data(); const Context& c : files) {
    to.push_back(at);
    at += c.out(0).bytes();
  }
  std::mutex mutex;
  std::vector<Error> errors;
  in_parallel(int(files.size()), [&](int i) {
    const Context& c = files[size_t(i)];
    const auto failed = [&](ErrorKind kind, const char* what) {
      std::lock_guard lock(mutex);
      errors.emplace_back(kind, what, c.index);
    };
    try {
      decode(c, to[size_t(i)]);
    } catch (const Error& e) {
      failed(e.kind, e.what());
    } catch (const std::bad_alloc&) {
      failed(ErrorKind::memory, "the system refused memory");
    } catch (const std::exception& e) {
      failed(ErrorKind::internal, e.what());
    }
  });
  if (!errors.empty()) throw Errors(std::move(errors));
  for (size_t i = 0; i < files.size(); i++) {
    const Tensor& out = files[i].out(0);
    check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(out.data), to[i], out.bytes(), stream),
          "cuMemcpyHtoDAsync");
  }
  memory->add_fence(std::make_shared<Event>(&device, stream));
}

}  // namespace ps::gpu
