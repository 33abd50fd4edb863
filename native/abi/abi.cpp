// The C ABI over the C++ classes: converts, catches, nothing more.
#include "penstock.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "abi/executor.h"
#include "abi/guard.h"
#include "abi/tensor.h"

using namespace ps;

struct ps_plan {
  std::unique_ptr<Plan> plan = std::make_unique<Plan>();
  Spec spec;                  // of the node to come
  std::vector<int> args;
};

namespace {

template <class F> ps_fed* new_fed(F f) {
  FedRef fed;
  return guarded([&] { fed = f(); return 0; }) < 0 ? nullptr : new ps_fed{std::move(fed)};
}

ps_error_info to_c(const Failure& f) {
  return {int32_t(f.kind), f.node, f.sample, f.message.c_str(), f.source.c_str()};
}

template <class F> int set_arg(ps_plan* p, const char* name, F make) {
  return guarded([&] { p->spec.declare(name, make()); return 0; });
}

}  // namespace

thread_local Failure ps::last_failure;

int ps_abi_version() { return PS_ABI_VERSION; }

void ps_error(ps_error_info* info) {
  *info = to_c(last_failure);
}

ps_plan* ps_plan_create() { return new ps_plan; }
void ps_plan_destroy(ps_plan* p) { delete p; }
int ps_plan_source(ps_plan* p, int gpu) {
  return guarded([&] { return p->plan->add_source(gpu != 0); });
}

int ps_plan_constant(ps_plan* p, const ps_tensor* c) {
  return guarded([&] {
    Tensor t = from_c(*c);
    const int v = p->plan->add_source(false);
    std::vector<uint8_t> memory(t.bytes() + kRowSlack);
    if (t.bytes()) std::memcpy(memory.data(), c->data, t.bytes());
    t.data = memory.data();
    p->plan->constant_memory.push_back(std::move(memory));
    p->plan->constants[size_t(v)] = t;
    return v;
  });
}

int ps_arg_integers(ps_plan* p, const char* name, const int64_t* v, int n) {
  return set_arg(p, name,
                 [&] { return ArgValue{std::vector<double>(v, v + n), std::vector<int64_t>(v, v + n), {}, -1}; });
}
int ps_arg_numbers(ps_plan* p, const char* name, const double* v, int n) {
  return set_arg(p, name, [&] { return ArgValue{std::vector<double>(v, v + n), {}, {}, -1}; });
}
int ps_arg_strings(ps_plan* p, const char* name, const char* const* v, int n) {
  return set_arg(p, name, [&] { return ArgValue{{}, {}, std::vector<std::string>(v, v + n), -1}; });
}
int ps_arg_bytes(ps_plan* p, const char* name, const char* v, int64_t n) {
  return set_arg(p, name, [&] { return ArgValue{{}, {}, {std::string(v, size_t(n))}, -1}; });
}
int ps_arg_table(ps_plan* p, const char* name, const ps_tensor* t) {
  return set_arg(p, name, [&] { return ArgValue{{}, {}, {}, -1, Table(from_c(*t))}; });
}
int ps_arg_value(ps_plan* p, const char* name, int value) {
  return set_arg(p, name, [&] {
    p->args.push_back(value);
    return ArgValue{{}, {}, {}, int(p->args.size()) - 1};
  });
}
int ps_arg_none(ps_plan* p, const char* name) {
  return set_arg(p, name, [] { return std::nullopt; });
}
int ps_node_device(ps_plan* p, const char* device, int device_id) {
  return guarded([&] {
    p->spec.device = device;
    p->spec.device_id = device_id;
    return 0;
  });
}

int ps_plan_scope(ps_plan* p, int parent, int predicate, int wanted) {
  return guarded([&] { return p->plan->add_scope(parent, predicate, wanted != 0); });
}

int ps_plan_limit(ps_plan* p, int value, int scope) {
  return guarded([&] { p->plan->limit(value, scope); return 0; });
}

int ps_plan_node(ps_plan* p, const char* kernel, const int32_t* inputs, int num_inputs, int num_outputs, uint64_t key,
                 int flags, int scope) {
  Spec spec = std::move(p->spec);
  std::vector<int> args = std::move(p->args);
  p->spec = {};
  p->args = {};
  return guarded([&] {
    spec.num_outputs = num_outputs;
    const int node = p->plan->add_node(kernel, std::move(spec), {inputs, inputs + num_inputs}, std::move(args), key,
                                       flags, scope);
    const auto& outputs = p->plan->nodes[size_t(node)].outputs;
    return outputs.empty() ? 0 : outputs[0];
  });
}

int ps_plan_segment(ps_plan* p, const int32_t* nodes, const int32_t* sizes, int num_groups, int where) {
  return guarded([&] {
    if (where < int(Where::cpu) || where > int(Where::python))
      fail(ErrorKind::argument, "where=" + std::to_string(where) + ": there is no such kind of segment");
    std::vector<std::vector<int>> groups;
    for (int g = 0; g < num_groups; nodes += sizes[g++]) {
      if (sizes[g] < 1) fail(ErrorKind::argument, "a group of " + std::to_string(sizes[g]) + " nodes");
      groups.emplace_back(nodes, nodes + sizes[g]);
    }
    p->plan->add_segment(groups, Where(where));
    return 0;
  });
}

