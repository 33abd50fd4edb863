// The functions of nvImageCodec that native/cuda/decode/nvimgcodec/nvimgcodec.h names, for the software GPU:
// uncompressed TIFF of one strip, decoded in the stream's order, behind the host. It is as strict as the real one: it
// gives the channels as stored, or RGB of colour files; of big-endian files it knows no regions; damage shows in an
// item's status.
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "cuda/decode/nvimgcodec/nvimgcodec.h"

namespace ps::gpu::nvimgcodec {

struct nvimgcodecInstance {};
struct nvimgcodecDecoder {
  const ExecutionParams* params;       // the caller's, as the real one keeps them
};
struct nvimgcodecCodeStream {
  const unsigned char* data;
  size_t size;
  bool big_endian = false;
  std::map<int, uint32_t> tags{};
  Region region{};
  size_t bytes_of_number() const { return tags.at(258) > 8 ? 2 : 1; }
};
struct nvimgcodecImage {
  ImageInfo info;
};
struct nvimgcodecFuture {
  std::vector<uint32_t> statuses;
};

}  // namespace ps::gpu::nvimgcodec

using namespace ps::gpu;
using namespace ps::gpu::nvimgcodec;

namespace {

enum Tag : int {
  kWidth = 256, kHeight = 257, kBits = 258, kCompression = 259, kPixels = 273, kUpright = 274, kChannels = 277,
  kMost = 281,
};
enum Status : uint32_t { kDamaged = 0x7, kOtherKind = 0x23, kOtherChannels = 0x5, kNoRegions = 0x11 };
constexpr int kBadCodestream = 3, kInvalidParameter = 2, kExecutionFailed = 8;

// The tags' values; of several values the first.
bool parse(nvimgcodecCodeStream& s) {
  if (s.size < 8 || (std::memcmp(s.data, "II", 2) && std::memcmp(s.data, "MM", 2))) return false;
  s.big_endian = s.data[0] == 'M';
  const auto number = [&](size_t at, int bytes) {
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++) v |= uint32_t(s.data[at + size_t(i)]) << 8 * (s.big_endian ? bytes - 1 - i : i);
    return v;
  };
  const size_t at = number(4, 4);
  if (at + 2 > s.size) return false;
  const size_t count = number(at, 2);
  if (at + 2 + count * 12 > s.size) return false;
  for (size_t i = 0; i < count; i++) {
    const size_t entry = at + 2 + i * 12;
    const int bytes = number(entry + 2, 2) == 3 ? 2 : 4;
    size_t value = entry + 8;
    if (number(entry + 4, 4) * size_t(bytes) > 4) value = number(value, 4);
    if (value + size_t(bytes) > s.size) return false;
    s.tags[int(number(entry, 2))] = number(value, bytes);
  }
  for (int needed : {kWidth, kHeight, kBits, kPixels, kChannels})
    if (!s.tags.count(needed)) return false;
  return true;
}

struct Work {
  nvimgcodecCodeStream file;
  nvimgcodec::ImageInfo to;
};

void decode(void* context) {
  auto* w = static_cast<Work*>(context);
  const nvimgcodecCodeStream& f = w->file;
  const PlaneInfo& plane = w->to.plane_info[0];
  const size_t number = f.bytes_of_number(), stored = f.tags.at(kChannels), wanted = plane.num_channels;
  const bool part = f.region.ndim != 0;
  const size_t y0 = part ? size_t(f.region.start[0]) : 0, x0 = part ? size_t(f.region.start[1]) : 0;
  for (size_t y = 0; y < plane.height; y++)
    for (size_t x = 0; x < plane.width; x++)
      for (size_t i = 0; i < wanted * number; i++) {
        const size_t from = ((y0 + y) * f.tags.at(kWidth) + x0 + x) * stored * number;
        const size_t byte = number == 2 && f.big_endian ? i ^ 1 : i;
        static_cast<uint8_t*>(w->to.buffer)[y * plane.row_stride + x * wanted * number + i] =
            f.data[f.tags.at(kPixels) + from + byte];
      }
  delete w;
}

