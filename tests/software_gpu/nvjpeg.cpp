// The functions of nvJPEG that native/cuda/decode/nvjpeg/nvjpeg.h names, for the software GPU: libjpeg decodes in the
// stream's order, behind the host, and reads files, lists and parameters no sooner. So memory that is freed too early
// is likely to be noticed. It keeps the real one's rules: a state must be set up for a batch's size and format, and
// again after a batch failed; the hardware takes baseline files; only the hardware knows regions; a header may be fine
// where data is not.
//
// SOFTWARE_GPU_JPEG_ENGINES is the number of hardware engines (1; 0: the backend cannot be made), and
// SOFTWARE_GPU_JPEG_REFUSES the size in bytes of files that turn out to be damaged when they are decoded.
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <jpeglib.h>

#include "cuda/decode/nvjpeg/nvjpeg.h"

// The types that nvJPEG keeps to itself.
namespace ps::gpu {
struct nvjpegHandle {
  bool hardware, interpolates;
  NvjpegAllocator memory;
};
struct nvjpegJpegState {
  nvjpegHandle* handle;
  int size = 0;
  NvjpegFormat format = kNvjpegRgb;
};
struct nvjpegDecodeParams {
  int x = 0, y = 0, width = -1, height = -1;
};
struct nvjpegJpegStream {
  bool baseline = false;
};
}  // namespace ps::gpu

using namespace ps::gpu;

namespace {

constexpr int kExecutionFailed = 6, kArchMismatch = 7;
std::atomic<int> decoded{0};

unsigned engines() {
  const char* text = std::getenv("SOFTWARE_GPU_JPEG_ENGINES");
  return text ? unsigned(std::atoi(text)) : 1;
}

bool refuses(size_t bytes) {
  const char* text = std::getenv("SOFTWARE_GPU_JPEG_REFUSES");
  return text && size_t(std::atoll(text)) == bytes;
}

struct Errors : jpeg_error_mgr {
  std::jmp_buf back;
};

struct Reader {
  jpeg_decompress_struct d;
  Errors errors;
  Reader() {
    d.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr c) { std::longjmp(static_cast<Errors*>(c->err)->back, 1); };
    errors.output_message = [](j_common_ptr) {};
    jpeg_create_decompress(&d);
  }
  ~Reader() { jpeg_destroy_decompress(&d); }
  bool open(const unsigned char* data, size_t size) {
    if (setjmp(errors.back)) return false;
    jpeg_mem_src(&d, data, size);
    return jpeg_read_header(&d, TRUE) == JPEG_HEADER_OK;
  }
  bool is_baseline() const {
    return d.data_precision == 8 && !d.progressive_mode && !d.arith_code && d.comps_in_scan == d.num_components;
  }
};

// Everything of a batch is still the caller's.
struct Work {
  const unsigned char* const* data;
  const size_t* lengths;
  const NvjpegImage* images;
  const NvjpegParams* params;
  int item;
  NvjpegFormat format;
  bool interpolates;
};

void store(const Work& w, int y, int width, const unsigned char* row) {
  const nvjpegDecodeParams region = w.params ? *w.params[w.item] : nvjpegDecodeParams{};
  const NvjpegImage& to = w.images[w.item];
  const bool part = region.width > 0;
  const int x0 = part ? region.x : 0, y0 = part ? region.y : 0;
  const int columns = part ? region.width : width, channels = w.format == kNvjpegY ? 1 : 3;
  if (part && (y < y0 || y >= y0 + region.height)) return;
  for (int x = 0; x < columns; x++)
    for (int c = 0; c < channels; c++) {
      const unsigned char value = row[(x0 + x) * channels + c];
      if (w.format == kNvjpegYuv) to.channel[c][size_t(y - y0) * to.pitch[c] + size_t(x)] = value;
      else to.channel[0][size_t(y - y0) * to.pitch[0] + size_t(x * channels + c)] = value;
    }
}

// What nvJPEG does on the GPU. Planes come in luma's resolution: the tests ask for those of 4:4:4 files alone.
void decode(void* context) {
  auto* w = static_cast<Work*>(context);
  Reader r;
  std::vector<unsigned char> row;
  if (r.open(w->data[w->item], w->lengths[w->item]) && !setjmp(r.errors.back)) {
    r.d.out_color_space = w->format == kNvjpegY ? JCS_GRAYSCALE : w->format == kNvjpegYuv ? JCS_YCbCr
                          : w->format == kNvjpegBgr ? JCS_EXT_BGR : JCS_RGB;
    r.d.do_fancy_upsampling = w->interpolates;
    jpeg_start_decompress(&r.d);
    row.resize(size_t(r.d.output_width) * 3);
    while (r.d.output_scanline < r.d.output_height) {
      const int y = int(r.d.output_scanline);
      JSAMPROW p = row.data();
      jpeg_read_scanlines(&r.d, &p, 1);
      store(*w, y, int(r.d.output_width), row.data());
    }
  }
  delete w;
}

