// One iteration on its way through the plan.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "cuda/record/recorder.h"
#include "penstock.h"
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

// The current exception as a Failure of this node.
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

// Where a batch is in its segment; Scheduler::next_phase() has the ways from one to the other. prepare: samples get
// memory, on a GPU also its list of work; flight: launched, and the CPU goes on when the GPU is done; call: the
// functions of a Python segment are called; finished: with all segments, or it has failed or was cancelled.
enum class Phase : int {
  setup = PS_PHASE_SETUP, prepare = PS_PHASE_PREPARE, run = PS_PHASE_RUN, launch = PS_PHASE_LAUNCH,
  flight = PS_PHASE_FLIGHT, call = PS_PHASE_CALL, finished = PS_PHASE_FINISHED,
};

// GPU work that can be enqueued while the CPU is at its part: beside the phase, since both go on at the same time.
enum class Ahead { none, wanted, under_way };

// There was no memory for it: when to try again, and since when none has been released.
struct Deferral {
  int64_t retry_ns = 0, since_ns = 0;
};

struct Batch {
  std::shared_ptr<const Plan> plan;            // constants and file names live there, and a consumer may still look
  int64_t number = 0;                          // of the iteration
  int size = 0;
  std::vector<int64_t> ids, epochs;            // by sample
  std::vector<uint64_t> keys;                  // by node, of random numbers; none: those of the plan
  uint64_t key(int node) const { return keys.empty() ? plan->nodes[size_t(node)].key : keys[size_t(node)]; }
  std::vector<std::vector<Tensor>> values;     // by value, by sample
  std::vector<uint8_t> params;                 // by sample, by node
  std::vector<std::pair<int, FedRef>> fed;     // what was given from outside, by value
  std::vector<BufferRef> value_memory;         // by value: the one buffer of a contiguous value, if it has one
  std::vector<std::vector<int>> members;       // by scope: its samples, in order, from when they are known
  int pieces() const {                         // of the phase: samples, or nodes to be called
    return phase == Phase::prepare ? 1 : phase == Phase::call ? int(plan->segments[segment].nodes.size()) : size;
  }
  // Those behind the first failure are not looked at any more.
  bool needs(int sample) const { return !cancelled && sample <= first_failed; }

  GpuWork gpu;                                 // of the segment it is in
  gpu::EventRef done;                          // its GPU work so far; none: it has none
  gpu::DeviceRef device = nullptr;

  // Where it is: the scheduler's.
  size_t segment = 0;
  Phase phase = Phase::setup;
  Ahead ahead = Ahead::none;
  Deferral deferral;
  std::atomic<int> next{0}, left{0};           // pieces of this phase: to be taken, to be finished
  std::shared_ptr<std::atomic<bool>> landed;   // whether the flight has ended
  bool is_finished() const { return phase == Phase::finished; }

  // What has become of it, known to all threads that work on it.
  std::atomic<bool> failed{false}, cancelled{false};
  bool is_given_up() const { return failed || cancelled; }
  std::atomic<int> first_failed{INT_MAX};      // sample; those before it are still looked at

  std::mutex mutex;                            // guards failure and broken_samples
  std::mutex shared_mutex;                     // guards what is taken from the shared arena
  Failure failure;
  std::vector<Failure> broken_samples;         // that may be replaced by others: why, each with its sample
  std::vector<std::unique_ptr<Arena>> arenas;  // by worker: what early operators wrote; the shared one
  Arena* shared = nullptr;                     // on its way to a GPU all that they write lies together
  Texts texts;                                 // that samples' sources point at
  std::vector<std::shared_ptr<void>> foreseen; // what operators were told of in advance