int ps_plan_outputs(ps_plan* p, const int32_t* values, int n) {
  return guarded([&] {
    for (int k = 0; k < n; k++) p->plan->check_value(values[k]);
    p->plan->outputs.assign(values, values + n);
    return 0;
  });
}

int ps_executor_create(ps_plan* p, const ps_options* options, ps_executor** made) {
  std::unique_ptr<ps_executor> e;
  const int rc = guarded([&] {
    for (int v : {options->threads, options->io_threads, options->depth, options->gpu_depth})
      if (v < 1) fail(ErrorKind::argument, "an executor with " + std::to_string(v) + " threads, or batches ahead");
    p->plan->finish();
    Options o;
    o.threads = options->threads;
    o.io_threads = options->io_threads;
    o.depth = options->depth;
    o.gpu_depth = options->gpu_depth;
    o.device = options->device;
    o.priority = options->stream_priority;
    o.cpus.assign(options->cpus, options->cpus + options->num_cpus);
    o.name = options->name;
    o.read_timeout = options->read_timeout;
    e = std::make_unique<ps_executor>(Executor::start(std::move(p->plan), o));
    return 0;
  });
  delete p;
  if (rc == 0) *made = e.release();
  return rc;
}

int ps_executor_close(ps_executor* e) {
  return guarded([&] {
    const std::vector<std::string> files = e->close();
    if (files.empty()) return 0;
    std::string text = files.size() == 1 ? "a thread is" : std::to_string(files.size()) + " threads are";
    text += " left behind, waiting for files that do not answer:";
    for (const std::string& file : files) text += " " + file;
    fail(ErrorKind::stopped, text);
  });
}

int ps_executor_destroy(ps_executor** made) {
  const std::unique_ptr<ps_executor> e(std::exchange(*made, nullptr));
  return e ? ps_executor_close(e.get()) : 0;
}

ps_fed* ps_fed_host(ps_executor* e, const ps_tensor* samples, int n, int copy) {
  return new_fed([&] {
    return copy ? feed_copy(*e->use()->pool(), from_c(samples, n)) : feed_in_place(from_c(samples, n));
  });
}

ps_fed* ps_fed_device(ps_gpu_memory* memory, const ps_tensor* samples, int n, int copy, uint64_t stream, int wait) {
  return new_fed([&] {
    return feed_device(memory->buffer, from_c(samples, n), copy != 0, reinterpret_cast<gpu::CUstream>(stream),
                       wait != 0);
  });
}

ps_fed* ps_fed_upload(int device, const ps_tensor* samples, int n) {
  return new_fed([&] {
    const gpu::DeviceRef d = gpu::Device::get(device);
    return feed_upload(d, from_c(samples, n), gpu::copy_stream(d));
  });
}

ps_fed* ps_fed_room(ps_executor* e, ps_tensor* samples, int n) {
  return new_fed([&] {
    FedRef fed = feed_room(*e->use()->pool(), from_c(samples, n));
    for (int i = 0; i < n; i++) samples[i].data = fed->samples[size_t(i)].data;
    return fed;
  });
}

void ps_fed_destroy(ps_fed* f) { delete f; }

// In place of what was fed for an iteration that was interrupted before it was scheduled.
static void put(ps_executor* e, int value, FedRef fed) {
  const auto executor = e->use();
  const Plan& plan = executor->plan();
  plan.check_value(value);
  if (!plan.values[size_t(value)].fed || plan.constants[size_t(value)].dtype != DType::none)
    fail(ErrorKind::argument, "value " + std::to_string(value) + " of the plan is none that is fed");
  std::erase_if(e->fed, [&](const auto& given) { return given.first == value; });
  e->fed.emplace_back(value, std::move(fed));
}

int ps_executor_feed(ps_executor* e, int value, const ps_fed* f) {
  return guarded([&] { put(e, value, f->fed); return 0; });
}

int ps_executor_feed_integers(ps_executor* e, int value, const int64_t* v, int n) {
  return guarded([&] {
    put(e, value, feed_integers(v, n));
    return 0;
  });
}

int ps_executor_schedule(ps_executor* e, int size, const int64_t* ids, const int64_t* epochs) {
  return ps_executor_schedule_keyed(e, size, ids, epochs, nullptr);
}

int ps_executor_schedule_keyed(ps_executor* e, int size, const int64_t* ids, const int64_t* epochs,
                               const uint64_t* keys) {
  auto fed = std::exchange(e->fed, {});
  return guarded([&] {
    if (size < 0) fail(ErrorKind::argument, "an iteration of " + std::to_string(size) + " samples");
    const auto executor = e->use();
    std::vector<uint64_t> given;
    if (keys) given.assign(keys, keys + executor->plan().nodes.size());
    executor->schedule(size, {ids, ids + size}, {epochs, epochs + size}, std::move(fed), std::move(given));
    return 0;
  });
}

