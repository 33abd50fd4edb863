#include "cuda/decode/nvimgcodec/image_codec.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/error.h"
#include "cuda/decode/nvimgcodec/nvimgcodec.h"

namespace ps::gpu {
namespace {

using namespace nvimgcodec;

bool starts_with(const uint8_t* data, size_t size, std::string_view bytes) {
  return size >= bytes.size() && std::memcmp(data, bytes.data(), bytes.size()) == 0;
}

// Whether the first frame header of a JPEG file is that of the lossless process with Huffman codes.
bool is_lossless_jpeg(const uint8_t* data, size_t size) {
  constexpr uint8_t lossless = 0xC3, start_of_scan = 0xDA, end = 0xD9;
  if (!starts_with(data, size, "\xFF\xD8\xFF")) return false;
  for (size_t at = 2; at + 4 <= size && data[at] == 0xFF;) {
    const uint8_t marker = data[at + 1];
    if (marker == 0xFF) { at++; continue; }
    if (marker == lossless) return true;
    const bool other_frame = marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (other_frame || marker == start_of_scan || marker == end) return false;
    at += 2 + (size_t(data[at + 2]) << 8 | data[at + 3]);
  }
  return false;
}

// nvImageCodec's value for a type, and back. Its low byte distinguishes types, its high byte is their size.
struct Type {
  DType type;
  int number;
};
constexpr Type kTypes[] = {
    {DType::i8, 0x0801}, {DType::u8, 0x0802}, {DType::i16, 0x1003}, {DType::u16, 0x1004}, {DType::i32, 0x2005},
    {DType::u32, 0x2006}, {DType::f16, 0x1009}, {DType::f32, 0x200B}, {DType::f64, 0x400D},
};

int number_of(DType t) {
  for (const Type& k : kTypes)
    if (k.type == t) return k.number;
  fail(ErrorKind::unsupported, std::string("nvImageCodec has no type ") + name_of(t));
}

DType type_of(int number) {
  for (const Type& k : kTypes)
    if (k.number == number) return k.type;
  return DType::none;
}

// EXIF's number for: rotated against the clock by so many degrees, then mirrored.
int exif(const Orientation& o) {
  constexpr int rotated[] = {1, 8, 3, 6}, then_mirrored[] = {2, 7, 4, 5};
  int quarters = o.rotated / 90 & 3;
  const bool mirrored = bool(o.flip_x) != bool(o.flip_y);
  if (o.flip_y) quarters = (quarters + 2) & 3;    // from bottom to top: half a turn, and from left to right
  return (mirrored ? then_mirrored : rotated)[quarters];
}

struct Streams {
  std::vector<CodeStream> all;
  CodeStream& add() { return all.emplace_back(); }
  ~Streams() {
    for (CodeStream s : all)
      if (s) api().nvimgcodecCodeStreamDestroy(s);
  }
};

struct Images {
  std::vector<Image> all;
  ~Images() {
    for (Image i : all)
      if (i) api().nvimgcodecImageDestroy(i);
  }
};

int channels_of(ImageType type, const CodecInfo& info) {
  return type == ImageType::any ? info.channels : type == ImageType::gray ? 1 : 3;
}

nvimgcodec::ImageInfo describe(const CodecItem& item, ImageType type, bool on_device, CUstream stream) {
  nvimgcodec::ImageInfo i;
  i.sample_format = type == ImageType::rgb    ? kRgb
                    : type == ImageType::bgr  ? kBgr
                    : type == ImageType::gray ? kY
                                              : kUnchanged;
  i.color_spec = type == ImageType::any ? kAsStored : type == ImageType::gray ? kGray : kSrgb;
  i.num_planes = 1;
  const bool part = item.region.width() > 0 && item.region.height() > 0;
  PlaneInfo& p = i.plane_info[0];
  p.width = uint32_t(part ? item.region.width() : item.info.width);
  p.height = uint32_t(part ? item.region.height() : item.info.height);
  p.num_channels = uint32_t(channels_of(type, item.info));
  p.sample_type = number_of(item.info.dtype);
  p.precision = uint8_t(item.info.bits);
  p.row_stride = item.pitch;
  i.buffer = item.to;
  i.buffer_kind = on_device ? kDeviceBuffer : kHostBuffer;
  i.cuda_stream = stream;
  return i;
}

}  // namespace

bool ImageCodec::knows(const uint8_t* data, size_t size) {
  using namespace std::string_view_literals;
  constexpr std::string_view starts[] = {
      "\0\0\0\x0CjP  \r\n\x87\n"sv, "\xFF\x4F\xFF\x51"sv,               // JPEG 2000: in a JP2 file, bare
      "II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv,                       // TIFF, BigTIFF
  };
  for (std::string_view s : starts)
    if (starts_with(data, size, s)) return true;
  return is_lossless_jpeg(data, size);
}

CodecInfo ImageCodec::peek(const uint8_t* data, size_t size) {
  static std::mutex mutex;                        // nothing is said about its parsers and threads
  const Api& a = api();
  std::lock_guard lock(mutex);
  Streams streams;
  nvimgcodec::ImageInfo i;
  if (a.nvimgcodecCodeStreamCreateFromHostMem(a.instance, &streams.add(), data, size, nullptr) != kOk ||
      a.nvimgcodecCodeStreamGetImageInfo(streams.all[0], &i) != kOk || i.num_planes == 0)
    fail(ErrorKind::decode, "nvImageCodec cannot read the file's header");
  CodecInfo info;
  info.format = i.codec_name;
  info.width = i.plane_info[0].width;
  info.height = i.plane_info[0].height;
  for (uint32_t p = 0; p < i.num_planes && p < kMaxPlanes; p++) info.channels += int(i.plane_info[p].num_channels);
  info.dtype = type_of(i.plane_info[0].sample_type);
  if (info.dtype == DType::none)
    fail(ErrorKind::decode, "the file holds numbers of a type that has no equal here");
  info.bits = i.plane_info[0].precision ? i.plane_info[0].precision : int(size_of(info.dtype)) * 8;
  info.bits = std::max(info.bits, 8);             // fewer are spread over all 8 when they are decoded
  info.orientation = exif(i.orientation);
  return info;
}

// The library keeps the addresses of these, and reads them whenever it needs memory.
struct ImageCodec::Settings {
  explicit Settings(const DeviceRef& device) : memory(device) {
    of_device.take = pinned.take = LibraryMemory::take;
    of_device.give = pinned.give = LibraryMemory::give;
    of_device.context = &memory.of_device;
    pinned.context = &memory.pinned;
    if (!device) return;
    params.device_allocator = &of_device;
    params.pinned_allocator = &pinned;
    params.device_id = device->number();
  }
  LibraryMemory memory;
  Allocator<kDeviceAllocator> of_device;
  Allocator<kPinnedAllocator> pinned;
  ExecutionParams params;
};

ImageCodec::ImageCodec(DeviceRef device, int threads)
    : device_(device), settings_(std::make_unique<Settings>(device)) {
  const Api& a = api();
  settings_->params.max_num_cpu_threads = threads;
  std::unique_ptr<Current> current = device_ ? std::make_unique<Current>(*device_) : nullptr;
  nvimgcodec::check(a.nvimgcodecDecoderCreate(a.instance, &decoder_, &settings_->params, nullptr),
                    "nvimgcodecDecoderCreate");
}

ImageCodec::~ImageCodec() {
  std::unique_ptr<Current> current = device_ ? std::make_unique<Current>(*device_) : nullptr;
  api().nvimgcodecDecoderDestroy(decoder_);
}

std::vector<ImageCodec::Failure> ImageCodec::decode(const CodecItem* items, int n, ImageType type, CUstream stream) {
  std::vector<Failure> failures;
  const Api& a = api();
  std::unique_ptr<Current> current = device_ ? std::make_unique<Current>(*device_) : nullptr;
  Streams streams;                                // in pairs where a region is wanted
  streams.all.reserve(size_t(n) * 2);
  Images images;
  std::vector<CodeStream> sources;
  std::vector<int> numbers;
  for (int k = 0; k < n; k++) {
    const CodecItem& item = items[k];
    CodeStream* source = &streams.add();
    bool ok = a.nvimgcodecCodeStreamCreateFromHostMem(a.instance, source, item.data, item.size, nullptr) == kOk;
    if (ok && item.region.width() > 0 && item.region.height() > 0) {
      CodeStreamView view;
      view.region.ndim = 2;
      view.region.start[0] = int(item.region.y0), view.region.start[1] = int(item.region.x0);
      view.region.end[0] = int(item.region.y1), view.region.end[1] = int(item.region.x1);
      CodeStream* part = &streams.add();
      ok = a.nvimgcodecCodeStreamGetSubCodeStream(*source, part, &view) == kOk;
      source = part;
    }
    if (!ok) {
      failures.emplace_back(k, "nvImageCodec cannot read the file's header");
      continue;
    }
    const nvimgcodec::ImageInfo info = describe(item, type, device_ != nullptr, stream);
    nvimgcodec::check(a.nvimgcodecImageCreate(a.instance, &images.all.emplace_back(), &info), "nvimgcodecImageCreate");
    sources.push_back(*source);
    numbers.push_back(k);
  }
  if (sources.empty()) return failures;
  DecodeParams params;
  Future future = nullptr;
  nvimgcodec::check(a.nvimgcodecDecoderDecode(decoder_, sources.data(), images.all.data(), int(sources.size()),
                                              &params, &future), "nvimgcodecDecoderDecode");
  std::vector<uint32_t> statuses(sources.size());
  size_t count = statuses.size();
  a.nvimgcodecFutureWaitForAll(future);
  const int status = a.nvimgcodecFutureGetProcessingStatus(future, statuses.data(), &count);
  a.nvimgcodecFutureDestroy(future);
  nvimgcodec::check(status, "nvimgcodecFutureGetProcessingStatus");
  for (size_t k = 0; k < statuses.size(); k++)
    if (statuses[k] != kDone) failures.push_back({numbers[k], "nvImageCodec: " + text_of_item(statuses[k])});
  return failures;
}

}  // namespace ps::gpu