  // Whether a sample is one of a scope's. Its predicates are known.
  bool has(int scope, int sample) const {
    if (scope < 0) return true;
    const Scope& s = plan->scopes[size_t(scope)];
    return has(s.parent, sample) && (*values[size_t(s.predicate)][size_t(sample)].as<uint8_t>() != 0) == s.wanted;
  }
  // The samples of a scope that is known: how many, and which.
  int count(int scope) const { return scope < 0 ? size : int(members[size_t(scope)].size()); }
  int member(int scope, int rank) const { return scope < 0 ? rank : members[size_t(scope)][size_t(rank)]; }
  const Tensor& sample(int value, int rank) const {
    return values[size_t(value)][size_t(member(plan->values[size_t(value)].scope, rank))];
  }
  void list_members(const Segment& s) {
    for (int scope : s.scopes) {
      std::vector<int>& list = members[size_t(scope)];
      list.clear();
      for (int i = 0; i < size; i++)
        if (has(scope, i)) list.push_back(i);
    }
  }
  // That samples which may differ are of one type, number of axes and layout.
  void check_alike(const Node& node) const {
    if (!node.mixes || !count(node.scope)) return;
    for (int v : node.outputs) check_alike(node, v);
  }
  void check_alike(const Node& node, int value) const {
    const Tensor& first = sample(value, 0);
    const std::string which = ", sample " + std::to_string(member(node.scope, 0)) + " ";
    const auto text = [](const Tensor& t) {
      return std::string(name_of(t.dtype)) + " with " + std::to_string(t.shape.ndim) + " axes";
    };
    for (int k = 1; k < count(node.scope); k++) {
      const Tensor& t = sample(value, k);
      if (t.dtype != first.dtype || t.shape.ndim != first.shape.ndim)
        throw Error(ErrorKind::type, "the samples differ: this sample is " + text(t) + which + text(first),
                    member(node.scope, k));
      if (t.layout != first.layout)
        throw Error(ErrorKind::layout,
                    std::string("the samples differ: this sample has the layout '") + t.layout.axes + "'" + which +
                        "'" + first.layout.axes + "'",
                    member(node.scope, k));
    }
  }

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
      if (t.dtype == DType::none) continue;    // it does not have this value
      if (written) std::memcpy(p, t.data, t.bytes());
      t.data = p;
      p += t.bytes();
    }
    value_memory[size_t(value)] = std::move(memory);
  }
  // The outputs of an alias are where its input is. A batchwise one has said in setup() where its samples are.
  void follow(const Node& alias) {
    const size_t from = size_t(alias.inputs[0]);
    for (int v : alias.outputs) {
      const size_t to = size_t(v);
      for (size_t i = 0; alias.shows_input() && i < size_t(size); i++)
        if (values[to][i].dtype != DType::none) values[to][i].data = values[from][i].data;
      value_memory[to] = value_memory[from];
    }
  }

  // The file that a sample of the node comes from; empty: none.
  std::string source(const Node& node, int sample) const {
    for (const std::vector<int>* list : {&node.inputs, &node.outputs})
      for (int v : *list)
        if (const char* s = values[size_t(v)][size_t(sample)].source) return s;
    return {};
  }
  // What is given from outside for a value, for each sample that has it.
  void feed(int value, FedRef given) {
    const int scope = plan->values[size_t(value)].scope;
    if (scope < 0) values[size_t(value)] = given->samples;
    for (int k = 0; scope >= 0 && k < count(scope); k++)
      values[size_t(value)][size_t(member(scope, k))] = given->samples[size_t(k)];
    for (Tensor& t : values[size_t(value)])        // what is made of them may outlive them
      if (t.source) t.source = texts.keep(t.source);
    value_memory[size_t(value)] = given->memory;
    if (given->buffer) device = given->buffer->device();
    fed.emplace_back(value, std::move(given));
  }
  // The blocks that these values' samples lie in, and perhaps others.
  std::vector<BufferRef> blocks(const std::vector<int>& shown) const {
    std::vector<BufferRef> found;
    for (int v : shown)
      if (value_memory[size_t(v)]) found.push_back(value_memory[size_t(v)]);
    for (auto& arena : arenas) found.insert(found.end(), arena->blocks().begin(), arena->blocks().end());
    return found;
  }
  // Outputs in pinned memory: a consumer may have asked a GPU to copy them, and have let go of them before it did so.
  void fence_host_outputs() {
    if (!device || !plan->uses_gpu()) return;
    std::vector<int> on_host;
    std::copy_if(plan->outputs.begin(), plan->outputs.end(), std::back_inserter(on_host),
                 [&](int v) { return !plan->values[size_t(v)].gpu; });
    gpu::keep_until_idle(device, blocks(on_host));
  }

  void fail(Failure f) {
    std::lock_guard lock(mutex);
    if (cancelled) return;                       // its thread was abandoned: the batch may be in use elsewhere
    if (f.sample >= 0 && f.node >= 0 && f.is_broken_file() && plan->nodes[size_t(f.node)].tolerant) {
      broken_samples.push_back(std::move(f));
      return;
    }
    if (!failed || f.sample < failure.sample) failure = std::move(f);   // the first by sample, whatever the threads do
    first_failed = failure.sample;
    failed = true;
  }

  // With broken samples it fails at the end of a phase, when all samples have shown whether they are broken.
  void end_phase() {
    std::lock_guard lock(mutex);
    if (failed || broken_samples.empty()) return;
    std::sort(broken_samples.begin(), broken_samples.end(), [](auto& a, auto& b) { return a.sample < b.sample; });
    failure = broken_samples.front();
    failed = true;
  }
};

}  // namespace ps
