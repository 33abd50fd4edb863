// Records a group of picture operators as one fused kernel.
#include <cstring>

#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "cuda/record/picture.h"
#include "device/jpeg/decoded.h"

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
    case DType::f16: return PS_DEVICE_TYPE(half);
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::boolean: return "bool";
    default: fail(ErrorKind::type, "this type has no numbers");
  }
}

size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

// For blocks to share a multiprocessor.
constexpr int64_t kTileBytes = 32 * 1024, kDecodedTileBytes = 36 * 1024;
// With fewer rows at a time, most of a decoded picture would be made more than once.
constexpr int kLeastDecodedRows = 8;

// How many rows of a tile such a stage can do at a time; 0: not even one.
int rows_at_a_time(const StageOperator& stage, const Context& c) {
  int rows = device::kTile;
  while (rows && stage.tile_bytes(c, rows) > kTileBytes) rows /= 2;
  return rows;
}

constexpr Misfit kTooLarge = "the pictures are too large";
constexpr Misfit kNoPlanes = "its kernel cannot begin with the decoder's planes";

using Stages = std::vector<const StageOperator*>;
using AllContexts = std::vector<std::vector<Context>>;         // of each stage, by sample

// A sample of a group that begins with a decoded picture: what its tiles need. All stages ask for rectangles.
class DecodedTiles {
 public:
  DecodedTiles(const Stages& stages, const AllContexts& contexts, size_t sample, int channels, int width)
      : stages_(stages), contexts_(contexts), sample_(sample), channels_(channels), width_(width) {}

  int64_t own_bytes(int rows) const {                // of the stages
    int64_t bytes = 0;
    for (size_t k = 0; k < stages_.size(); k++)
      if (!stages_[k]->one_to_one()) bytes += stages_[k]->tile_bytes(contexts_[k][sample_], rows);
    return int64_t(padded(size_t(bytes)));
  }
  int64_t staged_bytes(int rows, bool swapped) const {
    Extent e{width_, rows};
    for (size_t k = stages_.size(); k-- > 0;) e = stages_[k]->tile_input(contexts_[k][sample_], e);
    return device::staged_bytes(int(e.width), int(e.height), channels_, swapped);
  }
  // Decides how many rows are done at a time, and whether they are made of planes. 0: stages have no room for a row.
  int rows(DecodedSample& s) const {
    int rows = device::kTile;
    while (rows >= kLeastDecodedRows && own_bytes(rows) + staged_bytes(rows, s.swapped) > kDecodedTileBytes) rows /= 2;
    s.planes = s.planes && rows >= kLeastDecodedRows;
    if (s.planes) return rows;
    rows = device::kTile;
    while (rows && own_bytes(rows) > kTileBytes) rows /= 2;
    return rows;
  }
  // The window of the picture that the whole group needs.
  Window needed() const {
    const auto out = pictures_of(contexts_.back()[sample_].out(0)), in = pictures_of(contexts_[0][sample_].in(0));
    if (out->width <= 0 || out->height <= 0) return {0, 0, 1, 1};
    Window w{0, 0, out->width, out->height};
    for (size_t k = stages_.size(); k-- > 0;) w = stages_[k]->needed(contexts_[k][sample_], w);
    return {std::max<int64_t>(w.x0, 0), std::max<int64_t>(w.y0, 0), std::min(w.x1, in->width),
            std::min(w.y1, in->height)};
  }

 private:
  const Stages& stages_;
  const AllContexts& contexts_;
  size_t sample_;
  int channels_, width_;
};

}  // namespace

std::string cpp_type(DType t) { return type_name(t); }