int run(NvjpegState s, const unsigned char* const* data, const size_t* lengths, const NvjpegImage* images,
        const NvjpegParams* params, CUstream stream) {
  const int n = s->size;
  s->size = 0;
  if (n == 0) return kNvjpegInvalidParameter;
  for (int i = 0; i < n; i++) {
    Reader r;
    if (refuses(lengths[i]) || !r.open(data[i], lengths[i])) return kNvjpegBadJpeg;
    if (s->handle->hardware && !r.is_baseline()) return kNvjpegNotSupported;
    if (!memmem(data[i], lengths[i], "\xFF\xD9", 2)) return kNvjpegIncomplete;
  }
  void* scratch = nullptr;                         // as large as may be, so that pools are put to the test
  const NvjpegAllocator& memory = s->handle->memory;
  if (memory.take(memory.context, &scratch, 1 << 20, stream)) return kNvjpegAllocatorFailure;
  driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(scratch), 0, 1 << 20, stream);
  for (int i = 0; i < n; i++) {
    auto* work = new Work{data, lengths, images, params, i, s->format, s->handle->interpolates};
    if (driver().cuLaunchHostFunc(stream, decode, work) != kSuccess) return kExecutionFailed;
  }
  memory.give(memory.context, scratch, 1 << 20, stream);
  decoded += n;
  s->size = n;
  return kNvjpegSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// As native/cuda/decode/nvjpeg/nvjpeg.h takes them, so a definition that differs does not compile.
#define PS_DECLARE(name, ...) std::type_identity_t<__VA_ARGS__> name;
PS_NVJPEG_FUNCTIONS(PS_DECLARE)
#undef PS_DECLARE

int software_gpu_jpegs() { return decoded; }       // pictures so far

int nvjpegGetProperty(int which, int* value) { *value = which == 0 ? 13 : 0; return kNvjpegSuccess; }

int nvjpegCreateExV2(NvjpegBackend backend, NvjpegAllocator* device, NvjpegAllocator*, unsigned flags,
                     NvjpegHandle* handle) {
  if (backend == kNvjpegHardware && engines() == 0) return kArchMismatch;
  *handle = new nvjpegHandle{backend == kNvjpegHardware, (flags & kNvjpegInterpolate) != 0,
                             device ? *device : NvjpegAllocator{}};
  return kNvjpegSuccess;
}

int nvjpegCreateEx(NvjpegBackend backend, void*, void*, unsigned flags, NvjpegHandle* handle) {
  return nvjpegCreateExV2(backend, nullptr, nullptr, flags, handle);
}

int nvjpegDestroy(NvjpegHandle h) { delete h; return kNvjpegSuccess; }
int nvjpegSetDeviceMemoryPadding(size_t, NvjpegHandle) { return kNvjpegSuccess; }
int nvjpegSetPinnedMemoryPadding(size_t, NvjpegHandle) { return kNvjpegSuccess; }

int nvjpegGetHardwareDecoderInfo(NvjpegHandle, unsigned* count, unsigned* cores) {
  *count = engines(), *cores = engines() ? 4 : 0;
  return kNvjpegSuccess;
}

int nvjpegJpegStateCreate(NvjpegHandle h, NvjpegState* s) { *s = new nvjpegJpegState{h}; return kNvjpegSuccess; }
int nvjpegJpegStateDestroy(NvjpegState s) { delete s; return kNvjpegSuccess; }
int nvjpegDecodeParamsCreate(NvjpegHandle, NvjpegParams* p) { *p = new nvjpegDecodeParams; return kNvjpegSuccess; }
int nvjpegDecodeParamsDestroy(NvjpegParams p) { delete p; return kNvjpegSuccess; }

int nvjpegDecodeParamsSetROI(NvjpegParams p, int x, int y, int width, int height) {
  *p = {x, y, width, height};
  return x < 0 || y < 0 || width == 0 || height == 0 ? kNvjpegInvalidParameter : kNvjpegSuccess;
}

int nvjpegJpegStreamCreate(NvjpegHandle, NvjpegStream* s) { *s = new nvjpegJpegStream; return kNvjpegSuccess; }
int nvjpegJpegStreamDestroy(NvjpegStream s) { delete s; return kNvjpegSuccess; }

int nvjpegJpegStreamParseHeader(NvjpegHandle, const unsigned char* data, size_t size, NvjpegStream s) {
  Reader r;
  if (!r.open(data, size)) return kNvjpegBadJpeg;
  s->baseline = r.is_baseline();
  return kNvjpegSuccess;
}

int nvjpegDecodeBatchedSupportedEx(NvjpegHandle h, NvjpegStream s, NvjpegParams, int* unsupported) {
  *unsupported = h->hardware && !s->baseline;
  return kNvjpegSuccess;
}

int nvjpegDecodeBatchedInitialize(NvjpegHandle, NvjpegState s, int size, int, NvjpegFormat format) {
  s->size = size, s->format = format;
  return size > 0 ? kNvjpegSuccess : kNvjpegInvalidParameter;
}

int nvjpegDecodeBatchedPreAllocate(NvjpegHandle, NvjpegState, int size, int width, int height, NvjpegSampling,
                                   NvjpegFormat) {
  return size > 0 && width > 0 && height > 0 ? kNvjpegSuccess : kNvjpegInvalidParameter;
}

int nvjpegDecodeBatched(NvjpegHandle, NvjpegState s, const unsigned char* const* data, const size_t* lengths,
                        NvjpegImage* images, CUstream stream) {
  return run(s, data, lengths, images, nullptr, stream);
}

int nvjpegDecodeBatchedEx(NvjpegHandle h, NvjpegState s, const unsigned char* const* data, const size_t* lengths,
                          NvjpegImage* images, NvjpegParams* params, CUstream stream) {
  return h->hardware ? run(s, data, lengths, images, params, stream) : int(kNvjpegNotImplemented);
}

}  // extern "C"
#pragma GCC visibility pop
