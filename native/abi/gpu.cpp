// The C ABI's part for GPUs.
#include <algorithm>
#include <cstring>

#include "abi/executor.h"
#include "abi/guard.h"
#include "core/nvtx.h"
#include "cuda/decode/decode_counts.h"
#include "cuda/decode/nvimgcodec/nvimgcodec.h"
#include "cuda/driver/kernel.h"
#include "cuda/driver/libraries.h"
#include "cuda/record/operator.h"
#include "cuda/storage/driver.h"
#include "cuda/storage/read_counts.h"
#include "penstock.h"

using namespace ps;

namespace {

struct Answer {
  std::vector<char>& binary;
  std::string& error;
  bool good = false;
};

}  // namespace

int ps_gpu_count() {
  return guarded([] { return gpu::Device::count(); });
}

int ps_gpu_describe(int number, ps_gpu_info* info) {
  return guarded([&] {
    gpu::Device& d = *gpu::Device::get(number);
    *info = {};
    info->arch = d.arch();
    info->multiprocessors = d.multiprocessors();
    info->memory_held = int64_t(d.memory()->held());
    info->memory_peak = int64_t(d.memory()->peak());
    info->pinned_held = int64_t(d.pinned()->held());
    info->pinned_peak = int64_t(d.pinned()->peak());
    std::strncpy(info->name, d.name().c_str(), sizeof info->name - 1);
    std::strncpy(info->bus, d.bus().c_str(), sizeof info->bus - 1);
    return 0;
  });
}

int ps_executor_decoder_stats(ps_executor* e, int64_t* rows, int max_rows) {
  static_assert(PS_DECODER_STATS == 2 * std::tuple_size_v<decltype(gpu::DecodeCounts::by)> + 2);
  const auto executor = e->use();
  if (!executor) return 0;
  const auto& nodes = executor->plan().nodes;
  for (int i = 0; i < std::min(int(nodes.size()), max_rows); i++) {
    int64_t* row = rows + i * PS_DECODER_STATS;
    std::fill_n(row, PS_DECODER_STATS, 0);
    const auto* op = dynamic_cast<const GpuOperator*>(nodes[size_t(i)].op.get());
    const gpu::DecodeCounts* counts = op ? op->decode_counts() : nullptr;
    if (!counts) continue;
    for (const auto& by : counts->by) {
      *row++ = by.files;
      *row++ = by.bytes;
    }
    *row++ = counts->refused;
    *row = counts->indexed;
  }
  return int(nodes.size());
}

int ps_gpu_release_unused(int number) {
  return guarded([&] {
    for (gpu::Device* d : number < 0 ? gpu::Device::used() : std::vector{gpu::Device::get(number)}) {
      d->memory()->release_unused();
      d->pinned()->release_unused();
    }
    return 0;
  });
}

int ps_gpu_preallocate(int number, int64_t device_bytes, int64_t pinned_bytes) {
  return guarded([&] {
    gpu::Device& d = *gpu::Device::get(number);
    d.memory()->preallocate(size_t(device_bytes));
    d.pinned()->preallocate(size_t(pinned_bytes));
    return 0;
  });
}

int ps_gpu_check_image_codec() {
  return guarded([] { gpu::nvimgcodec::check_library(); return 0; });
}

int ps_gpu_open_storage() {
  return guarded([] { return int(gpu::StorageDriver::open()); });
}

void ps_gpu_close_storage() {
  guarded([] { gpu::StorageDriver::close(); return 0; });
}

int ps_executor_reads(ps_executor* e, ps_passes* rows, int max_rows) {
  return guarded([&] {
    const auto executor = e->use();
    int count = 0;
    for (size_t n = 0; n < executor->plan().nodes.size(); n++) {
      const auto* op = dynamic_cast<const gpu::CountsReads*>(executor->plan().nodes[n].op.get());
      const gpu::ReadCounts* counts = op ? op->read_counts() : nullptr;
      if (!counts) continue;
      for (const auto& [why, samples] : counts->list())
        if (count++ < max_rows) rows[count - 1] = {int32_t(n), -1, samples, why};
    }
    return count;
  });
}

int ps_gpu_set_library(const char* name, const char* path) {
  return guarded([&] {
    if (std::strcmp(name, "nvtx") == 0) set_nvtx_path(path);
    else gpu::set_library_path(name, path);
    return 0;
  });
}

void ps_gpu_set_compiler(ps_gpu_compiler compile) {
  if (!compile) return gpu::set_compiler(nullptr);
  gpu::set_compiler([compile](const std::string& source, int arch, std::vector<char>& binary, std::string& error) {
    Answer answer{binary, error};
    compile(source.c_str(), arch, &answer);
    return answer.good;
  });
}

void ps_gpu_compiled(void* to, const char* binary, int64_t size, const char* error) {
  Answer& answer = *static_cast<Answer*>(to);
  answer.good = error == nullptr;
  if (error) answer.error = error;
  else answer.binary.assign(binary, binary + size);
}
