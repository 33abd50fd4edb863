// Recording a chain of picture operators as one kernel.
#include <cstring>

#include "gpu/operator.h"
#include "gpu/picture.h"
#include "kernels/device/picture_rows.h"

namespace ps {
namespace gpu {
namespace {

const char* type_name(DType t) {
  switch (t) {
    case DType::u8: return "uint8_t";
    case DType::u16: return "uint16_t";
    case DType::u32: return "uint32_t";
    case DType::u64: return "uint64_t";
    case DType::i8: return "int8_t";
    case DType::i16: return "int16_t";
    case DType::i32: return "int32_t";
    case DType::i64: return "int64_t";
    case DType::f16: return "ps::device::half";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::boolean: return "bool";
    default: fail(ErrorKind::type, "this type has no numbers");
  }
}

size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

constexpr int64_t kTileBytes = 32 * 1024;            // for blocks to share a multiprocessor

// How many rows of a tile such a stage can do at a time; 0: not even one.
int rows_at_a_time(const StageOperator& stage, const Context& c) {
  int rows = device::kTile;
  while (rows && stage.tile_bytes(c, rows) > kTileBytes) rows /= 2;
  return rows;
}

}  // namespace

std::string cpp_type(DType t) { return type_name(t); }

bool Recorder::chain(const std::vector<const StageOperator*>& stages,
                     const std::vector<std::vector<Context>>& contexts) {
  const size_t count = contexts[0].size(), last = stages.size() - 1;
  if (!count) return true;
  std::vector<Pictures> in(count), out(count);
  bool dense = true;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k <= last; k++) {
      const Context &c = contexts[k][i], &first = contexts[k][0];
      if (c.in(0).dtype != first.in(0).dtype || c.out(0).dtype != first.out(0).dtype) return false;
      if (!stages[k]->fits_stage(c)) return false;
    }
    const auto from = pictures_of(contexts[0][i].in(0)), to = pictures_of(contexts[last][i].out(0));
    if (!from || !to || from->frames != to->frames) return false;
    if (std::max({from->width, from->height, to->width, to->height}) > INT32_MAX / 4) return false;
    in[i] = *from;
    out[i] = *to;
    dense &= from->interleaved() && from->channels == in[0].channels;
  }
  const int64_t channels = in[0].channels;
  dense &= channels == 1 || channels == 3 || channels == 4;

  const auto one_to_one = [](const StageOperator* s) { return s->one_to_one(); };
  const bool rows = std::all_of(stages.begin(), stages.end(), one_to_one);
  std::string includes;
  std::string types;
  std::vector<Functor> functors;
  size_t stride = padded(sizeof(device::PictureJob));
  for (size_t k = 0; k <= last; k++) {
    functors.push_back(stages[k]->stage(contexts[k][0]));
    const std::string include = "#include \"" + functors[k].header + "\"\n";
    if (includes.find(include) == std::string::npos) includes += include;
    stride += padded(functors[k].bytes);
  }
  std::vector<int> steps(count);
  int64_t shared = 0;
  for (size_t k = 0; k <= last; k++) {
    bool tiled = !functors[k].tiled.empty() && std::all_of(stages.begin() + long(k) + 1, stages.end(), one_to_one);
    for (size_t i = 0; tiled && i < count; i++) tiled = (steps[i] = rows_at_a_time(*stages[k], contexts[k][i])) > 0;
    for (size_t i = 0; tiled && i < count; i++)
      shared = std::max(shared, stages[k]->tile_bytes(contexts[k][i], steps[i]));
    types += ",\n    " + (tiled ? functors[k].tiled : functors[k].type);
  }
  const std::string header = rows ? "picture_rows" : shared ? "picture_tiles" : "picture";
  const std::string kernel = rows ? "PS_ROW_KERNEL" : shared ? "PS_TILE_KERNEL" : "PS_PICTURE_KERNEL";
  const std::string source = "#include \"kernels/device/" + header + ".h\"\n" + includes + kernel + "(" +
                             cpp_type(contexts[0][0].in(0).dtype) + ", " + cpp_type(contexts[last][0].out(0).dtype) +
                             ", " + std::to_string(dense ? channels : 1) + (dense ? ", true" : ", false") + types +
                             ")\n";

  std::vector<uint8_t> jobs(stride * count);
  std::vector<int> blocks(count);
  for (size_t i = 0; i < count; i++) {
    uint8_t* at = jobs.data() + stride * i;
    const auto parts = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
    const int64_t groups = std::max<int64_t>(parts(out[i].width, device::kGroup), 1);   // of a row
    const device::PictureJob job{contexts[0][i].in(0).data, contexts[last][i].out(0).data, in[i].stride, out[i].stride,
                                 int32_t(out[i].width), int32_t(out[i].height), int32_t(out[i].channels),
                                 int32_t(out[i].frames), steps[i], device::Divisor(uint64_t(groups))};
    std::memcpy(at, &job, sizeof job);
    at += padded(sizeof job);
    for (size_t k = 0; k <= last; at += padded(functors[k++].bytes)) stages[k]->fill_stage(contexts[k][i], at);
    const int64_t needed = out[i].frames * (rows ? parts(groups * out[i].height, device::kGroupsPerBlock)
                                                 : parts(out[i].width, device::kTile) * parts(out[i].height, device::kTile));
    if (needed > INT32_MAX) return false;
    blocks[i] = out[i].channels * out[i].width > 0 ? int(needed) : 0;
  }
  launch(source, blocks, jobs, stride, shared ? device::kTiledThreads : device::kPictureThreads, int(shared));
  return true;
}

}  // namespace gpu

void StageOperator::record(gpu::Recorder& r) const {
  std::vector<Context> samples;
  for (int i = 0; i < r.size(); i++) samples.push_back(r[i]);
  if (!r.chain({this}, {samples})) record_alone(r);
  record_others(r);
}

}  // namespace ps
