// Recording reductions (device/tensor/reductions.h): one kernel for the pieces of all samples, and one that joins them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "device/tensor/reductions.h"
#include "ops/tensor/reductions/axes.h"

namespace ps::gpu {

class Reducing {
 public:
  struct Sample {
    const void* in;
    ReducedShape shape;
    const void* mean = nullptr;        // for deviations: of each output, or (mean_step 0) of all
    int64_t mean_step = 0;
  };

  Reducing(Recorder& r, device::Reduction reduction, DType in)
      : r_(r), in_(cpp_type(in)), fold_(fold_of(reduction).of(in_)) {
    const bool extreme = reduction == device::Reduction::min || reduction == device::Reduction::max;
    bytes_ = !extreme ? sizeof(double) : in == DType::f16 ? sizeof(float) : size_of(in);
  }

  void add(const Sample& s) {
    device::ReduceJob job{};
    job.in = s.in;
    job.mean = s.mean;
    job.mean_step = s.mean_step;
    job.outputs = s.shape.outputs;
    job.count = s.shape.count;
    const auto& axes = s.shape.axes;
    const int n = s.shape.n;
    divide(job, n && axes[n - 1].step ? axes[n - 1].extent : 1);
    job.piece = job.lanes * kPerLane;
    for (int k = n; k-- > 0;) {
      auto& axis = axes[k].step ? job.kept[job.kept_axes++] : job.reduced[job.reduced_axes++];
      axis = {device::Divisor(uint64_t(std::max<int64_t>(axes[k].extent, 1))), axes[k].stride};
    }
    jobs_.push_back(job);
    pieces_.push_back(std::max<int64_t>((job.count + job.piece - 1) / job.piece, 1));
  }

  // What each piece gives, into memory of the recorder's.
  void record_pieces(const std::string& mean_type = PS_DEVICE_TYPE(NoMean)) {
    size_t total = 0;
    for (size_t i = 0; i < jobs_.size(); i++) total += size_t(pieces_[i] * jobs_[i].outputs) * bytes_;
    found_ = static_cast<uint8_t*>(r_.scratch(total));
    uint8_t* at = found_;
    for (size_t i = 0; i < jobs_.size(); i++) {
      jobs_[i].out = at;
      at += size_t(pieces_[i] * jobs_[i].outputs) * bytes_;
    }
    launch(fold_ + ", " + in_ + ", " + PS_DEVICE_TYPE(Partial) + ", " + mean_type, jobs_, pieces_);
  }

  // One result for each sample. `reduction` says what is made of what has been added up.
  void record_results(device::Reduction reduction, DType out_type, int64_t ddof, const std::vector<void*>& out) {
    std::vector<device::ReduceJob> jobs;
    for (size_t i = 0; i < jobs_.size(); i++)
      jobs.push_back(joining(jobs_[i].out, jobs_[i].outputs, pieces_[i], jobs_[i].count, ddof, out[i]));
    launch_joining(reduction, out_type, jobs);
  }
  // One for the whole batch; all samples have the same number of outputs.
  void record_total(device::Reduction reduction, DType out_type, void* out) {
    int64_t pieces = 0, count = 0;
    for (size_t i = 0; i < jobs_.size(); i++) {
      pieces += pieces_[i];
      count += jobs_[i].count;
    }
    launch_joining(reduction, out_type, {joining(found_, jobs_[0].outputs, pieces, count, 0, out)});
  }

 private:
  static constexpr int64_t kPerLane = 32;             // elements that a thread reduces, where there are so many

  static TypeTemplate fold_of(device::Reduction r) {
    switch (r) {
      case device::Reduction::sum: case device::Reduction::mean: return PS_DEVICE_TEMPLATE(SumFold, float);
      case device::Reduction::mean_square: case device::Reduction::rms: return PS_DEVICE_TEMPLATE(SquareFold, float);
      case device::Reduction::min: return PS_DEVICE_TEMPLATE(MinFold, float);
      case device::Reduction::max: return PS_DEVICE_TEMPLATE(MaxFold, float);
      default: return PS_DEVICE_TEMPLATE(DeviationFold, float);
    }
  }

  // `width` outputs are made of elements that lie side by side: a block reads rows of them.
  static void divide(device::ReduceJob& job, int64_t width) {
    constexpr int64_t threads = device::kReduceThreads;
    int64_t columns = std::clamp<int64_t>(width, 1, threads);
    const int64_t lanes = std::clamp<int64_t>(job.count, 1, threads / columns);
    columns = std::max(columns, threads / lanes);
    job.lanes = int32_t(lanes);
    job.columns = int32_t(std::clamp<int64_t>(job.outputs, 1, columns));
    job.column_blocks = device::Divisor(uint64_t(std::max<int64_t>((job.outputs + job.columns - 1) / job.columns, 1)));
  }

  static device::ReduceJob joining(const void* found, int64_t outputs, int64_t pieces, int64_t elements, int64_t ddof,
                                   void* out) {
    device::ReduceJob job{};
    job.in = found;
    job.out = out;
    job.outputs = outputs;
    job.count = job.piece = pieces;
    job.elements = elements;
    job.ddof = ddof;
    job.kept_axes = job.reduced_axes = 1;
    job.kept[0] = {device::Divisor(uint64_t(std::max<int64_t>(outputs, 1))), 1};
    job.reduced[0] = {device::Divisor(uint64_t(pieces)), outputs};
    divide(job, outputs);
    return job;
  }

  void launch_joining(device::Reduction reduction, DType out_type, const std::vector<device::ReduceJob>& jobs) {
    const std::string kind = std::string(PS_DEVICE_TYPE(Reduction)) + "(" + std::to_string(int(reduction)) + ")";
    const auto finished = PS_DEVICE_TEMPLATE(Finished, device::Reduction::sum, float);
    const std::string store = finished.of(kind + ", " + cpp_type(out_type));
    const std::string fold = PS_DEVICE_TEMPLATE(JoinFold, device::SumFold<float>).of(fold_);
    launch(fold + ", " + fold_ + "::Result, " + store + ", " + PS_DEVICE_TYPE(NoMean), jobs,
           std::vector<int64_t>(jobs.size(), 1));
  }

  void launch(const std::string& types, const std::vector<device::ReduceJob>& jobs,
              const std::vector<int64_t>& pieces) {
    constexpr size_t stride = (sizeof(device::ReduceJob) + 15) / 16 * 16;
    std::vector<uint8_t> bytes(stride * jobs.size());
    std::vector<int> blocks(jobs.size());
    for (size_t i = 0; i < jobs.size(); i++) {
      std::memcpy(bytes.data() + stride * i, &jobs[i], sizeof jobs[i]);
      const int64_t needed = jobs[i].outputs ? pieces[i] * int64_t(jobs[i].column_blocks.number()) : 0;
      if (needed > INT32_MAX) fail(ErrorKind::unsupported, "a sample needs more blocks than a GPU launches at a time");
      blocks[i] = int(needed);
    }
    r_.launch("#include \"device/tensor/reductions.h\"\n" + PS_LAYOUT_OF(Launch) + PS_LAYOUT_OF(ReduceJob) +
                  "PS_REDUCE_KERNEL(" + types + ")\n",
              blocks, bytes, stride, device::kReduceThreads, int(device::kReduceThreads * bytes_));
  }

  Recorder& r_;
  std::string in_, fold_;
  size_t bytes_;                       // of a result
  std::vector<device::ReduceJob> jobs_;
  std::vector<int64_t> pieces_;        // of each sample
  uint8_t* found_ = nullptr;
};

}  // namespace ps::gpu
