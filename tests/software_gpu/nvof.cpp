// NVIDIA's library for optical flow as native/cuda/flow/nvof.h names it, for the software GPU: the displacement of each
// block of 8 x 8 pixels, of all within reach that whose sum of absolute differences is least, with a fraction by a
// parabola. tests/custom/test_optical_flow_gpu.py has the same in NumPy. It is as strict as the real one, or more so:
// calls in another order are refused, and work is done in the order of the streams.
//
// Of the environment: SOFTWARE_NVOF_NONE=1 has no engine, SOFTWARE_NVOF_GRIDS=4 no other grid, SOFTWARE_NVOF_HINTS=0
// takes no hints, SOFTWARE_NVOF_NO_LEVEL=10 not this one of the levels, SOFTWARE_NVOF_MEMORY=2 has room for so many
// sessions, SOFTWARE_NVOF_FAILS=3 fails at the third frame of a session; SOFTWARE_NVOF_LOG names a file in which is
// noted what is made, done and destroyed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/flow/nvof.h"

using namespace ps::gpu;
using namespace ps::gpu::nvof;

namespace {

constexpr int kBlock = 8;
constexpr uint32_t kPitchAlign = 256, kMinWidth = 32, kMinHeight = 16, kMaxExtent = 2048;

// How many sessions of a GPU were initialized.
int count_sessions(CUcontext context, int by) {
  static std::mutex mutex;
  static auto& counts = *new std::map<CUcontext, int>;
  std::lock_guard lock(mutex);
  return counts[context] += by;
}

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

void log(const std::string& line) {
  static std::mutex mutex;
  const char* path = std::getenv("SOFTWARE_NVOF_LOG");
  if (!path) return;
  std::lock_guard lock(mutex);
  if (FILE* f = std::fopen(path, "a")) {
    std::fprintf(f, "%s\n", line.c_str());
    std::fclose(f);
  }
}

struct Vector {
  int16_t x, y;
};

struct SoftBuffer {
  BufferParams params;
  CUdeviceptr memory = 0;
  uint32_t pitch() const {
    const uint32_t row = params.width * (params.format == kGray8 ? 1 : 4);
    return (row + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
  }
  const uint8_t* row(int y) const { return reinterpret_cast<const uint8_t*>(memory) + size_t(y) * pitch(); }
  Vector& vector(int x, int y) const {
    return reinterpret_cast<Vector*>(reinterpret_cast<uint8_t*>(memory) + size_t(y) * pitch())[x];
  }
  bool is(Usage usage, int format, uint32_t width, uint32_t height) const {
    return params.usage == usage && params.format == format && params.width == width && params.height == height;
  }
};

struct Session {
  CUcontext context = nullptr;
  InitParams params{};
  bool initialized = false;
  CUstream in = nullptr, out = nullptr;
  int executed = 0;
  std::vector<Vector> last{};                      // vectors; in the streams' order
};

int cells(uint32_t extent, int grid) { return int((extent + uint32_t(grid) - 1) / uint32_t(grid)); }

// One call of execute().
struct Job {
  Session* session;
  SoftBuffer input, reference, hints, vectors;
  bool has_hints, temporal;