GroupMisfit Recorder::fuse(const Stages& stages, const AllContexts& contexts, DecodedInput* decoded) {
  const size_t count = contexts[0].size(), last = stages.size() - 1;
  if (!count) return {};
  std::vector<Pictures> in(count), out(count);
  bool dense = true;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k <= last; k++) {
      const Context &c = contexts[k][i], &first = contexts[k][0];
      if (c.in(0).dtype != first.in(0).dtype || c.out(0).dtype != first.out(0).dtype)
        return {k, "the samples of the batch differ in their types"};
      if (const Misfit why = stages[k]->stage_misfit(c)) return {k, why};
    }
    const auto from = pictures_of(contexts[0][i].in(0)), to = pictures_of(contexts[last][i].out(0));
    if (!from) return {0, misfit::no_pictures};
    if (!to) return {last, "the output has no height and width next to each other"};
    if (from->frames != to->frames) return {last, "the number of frames changes"};
    if (std::max({from->width, from->height, to->width, to->height}) > INT32_MAX / 4) return {last, kTooLarge};
    in[i] = *from;
    out[i] = *to;
    dense &= from->interleaved() && from->channels == in[0].channels;
  }
  const int64_t channels = in[0].channels;
  dense &= channels == 1 || channels == 3 || channels == 4;

  const auto one_to_one = [](const StageOperator* s) { return s->one_to_one(); };
  const bool rows = std::all_of(stages.begin(), stages.end(), one_to_one);
  std::string includes, layouts = PS_LAYOUT_OF(Launch) + PS_LAYOUT_OF(PictureJob);
  if (decoded) layouts += PS_LAYOUT_OF(DecodedView) + PS_LAYOUT_OF(JpegPicture);
  std::string texts, types;
  std::vector<Functor> functors;
  size_t stride = padded(sizeof(device::PictureJob));
  for (size_t k = 0; k <= last; k++) {
    functors.push_back(stages[k]->stage(contexts[k][0]));
    const std::string include = "#include \"" + functors[k].header + "\"\n";
    if (includes.find(include) == std::string::npos) includes += include;
    if (texts.find(functors[k].text) == std::string::npos) texts += functors[k].text;
    stride += padded(functors[k].bytes);
  }
  std::vector<int> steps(count), staged(count);
  int64_t shared = 0;
  int tiled_stages = 0;
  for (size_t k = 0; k <= last; k++) {
    bool tiled = !functors[k].tiled.empty() && std::all_of(stages.begin() + long(k) + 1, stages.end(), one_to_one);
    if (!stages[k]->one_to_one() && !tiled && decoded) return {k, kNoPlanes};
    tiled_stages += tiled;
    for (size_t i = 0; tiled && !decoded && i < count; i++)
      tiled = (steps[i] = rows_at_a_time(*stages[k], contexts[k][i])) > 0;
    for (size_t i = 0; tiled && !decoded && i < count; i++)
      shared = std::max(shared, stages[k]->tile_bytes(contexts[k][i], steps[i]));
    const std::string& type = tiled ? functors[k].tiled : functors[k].type;
    types += ",\n    " + type;
    layouts += layout(type, functors[k].bytes, functors[k].align);
  }
  const int tile_width = decoded && rows ? device::kDecodedWidth : device::kTile;
  if (decoded) {
    bool planes = false;
    if (contexts[0][0].in(0).dtype != DType::u8 || !dense || channels == 4 || tiled_stages > 1) return {0, kNoPlanes};
    for (size_t i = 0; i < count; i++) {
      const DecodedTiles tiles(stages, contexts, i, int(channels), tile_width);
      DecodedSample& s = decoded->samples[i];
      if (!(steps[i] = tiles.rows(s))) return {0, kNoPlanes};
      planes |= s.planes;
      s.needed = tiles.needed();
      staged[i] = int(tiles.own_bytes(steps[i]));
      shared = std::max(shared, staged[i] + (s.planes ? tiles.staged_bytes(steps[i], s.swapped) : 0));
    }
    if (!planes) return {0, "no picture of the batch is decoded to planes that fit into shared memory"};
  }
  includes += texts;
  const std::string header = rows ? "rows" : shared ? "tiles" : "picture";
  const std::string kernel = rows ? "PS_ROW_KERNEL" : shared ? "PS_TILE_KERNEL" : "PS_PICTURE_KERNEL";
  const std::string to_type = cpp_type(contexts[last][0].out(0).dtype);
  const std::string source =
      decoded ? "#include \"device/jpeg/decoded.h\"\n" + includes + layouts + "PS_DECODED_KERNEL(" + to_type + ", " +
                    std::to_string(channels) + ", " + std::to_string(tile_width) + types + ")\n"
              : "#include \"device/picture/" + header + ".h\"\n" + includes + layouts + kernel + "(" +
                    cpp_type(contexts[0][0].in(0).dtype) + ", " + to_type + ", " +
                    std::to_string(dense ? channels : 1) + (dense ? ", true" : ", false") + types + ")\n";

  std::vector<uint8_t> jobs(stride * count);
  std::vector<int> blocks(count);
  for (size_t i = 0; i < count; i++) {
    uint8_t* at = jobs.data() + stride * i;
    const auto parts = [](int64_t n, int64_t size) { return (n + size - 1) / size; };
    const int64_t groups = std::max<int64_t>(parts(out[i].width, device::kGroup), 1);   // of a row
    const void* from = decoded ? static_cast<const void*>(decoded->views + i) : contexts[0][i].in(0).data;
    const device::PictureJob job{from, contexts[last][i].out(0).data, in[i].stride, out[i].stride,
                                 int32_t(out[i].width), int32_t(out[i].height), int32_t(out[i].channels),
                                 int32_t(out[i].frames), steps[i], staged[i], device::Divisor(uint64_t(groups))};
    std::memcpy(at, &job, sizeof job);
    at += padded(sizeof job);
    for (size_t k = 0; k <= last; at += padded(functors[k++].bytes)) stages[k]->fill_stage(contexts[k][i], at);
    const int64_t tiles = parts(out[i].width, tile_width) * parts(out[i].height, device::kTile);
    const int64_t needed =
        out[i].frames * (rows && !decoded ? parts(groups * out[i].height, device::kGroupsPerBlock) : tiles);
    if (needed > INT32_MAX) return {last, kTooLarge};
    blocks[i] = out[i].channels * out[i].width > 0 ? int(needed) : 0;
  }
  const bool tiled = shared || decoded;
  launch(source, blocks, jobs, stride, tiled ? device::kTiledThreads : device::kPictureThreads, int(shared));
  return {};
}

}  // namespace gpu

Window StageOperator::needed(const Context& c, const Window& output) const {
  const auto in = gpu::pictures_of(c.in(0));
  return one_to_one() ? output : Window{0, 0, in->width, in->height};
}

void StageOperator::record(gpu::Recorder& r) const {
  std::vector<Context> samples;
  for (int i = 0; i < r.size(); i++) samples.push_back(r[i]);
  if (r.fuse({this}, {samples}).why) record_alone(r);
  record_others(r);
}

}  // namespace ps
