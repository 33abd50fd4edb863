// Records a GPU's commands for one batch: launches and copies. They are recorded when shapes are known, and enqueued
// when the CPU's part is done.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/operator.h"
#include "cuda/driver/kernel.h"
#include "cuda/record/decoded_input.h"
#include "device/tensor/elements.h"

namespace ps {
class StageOperator;
struct Functor;
}  // namespace ps

namespace ps::gpu {

// Which stage does not fit into a fused kernel, and why.
struct GroupMisfit {
  size_t stage = 0;
  Misfit why = fits;
};

class Recorder {
 public:
  // Commands that read no result of the GPU's go into `front`, copies and decoding above all; `compute` waits for them,
  // so the kernels of one batch run while the next one is copied. Those that do not wait for the host go into `ahead`.
  Recorder(DeviceRef device, CUstream ahead, CUstream front, CUstream compute)
      : device_(device), ahead_(ahead), front_(front), compute_(compute) {}

  // An operator begins to record: these are its contexts, one per sample.
  void begin(int node, std::vector<Context> samples, bool front);
  int size() const { return int(samples_.size()); }
  const Context& operator[](int sample) const { return samples_[size_t(sample)]; }
  Device& device() const { return *device_; }
  // Blocks of pinned memory that hold the batch's files, among other things: any range of a block may be copied.
  void set_file_blocks(std::vector<BufferRef> blocks) { file_blocks_ = std::move(blocks); }
  const std::vector<BufferRef>& file_blocks() const { return file_blocks_; }

  // A kernel that does each element by itself: fill(context, functor) writes the functor for a sample and returns the
  // number of elements. The functor's source must be the same for all samples.
  void elements(const Functor& functor, const std::function<int64_t(const Context&, void*)>& fill);
  // One fused kernel for a group of stages, from the first one's input to the last one's output; contexts[k][i] is that
  // of stage k and sample i. Where a sample does not fit, says so, having recorded nothing. `decoded`: the input is in
  // no tensor; gets which windows of it are needed.
  GroupMisfit fuse(const std::vector<const StageOperator*>& stages, const std::vector<std::vector<Context>>& contexts,
                   DecodedInput* decoded = nullptr);
  // Any kernel: blocks[i] is how many blocks work on sample i; its job lies at jobs + i * stride (a multiple of 16).
  void launch(const std::string& source, const std::vector<int>& blocks, const std::vector<uint8_t>& jobs,
              size_t stride, int threads, int shared_bytes = 0);

  void copy_to_device(void* to, const void* from, size_t bytes);   // from pinned memory, for speed
  void copy_to_host(void* to, const void* from, size_t bytes);
  void copy(void* to, const void* from, size_t bytes);             // within the device
  void fill_bytes(void* to, uint8_t value, size_t bytes);
  // Anything else that is put into the stream. It runs on the thread that enqueues, with the context current.
  void call(std::function<void(CUstream)> f);
  // The same for work that does not wait for the host's part. A thread of its own enqueues it while the CPU still works
  // on that part: nvJPEG, for one, does not return before its engines are done.
  void call_ahead(std::function<void(CUstream)> f);

  // Memory that lives until the batch's GPU work is done.
  void* scratch(size_t bytes);                                     // of the device
  void* pinned(size_t bytes);                                      // of the host
  // Device memory with these bytes.
  const void* constant(const void* data, size_t bytes);            // copied

  // For the engine: enqueues the commands ahead, then the others. The buffers must be kept until the work is done.
  bool has_ahead() const;
  void run_ahead();
  void run();
  std::vector<BufferRef> take_memory() { return std::move(memory_); }
  const std::vector<std::string>& sources() const { return sources_; }
  int failed_node() const { return node_; }                        // whose commands were recorded or enqueued last

 private:
  struct Command {
    int node = -1;
    bool front = false, ahead = false;
    Kernel* kernel = nullptr;
    size_t jobs_at = 0, first_at = 0;
    int stride = 0, samples = 0, blocks = 0, threads = 0, shared = 0;
    std::function<void(CUstream)> call;
  };
  size_t add_upload(const void* data, size_t bytes);     // returns its offset
  void add(Command c);
  void enqueue(Command& c, const uint8_t* jobs, CUstream stream);

  DeviceRef device_;
  CUstream ahead_, front_, compute_;
  EventRef ahead_done_;
  int node_ = -1;
  bool in_front_ = false;
  std::vector<Context> samples_;
  std::vector<Command> commands_;
  std::vector<uint8_t> upload_;        // goes to the device in one copy
  std::vector<BufferRef> memory_, file_blocks_;
  std::vector<std::string> sources_;
};

}  // namespace ps::gpu