  int gray(const SoftBuffer& b, int x, int y) const {
    x = std::clamp(x, 0, int(session->params.width) - 1), y = std::clamp(y, 0, int(session->params.height) - 1);
    if (b.params.format == kGray8) return b.row(y)[x];
    const uint8_t* p = b.row(y) + 4 * x;
    return p[3] == 255 ? (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8 : 0;
  }
  int difference(int x, int y, int dx, int dy) const {
    int sum = 0;
    for (int j = -kBlock / 2; j < kBlock / 2; j++)
      for (int i = -kBlock / 2; i < kBlock / 2; i++)
        sum += std::abs(gray(input, x + i, y + j) - gray(reference, x + i + dx, y + j + dy));
    return sum;
  }
  static int whole(int16_t v) { return int(std::floor(v / 32.0 + 0.5)); }
  static int16_t refined(int d, int before, int here, int after) {
    const int part = std::clamp(16 * (before - after) / std::max(before + after - 2 * here, 1), -16, 16);
    return int16_t(std::clamp<int>(32 * d + part, INT16_MIN, INT16_MAX));
  }
  Vector search(int x, int y, const std::vector<Vector>& starts) const {
    const int level = session->params.level, reach = level == kSlow ? 4 : level == kMedium ? 3 : 2;
    int least = INT32_MAX, at_x = 0, at_y = 0;
    for (const Vector start : starts)
      for (int dy = whole(start.y) - reach; dy <= whole(start.y) + reach; dy++)
        for (int dx = whole(start.x) - reach; dx <= whole(start.x) + reach; dx++)
          if (const int d = difference(x, y, dx, dy); d < least) least = d, at_x = dx, at_y = dy;
    const auto of = [&](int dx, int dy) { return difference(x, y, at_x + dx, at_y + dy); };
    return {refined(at_x, of(-1, 0), least, of(1, 0)), refined(at_y, of(0, -1), least, of(0, 1))};
  }
  void run() const {
    const InitParams& p = session->params;
    const int columns = cells(p.width, p.output_grid), rows = cells(p.height, p.output_grid);
    std::vector<Vector> found;
    for (int row = 0; row < rows; row++)
      for (int column = 0; column < columns; column++) {
        const int x = std::min(column * p.output_grid + p.output_grid / 2, int(p.width) - 1);
        const int y = std::min(row * p.output_grid + p.output_grid / 2, int(p.height) - 1);
        std::vector<Vector> starts{{0, 0}};
        if (temporal && !session->last.empty()) starts.push_back(session->last[size_t(row * columns + column)]);
        if (has_hints) starts.push_back(hints.vector(x / p.hint_grid, y / p.hint_grid));
        found.push_back(search(x, y, starts));
        vectors.vector(column, row) = found.back();
      }
    session->last = std::move(found);
  }
};

Session& session_of(Handle handle) { return *reinterpret_cast<Session*>(handle); }
SoftBuffer& buffer_of(Buffer buffer) { return *reinterpret_cast<SoftBuffer*>(buffer); }

int create(CUcontext context, Handle* to) {
  if (setting("SOFTWARE_NVOF_NONE", 0)) return kNotAvailable;
  if (!context || !to) return kInvalidPointer;
  *to = reinterpret_cast<Handle>(new Session{context});
  log("create");
  return kOk;
}

int init(Handle handle, const InitParams* p) {
  Session& s = session_of(handle);
  if (s.initialized) return kInvalidCall;
  if (p->mode != kModeFlow || p->costs || p->reserved || p->disparity_range || p->regions) return kInvalidParameter;
  if (p->width < kMinWidth || p->height < kMinHeight || std::max(p->width, p->height) > kMaxExtent)
    return kInvalidParameter;
  const auto grid = [](int g, int most) { return g >= 1 && g <= most && (g & (g - 1)) == 0; };
  if (!grid(p->output_grid, 4)) return kInvalidParameter;
  if (p->external_hints ? !grid(p->hint_grid, 8) || p->hint_grid < p->output_grid : p->hint_grid != kNoGrid)
    return kInvalidParameter;
  if (p->level != kSlow && p->level != kMedium && p->level != kFast) return kInvalidParameter;
  if (p->level == setting("SOFTWARE_NVOF_NO_LEVEL", 0)) return kUnsupportedFeature;
  if (count_sessions(s.context, 0) >= setting("SOFTWARE_NVOF_MEMORY", INT32_MAX)) return kNoMemory;
  count_sessions(s.context, 1);
  s.params = *p, s.initialized = true;
  log("init " + std::to_string(p->width) + " " + std::to_string(p->height) + " level " + std::to_string(p->level));
  return kOk;
}

int create_buffer(Handle handle, const BufferParams* p, int kind, Buffer* to) {
  if (!session_of(handle).initialized) return kNotInitialized;
  const int format = p->usage == kInput ? kAbgr8 : kShort2;
  if (kind != kDevicePointer || !(p->format == format || (p->usage == kInput && p->format == kGray8)))
    return kInvalidParameter;
  auto* b = new SoftBuffer{*p};
  const size_t bytes = size_t(b->pitch()) * p->height;
  if (driver().cuMemAlloc_v2(&b->memory, bytes) != kSuccess) return kNoMemory;
  std::memset(reinterpret_cast<void*>(b->memory), 0x5a, bytes);
  *to = reinterpret_cast<Buffer>(b);
  log("buffer");
  return kOk;
}

void* array_of(Buffer) { return nullptr; }
CUdeviceptr pointer_of(Buffer buffer) { return buffer_of(buffer).memory; }

int strides_of(Buffer buffer, Strides* to) {
  *to = {};
  to->planes[0] = {buffer_of(buffer).pitch(), buffer_of(buffer).params.height};
  to->count = 1;
  return kOk;
}

int set_streams(Handle handle, CUstream in, CUstream out) {
  session_of(handle).in = in, session_of(handle).out = out;
  return kOk;
}

int execute(Handle handle, const ExecuteInput* given, ExecuteOutput* result) {
  Session& s = session_of(handle);
  const InitParams& p = s.params;
  if (!s.initialized || given->padding || given->padding_too || given->reserved || given->regions)
    return kInvalidParameter;
  if (bool(given->hints) != bool(p.external_hints)) return kInvalidPointer;
  if (++s.executed == setting("SOFTWARE_NVOF_FAILS", 0)) return kGeneric;
  const Job job{&s, buffer_of(given->input), buffer_of(given->reference),
                given->hints ? buffer_of(given->hints) : SoftBuffer{}, buffer_of(result->vectors),
                given->hints != nullptr, !given->no_temporal_hints};
  const int format = job.input.params.format;
  const auto in_cells = [&](const SoftBuffer& b, Usage usage, int grid) {
    return b.is(usage, kShort2, uint32_t(cells(p.width, grid)), uint32_t(cells(p.height, grid)));
  };
  if (!job.input.is(kInput, format, p.width, p.height) || !job.reference.is(kInput, format, p.width, p.height) ||
      !in_cells(job.vectors, kOutput, p.output_grid) || (given->hints && !in_cells(job.hints, kHint, p.hint_grid)))
    return kInvalidParameter;
  CUevent ready = nullptr;                         // the engine begins when the stream of the input has come here
  const Driver& d = driver();
  if (d.cuEventCreate(&ready, kEventDisableTiming) || d.cuEventRecord(ready, s.in) ||
      d.cuStreamWaitEvent(s.out, ready, 0) || d.cuEventDestroy_v2(ready))
    return kGeneric;
  const auto run = [](void* data) {
    const auto* j = static_cast<Job*>(data);
    j->run();
    delete j;
  };
  log("execute" + std::string(job.temporal ? " temporal" : "") + (job.has_hints ? " hints" : ""));
  return d.cuLaunchHostFunc(s.out, run, new Job(job)) == kSuccess ? kOk : kGeneric;
}

int destroy_buffer(Buffer buffer) {
  const bool freed = driver().cuMemFree_v2(buffer_of(buffer).memory) == kSuccess;
  delete &buffer_of(buffer);
  log("buffer destroyed");
  return freed ? kOk : kGeneric;
}

int destroy(Handle handle) {
  Session& s = session_of(handle);
  if (!s.initialized) return kNotInitialized;      // and what it has is lost, as with the real one
  if (s.out && driver().cuStreamSynchronize(s.out) != kSuccess) return kGeneric;
  count_sessions(s.context, -1);
  delete &s;
  log("destroy");
  return kOk;
}

int last_error(Handle, char* text, uint32_t* size) {
  *size = uint32_t(std::snprintf(text, *size, "as the software engine is set"));
  return kOk;
}

int capabilities(Handle, int what, uint32_t* values, uint32_t* count) {
  std::vector<uint32_t> known;
  const int only = setting("SOFTWARE_NVOF_GRIDS", 0);
  switch (what) {
    case kOutputGrids: known = only ? std::vector<uint32_t>{uint32_t(only)} : std::vector<uint32_t>{1, 2, 4}; break;
    case kHintGrids: known = only ? std::vector<uint32_t>{uint32_t(only), 8} : std::vector<uint32_t>{1, 2, 4, 8}; break;
    case kHints: known = {uint32_t(setting("SOFTWARE_NVOF_HINTS", 1))}; break;
    case kLeastWidth: known = {kMinWidth}; break;
    case kLeastHeight: known = {kMinHeight}; break;
    case kMostWidth: case kMostHeight: known = {kMaxExtent}; break;
    default: return kInvalidParameter;
  }
  *count = uint32_t(known.size());
  if (values) std::copy(known.begin(), known.end(), values);
  return kOk;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CreateInstance NvOFAPICreateInstanceCuda;

int NvOFAPICreateInstanceCuda(uint32_t version, Api* to) {
  if (version != kVersion) return kInvalidVersion;
#define PS_GIVE(name, ...) to->name = name;
  PS_NVOF_FUNCTIONS(PS_GIVE)
#undef PS_GIVE
  return kOk;
}
}
#pragma GCC visibility pop