uint32_t start(const nvimgcodecCodeStream& f, const nvimgcodec::ImageInfo& to) {
  const uint32_t channels = f.tags.at(kChannels);
  const size_t bytes = size_t(f.tags.at(kWidth)) * f.tags.at(kHeight) * channels * f.bytes_of_number();
  if (f.tags.count(kCompression) && f.tags.at(kCompression) != 1) return kOtherKind;
  if (f.region.ndim && f.big_endian) return kNoRegions;
  const bool as_stored = to.sample_format == kUnchanged && to.plane_info[0].num_channels == channels;
  const bool rgb = to.sample_format == kRgb && channels >= 3 && to.plane_info[0].num_channels == 3;
  if (!as_stored && !rgb) return kOtherChannels;
  if (f.tags.at(kPixels) + bytes > f.size) return kDamaged;
  auto* work = new Work{f, to};
  return driver().cuLaunchHostFunc(to.cuda_stream, decode, work) == kSuccess ? kDone : kDamaged;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// As native/cuda/decode/nvimgcodec/nvimgcodec.h takes them, so a definition that differs does not compile.
#define PS_DECLARE(name, ...) std::type_identity_t<__VA_ARGS__> name;
PS_NVIMGCODEC_FUNCTIONS(PS_DECLARE)
#undef PS_DECLARE

int nvimgcodecGetProperties(Properties* p) {
  const char* other = std::getenv("SOFTWARE_NVIMGCODEC_VERSION");
  p->version = other ? uint32_t(std::atoi(other)) : kVersion;
  return kOk;
}
int nvimgcodecInstanceCreate(Instance* i, const InstanceCreateInfo*) { *i = new nvimgcodecInstance; return kOk; }

int nvimgcodecDecoderCreate(Instance, Decoder* d, const ExecutionParams* params, const char*) {
  if (params->device_id < 0) return kInvalidParameter;
  *d = new nvimgcodecDecoder{params};
  return kOk;
}
int nvimgcodecDecoderDestroy(Decoder d) { delete d; return kOk; }

int nvimgcodecCodeStreamCreateFromHostMem(Instance, CodeStream* s, const unsigned char* data, size_t size,
                                          const CodeStreamView*) {
  auto* made = new nvimgcodecCodeStream{data, size};
  if (!parse(*made)) return delete made, kBadCodestream;
  *s = made;
  return kOk;
}

int nvimgcodecCodeStreamGetSubCodeStream(CodeStream s, CodeStream* part, const CodeStreamView* view) {
  *part = new nvimgcodecCodeStream(*s);
  (*part)->region = view->region;
  return kOk;
}
int nvimgcodecCodeStreamDestroy(CodeStream s) { delete s; return kOk; }

int nvimgcodecCodeStreamGetImageInfo(CodeStream s, nvimgcodec::ImageInfo* i) {
  constexpr int rotated[] = {0, 0, 0, 180, 180, 270, 270, 90, 90}, flip_x[] = {0, 0, 1, 0, 1, 1, 0, 1, 0};
  const auto tag = [&](int which, uint32_t fallback) { return s->tags.count(which) ? s->tags.at(which) : fallback; };
  std::strcpy(i->codec_name, "tiff");
  i->num_planes = 1;
  PlaneInfo& p = i->plane_info[0];
  p.width = tag(kWidth, 0), p.height = tag(kHeight, 0), p.num_channels = tag(kChannels, 0);
  p.sample_type = tag(kBits, 8) > 16 ? 0x200B : tag(kBits, 8) > 8 ? 0x1004 : 0x0802;
  uint32_t bits = 0;
  for (uint32_t most = tag(kMost, 0); most; most >>= 1) bits++;
  p.precision = uint8_t(bits ? bits : tag(kBits, 8));
  const uint32_t exif = tag(kUpright, 1);
  i->orientation.rotated = rotated[exif], i->orientation.flip_x = flip_x[exif];
  return kOk;
}

int nvimgcodecImageCreate(Instance, Image* i, const nvimgcodec::ImageInfo* info) {
  *i = new nvimgcodecImage{*info};
  return info->buffer && info->buffer_kind == kDeviceBuffer ? kOk : kInvalidParameter;
}
int nvimgcodecImageDestroy(Image i) { delete i; return kOk; }

int nvimgcodecDecoderDecode(Decoder d, const CodeStream* files, const Image* to, int n, const DecodeParams*,
                            Future* future) {
  const CUstream stream = n ? to[0]->info.cuda_stream : nullptr;
  void* scratch = nullptr;                         // so that pools are put to the test
  const auto& memory = *d->params->device_allocator;
  if (memory.take(memory.context, &scratch, 1 << 20, stream)) return kExecutionFailed;
  driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(scratch), 0, 1 << 20, stream);
  *future = new nvimgcodecFuture;
  for (int i = 0; i < n; i++) (*future)->statuses.push_back(start(*files[i], to[i]->info));
  memory.give(memory.context, scratch, 1 << 20, stream);
  return kOk;
}

int nvimgcodecFutureWaitForAll(Future) { return kOk; }
int nvimgcodecFutureGetProcessingStatus(Future f, uint32_t* statuses, size_t* count) {
  *count = f->statuses.size();
  std::memcpy(statuses, f->statuses.data(), *count * sizeof(uint32_t));
  return kOk;
}
int nvimgcodecFutureDestroy(Future f) { delete f; return kOk; }

}  // extern "C"
#pragma GCC visibility pop
