// One iteration on its way through the plan.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "cuda/record/recorder.h"
#include "run/fed.h"
#include "run/plan.h"

namespace ps {

struct Failure {
  ErrorKind kind = ErrorKind::internal;
  int node = -1, sample = -1;
  std::string message, source;
  bool is_broken_file() const {
    return kind == ErrorKind::read || kind == ErrorKind::decode || kind == ErrorKind::unsupported;
  }
};

// What an exception tells; `node` is whose fault it is.
inline Failure failure_of(const std::exception_ptr& e, int node) {
  try {
    std::rethrow_exception(e);
  } catch (const Error& error) {
    return {error.kind, node, error.sample, error.what(), ""};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, node, -1, "the system refused memory", ""};
  } catch (const std::exception& error) {
    return {ErrorKind::internal, node, -1, error.what(), ""};
  } catch (...) {
    return {ErrorKind::internal, node, -1, "an unknown exception", ""};
  }
}

// What a GPU segment has for a batch.
struct GpuWork {
  std::unique_ptr<gpu::Recorder> recorder;
  std::vector<const Tensor*> in;               // the contexts' pointers
  std::vector<Tensor*> out;
};

// prepare: samples get memory, on a GPU also its list of work; flight: launched, and the CPU goes on when the GPU is done.
enum class Phase { setup, prepare, run, launch, flight };

enum class Early { none, wanted, under_way };

struct Batch {
  std::shared_ptr<const Plan> plan;            // constants and file names live there, and a consumer may still look
  int64_t number = 0;                          // of the iteration
  int size = 0;
  std::vector<int64_t> ids, epochs;            // by sample
  std::vector<std::vector<Tensor>> values;     // by value, by sample
  std::vector<uint8_t> params;                 // by sample, by node
  std::vector<std::pair<int, FedRef>> fed;     // what was given from outside, by value
  std::vector<BufferRef> value_memory;         // by value: the one buffer of a contiguous value, if it has one
  int pieces() const { return phase == Phase::prepare ? 1 : size; }
  // Those behind the first failure are not looked at any more.
  bool needs(int sample) const { return !cancelled && sample <= first_failed; }

  GpuWork gpu;                                 // of the segment it is in
  gpu::EventRef done;                          // its GPU work so far; none: it has none
  gpu::DeviceRef device = nullptr;

  // Where it is.
  size_t segment = 0;
  Phase phase = Phase::setup;
  std::shared_ptr<std::atomic<bool>> landed;   // whether the flight has ended
  Early early = Early::none;                   // GPU work that can be enqueued while the CPU is at its part
  std::atomic<int> next{0}, left{0};           // samples of this phase: to be taken, to be finished; prepare: one piece
  int64_t retry_ns = 0, stuck_ns = 0;          // there was no memory: when to try again, since when nobody gives any back
  bool finished = false;
  std::atomic<bool> failed{false}, cancelled{false};
  std::atomic<int> first_failed{INT_MAX};      // sample; those before it are still looked at

  std::mutex mutex;                            // guards failure and losses
  std::mutex shared_mutex;                     // guards what is taken from the shared arena
  Failure failure;
  std::vector<Failure> losses;                 // broken samples that may be replaced by others, each with its sample
  std::vector<std::unique_ptr<Arena>> arenas;  // by worker: what early operators wrote; the shared one
  Arena* shared = nullptr;                     // on its way to a GPU all that they write lies together
  Texts texts;                                 // that samples' sources point at

  // Of all samples of a value.
  size_t bytes(int value) const {
    size_t total = 0;
    for (const Tensor& t : values[size_t(value)]) total = std::min(total + t.bytes(), Tensor::kTooManyBytes);
    return total;
  }
  // Puts the samples of a value into this memory, one behind the other; `written`: with what they hold.
  void place(int value, BufferRef memory, bool written = false) {
    uint8_t* p = memory->data();
    for (Tensor& t : values[size_t(value)]) {
      if (written) std::memcpy(p, t.data, t.bytes());
      t.data = p;
      p += t.bytes();
    }
    value_memory[size_t(value)] = std::move(memory);
  }
  // The output of an alias is where its input is. A batchwise one has said in setup() where its samples are.
  void follow(const Node& alias) {
    const size_t from = size_t(alias.inputs[0]), to = size_t(alias.outputs[0]);
    for (size_t i = 0; alias.shows_input() && i < size_t(size); i++) values[to][i].data = values[from][i].data;
    value_memory[to] = value_memory[from];
  }

  // The file that a sample of the node comes from; empty: none.
  std::string source(const Node& node, int sample) const {
    for (const std::vector<int>* list : {&node.inputs, &node.outputs})
      for (int v : *list)
        if (const char* s = values[size_t(v)][size_t(sample)].source) return s;
    return {};
  }
  // Outputs in pinned memory: a consumer may have asked a GPU to copy them, and have let go of them before it did so.
  void fence_host_outputs() {
    if (!device || !plan->uses_gpu()) return;
    std::vector<BufferRef> shown;
    for (auto& arena : arenas) shown.insert(shown.end(), arena->blocks().begin(), arena->blocks().end());
    for (int v : plan->outputs)
      if (!plan->values[size_t(v)].gpu && value_memory[size_t(v)]) shown.push_back(value_memory[size_t(v)]);
    gpu::keep_until_idle(device, std::move(shown));
  }

  void fail(Failure f) {
    std::lock_guard lock(mutex);
    if (cancelled) return;                       // a thread that came too late: others may look at what is there
    if (f.sample >= 0 && f.node >= 0 && f.is_broken_file() && plan->nodes[size_t(f.node)].tolerant) {
      losses.push_back(std::move(f));
      return;
    }
    if (!failed || f.sample < failure.sample) failure = std::move(f);   // the first by sample, whatever the threads do
    first_failed = failure.sample;
    failed = true;
  }

  // With losses it fails at the end of a phase, when all samples have shown whether they are broken.
  void end_phase() {
    std::lock_guard lock(mutex);
    if (failed || losses.empty()) return;
    std::sort(losses.begin(), losses.end(), [](auto& a, auto& b) { return a.sample < b.sample; });
    failure = losses.front();
    failed = true;
  }
};

}  // namespace ps
