// The GPU's part of transpose where rows become columns: tiles, read along rows and written along columns.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "device/tensor/transpose.h"
#include "ops/tensor/transpose/permutation.h"

namespace ps::detail {

// Tiles have one or two thousand elements, many of which are neighbours both in the input and in the output.
inline std::optional<device::TransposeJob> transpose_job(const Permutation& p, const void* in, void* out) {
  int inner = -1;
  for (int i = 0; i < p.n; i++)
    if (p.from[i] == 1) inner = i;
  const int last = p.n - 1;
  if (inner < 0 || inner == last || p.n - 2 > device::kTransposeOuterAxes) return std::nullopt;
  device::TransposeJob job{};
  job.in = in;
  job.out = out;
  job.width = p.extent[inner];
  job.height = p.extent[last];
  job.from = p.from[last];
  job.to = p.to[inner];
  const int64_t elements = p.element <= 4 ? 2048 : 1024, wide = 32;
  int64_t across = std::min(job.width, wide);
  const int64_t down = std::min(job.height, elements / across);
  if (down < wide) across = std::min(job.width, elements / down);
  job.tile_width = device::Divisor(uint64_t(across));
  job.tile_height = device::Divisor(uint64_t(down));
  job.tiles_across = (job.width + across - 1) / across;
  job.tiles = job.tiles_across * ((job.height + down - 1) / down);
  job.pitch = int32_t(across | 1);                 // odd: neighbours in a column are in different banks
  for (int i = 0; i < p.n; i++) {
    if (i == inner || i == last) continue;
    job.extent[job.outer] = p.extent[i];
    job.step_in[job.outer] = p.from[i];
    job.step_out[job.outer++] = p.to[i];
  }
  return job;
}

inline std::string transposed_type(DType dtype, size_t element) {
  const size_t number = size_of(dtype);
  const std::string type = "uint" + std::to_string(8 * number) + "_t";
  if (element == number) return type;
  return PS_DEVICE_TEMPLATE(Together, uint8_t, 1).of(type + ", " + std::to_string(element / number));
}

// Records the batch's permutations as one kernel. Returns false, having recorded nothing, where that cannot be.
inline bool record_tiles(gpu::Recorder& r, const std::vector<Permutation>& permutations) {
  constexpr size_t stride = (sizeof(device::TransposeJob) + 15) / 16 * 16;
  std::vector<uint8_t> jobs(stride * permutations.size());
  std::vector<int> blocks(permutations.size());
  size_t element = 0, shared = 0;
  for (size_t i = 0; i < permutations.size(); i++) {
    const Permutation& p = permutations[i];
    if (r[int(i)].in(0).shape.volume() == 0) continue;
    const auto job = transpose_job(p, r[int(i)].in(0).data, r[int(i)].out(0).data);
    if (!job || (element && element != p.element)) return false;
    element = p.element;
    shared = std::max(shared, size_t(job->pitch) * size_t(job->tile_height.number()) * element);
    int64_t count = job->tiles;
    for (int k = 0; k < job->outer; k++) count *= job->extent[k];
    if (count > INT32_MAX) return false;
    blocks[i] = int(count);
    std::memcpy(jobs.data() + stride * i, &*job, sizeof *job);
  }
  if (element)
    r.launch("#include \"device/tensor/transpose.h\"\n" + PS_LAYOUT_OF(Launch) + PS_LAYOUT_OF(TransposeJob) +
                 "PS_TRANSPOSE_KERNEL(" + transposed_type(r[0].in(0).dtype, element) + ")\n",
             blocks, jobs, stride, device::kTransposeThreads, int(shared));
  return true;
}

}  // namespace ps::detail