int ps_executor_schedule_counted(ps_executor* e, int size, int64_t first) {
  auto fed = std::exchange(e->fed, {});
  return guarded([&] {
    if (size < 0) fail(ErrorKind::argument, "an iteration of " + std::to_string(size) + " samples");
    std::vector<int64_t> ids(size_t(size), 0);
    std::iota(ids.begin(), ids.end(), first);
    e->use()->schedule(size, std::move(ids), std::vector<int64_t>(size_t(size), 0), std::move(fed), {});
    return 0;
  });
}

void ps_executor_wait(ps_executor* e, int timeout_ms, int gpu_too, ps_answer* answer) {
  answer->state = guarded([&] {
    const auto b = e->use()->wait(timeout_ms);
    if (!b) return 0;
    if (b->failed && !b->broken_samples.empty()) answer->batch = new ps_batch{b};
    if (b->failed) return failed(b->failure);
    if (gpu_too && b->done) b->done->wait();
    answer->batch = new ps_batch{b};
    return 1;
  });
}

int64_t ps_executor_scheduled(ps_executor* e) {
  const auto executor = e->use();
  return executor ? executor->scheduled() : -1;
}

int ps_executor_cancel(ps_executor* e) {
  return guarded([&] { e->use()->cancel(); return 0; });
}

int ps_executor_node_stats(ps_executor* e, int64_t* rows, int max_rows) {
  return guarded([&] {
    const auto stats = e->use()->stats();
    for (int i = 0; i < std::min(int(stats.size()), max_rows); i++) {
      const NodeStats& s = stats[size_t(i)];
      rows[3 * i] = s.setup_ns;
      rows[3 * i + 1] = s.run_ns;
      rows[3 * i + 2] = s.samples;
    }
    return int(stats.size());
  });
}

int ps_executor_thread_stats(ps_executor* e, int64_t* rows, int max_rows) {
  return guarded([&] {
    const auto busy = e->use()->busy();
    for (int i = 0; i < std::min(int(busy.size()), max_rows); i++) {
      rows[2 * i] = busy[size_t(i)].first;
      rows[2 * i + 1] = busy[size_t(i)].second;
    }
    return int(busy.size());
  });
}

int ps_executor_memory(ps_executor* e, int64_t* held, int64_t* peak) {
  return guarded([&] {
    const auto executor = e->use();
    *held = int64_t(executor->pool()->held());
    *peak = int64_t(executor->pool()->peak());
    return 0;
  });
}

int ps_executor_release_unused(ps_executor* e) {
  return guarded([&] { e->use()->pool()->release_unused(); return 0; });
}

uint64_t ps_executor_stream(ps_executor* e) {
  const auto executor = e->use();
  return executor && executor->gpu() ? reinterpret_cast<uint64_t>(gpu::CUstream(*executor->gpu()->stream())) : 0;
}

int ps_executor_kernels(ps_executor* e, const char** sources, int max_sources) {
  return guarded([&] {
    const auto executor = e->use();
    if (!executor->gpu()) return 0;
    e->sources = executor->gpu()->sources();
    for (int i = 0; i < std::min(int(e->sources.size()), max_sources); i++) sources[i] = e->sources[size_t(i)].c_str();
    return int(e->sources.size());
  });
}

int ps_batch_broken_samples(const ps_batch* b, ps_error_info* rows, int max_rows) {
  const std::vector<Failure>& broken = b->batch->broken_samples;
  for (int i = 0; i < std::min(int(broken.size()), max_rows); i++) rows[i] = to_c(broken[size_t(i)]);
  return int(broken.size());
}

int ps_batch_size(const ps_batch* b, int value) {
  return b->batch->count(b->batch->plan->values[size_t(value)].scope);
}

int ps_batch_samples(const ps_batch* b, int value, ps_tensor* samples) {
  bool uniform = true, contiguous = b->batch->value_memory[size_t(value)] != nullptr;
  const Tensor* last = nullptr;
  for (int i = 0; i < ps_batch_size(b, value); i++) {
    const Tensor& t = b->batch->sample(value, i);
    uniform &= !last || t.shape == last->shape;
    contiguous &= !last || t.data == last->as<uint8_t>() + last->bytes();
    samples[i] = to_c(t);
    last = &t;
  }
  return (contiguous ? PS_CONTIGUOUS : 0) | (uniform ? PS_UNIFORM : 0);
}

int64_t ps_batch_show(const ps_batch* b, int value, int expected, ps_tensor* samples) {
  const int64_t size = ps_batch_size(b, value);
  const int flags = size == expected ? ps_batch_samples(b, value, samples) : 0;
  return size << 32 | int64_t(ps_batch_device(b, value) + 1) << 8 | flags;
}

void ps_batch_destroy(ps_batch* b) {
  guarded([&] {
    Batch& batch = *b->batch;
    if (b->kept.empty()) batch.fence_host_outputs();
    else if (batch.device) gpu::keep_until_idle(batch.device, std::move(b->kept));
    return 0;
  });
  delete b;
}
