#include "cuda/decode/nvimgcodec/pictures.h"

#include <algorithm>
#include <mutex>

#include "core/error.h"
#include "cuda/driver/shared.h"
#include "decode/decoded.h"
#include "rows/memory_rows.h"

namespace ps::gpu {
namespace {

constexpr int kHostThreads = 4;                    // of nvImageCodec's own: most formats need some of the host

size_t aligned(size_t bytes) { return (bytes + kRowSlack + 255) / 256 * 256; }
DType stored_type(const ImageInfo& info) { return info.bits > 8 ? DType::u16 : DType::u8; }

void copy_down(void* to, const void* from, size_t bytes, CUstream stream) {
  check(driver().cuMemcpyDtoHAsync_v2(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream), "cuMemcpyDtoHAsync");
}

void copy_up(void* to, const void* from, size_t bytes, CUstream stream) {
  check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(to), from, bytes, stream), "cuMemcpyHtoDAsync");
}

}  // namespace

// One for a device, for all pipelines, with a stream of its own: the library may refer to a stream later, when the
// pipeline that it belonged to is gone.
struct CodecPictures::Decoder {
  std::mutex mutex{};
  DeviceRef device;
  Stream stream;
  ImageCodec codec;
  explicit Decoder(DeviceRef d) : device(d), stream(d, 0), codec(d, kHostThreads) { d->enter(); }
  ~Decoder() { device->leave(); }
};

struct CodecPictures::Task {
  const Item* item;
  Window stored;                   // what is decoded: a window of the stored picture, or the whole
  ImageType type = ImageType::any;
  int channels = 0;
  bool in_place = false;
  size_t at = 0;                   // where in the memory for what is not
  std::string why = {};            // it failed

  size_t row() const { return size_t(stored.width() * channels) * size_of(stored_type(item->info)); }
  size_t bytes() const { return row() * size_t(stored.height()); }
};

ImageInfo CodecPictures::peek(const uint8_t* data, size_t size) {
  const CodecInfo c = ImageCodec::peek(data, size);
  if (c.dtype != DType::u8 && c.dtype != DType::u16)
    fail(ErrorKind::decode, std::string("pictures are decoded from numbers of type UINT8 or UINT16, the file holds ") +
         name_of(c.dtype));
  if (c.width <= 0 || c.height <= 0 || c.channels <= 0)
    fail(ErrorKind::decode, "the " + c.format + " header says " + std::to_string(c.width) + " x " +
         std::to_string(c.height) + " pixels of " + std::to_string(c.channels) + " channels");
  return {nullptr, c.width, c.height, c.channels, c.dtype == DType::u8 ? 8 : std::max(c.bits, 9), c.orientation};
}

CodecPictures::Task CodecPictures::plan(const Item& item) const {
  const ImageInfo& info = item.info;
  const Orientation orientation(options_.orientation(info));
  const bool one = options_.type == ImageType::gray && info.channels == 1;
  const bool as_stored = options_.type == ImageType::any || info.channels < 3;
  Task t{&item, orientation.to_stored(item.window, info.width, info.height)};
  t.type = as_stored ? ImageType::any : ImageType::rgb;
  t.channels = as_stored ? info.channels : 3;
  t.in_place = info.bits == 8 && options_.dtype == DType::u8 && orientation.upright() &&
               (one || options_.type == t.type);
  return t;
}

// Returns those that failed.
std::vector<CodecPictures::Task> CodecPictures::attempt(Decoder& d, std::vector<Task> tasks) const {
  std::vector<Task> failed, to_convert;
  size_t total = 0;
  for (Task& t : tasks) {
    if (t.in_place) continue;
    t.at = total;
    total += aligned(t.bytes());
  }
  const BufferRef memory = d.device->memory()->take(std::max(total, size_t(1)), d.stream);
  for (const ImageType type : {ImageType::rgb, ImageType::any}) {
    std::vector<Task*> of;
    std::vector<CodecItem> items;
    for (Task& t : tasks) {
      if (t.type != type) continue;
      const ImageInfo& info = t.item->info;
      const Context& c = t.item->context;
      CodecItem i;
      i.data = c.in(0).as<uint8_t>(), i.size = c.in(0).bytes();
      i.info = {"", info.width, info.height, info.channels, stored_type(info), info.bits, info.orientation};
      if (t.stored.width() != info.width || t.stored.height() != info.height) i.region = t.stored;
      i.to = t.in_place ? c.out(0).data : memory->data() + t.at;
      i.pitch = t.row();
      items.push_back(i);
      of.push_back(&t);
    }
    if (items.empty()) continue;
    for (ImageCodec::Failure& f : d.codec.decode(items.data(), int(items.size()), type, d.stream))
      of[size_t(f.item)]->why = std::move(f.why);
  }
  for (Task& t : tasks)
    if (!t.why.empty()) failed.push_back(t);
    else if (!t.in_place) to_convert.push_back(t);
  if (!to_convert.empty()) convert(d, to_convert, memory->data());
  memory->add_fence(std::make_shared<Event>(d.device, d.stream));
  return failed;
}

// By way of the host, with the conversions that all formats share.
void CodecPictures::convert(Decoder& d, const std::vector<Task>& tasks, const uint8_t* decoded) const {
  size_t in = 0, out = 0;
  for (const Task& t : tasks) in += aligned(t.bytes()), out += aligned(t.item->context.out(0).bytes());
  const BufferRef memory = d.device->pinned()->take(in + out);
  uint8_t* from = memory->data();
  for (const Task& t : tasks) {
    copy_down(from, decoded + t.at, t.bytes(), d.stream);
    from += aligned(t.bytes());
  }
  check(driver().cuStreamSynchronize(d.stream), "cuStreamSynchronize");
  ImageDecoder decoder;
  from = memory->data();
  uint8_t* to = memory->data() + in;
  for (const Task& t : tasks) {
    const Context& c = t.item->context;
    Tensor picture = c.out(0);
    picture.data = to;
    MemorySink sink(picture);
    ShiftedRows shifted(sink, t.item->window.y0);
    DecodedPixels pixels(from, t.stored, t.channels);
    decoder.decode(pixels, nullptr, 0, t.item->info, options_, t.item->window, shifted);
    copy_up(c.out(0).data, to, picture.bytes(), d.stream);
    from += aligned(t.bytes());
    to += aligned(picture.bytes());
  }
  memory->add_fence(std::make_shared<Event>(d.device, d.stream));
}

std::vector<CodecPictures::Failure> CodecPictures::decode(Device& device, const std::vector<Item>& items,
                                                          CUstream stream) const {
  if (!decoder_)
    decoder_ = Shared<int, Decoder>::get(device.number(), [&] { return std::make_shared<Decoder>(&device); });
  Decoder& d = *decoder_;
  std::lock_guard lock(d.mutex);
  Event(&device, stream).wait_in(d.stream);
  std::vector<Task> tasks;
  for (const Item& i : items) tasks.push_back(plan(i));
  try {
    tasks = attempt(d, std::move(tasks));
    for (Task& t : tasks) {                        // not all decoders know regions
      t.stored = {0, 0, t.item->info.width, t.item->info.height};
      t.in_place = false;
      t.why.clear();
    }
    if (!tasks.empty()) tasks = attempt(d, std::move(tasks));
  } catch (...) {
    driver().cuStreamSynchronize(d.stream);       // some of it may be under way, to memory that is about to be freed
    throw;
  }
  Event(&device, d.stream).wait_in(stream);
  std::vector<Failure> failures;
  for (Task& t : tasks) failures.push_back({t.item->context, std::move(t.why)});
  return failures;
}

}  // namespace ps::gpu
