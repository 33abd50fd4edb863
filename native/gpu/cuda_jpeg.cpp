#include "gpu/cuda_jpeg.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "gpu/cuda_jpeg_plan.h"
#include "gpu/kernel.h"
#include "gpu/recorder.h"
#include "kernels/device/jpeg_coefficients.h"
#include "kernels/device/jpeg_dc.h"
#include "kernels/device/jpeg_fused.h"
#include "kernels/device/jpeg_huffman.h"
#include "kernels/device/jpeg_list_pixels.h"
#include "kernels/device/jpeg_pixels.h"
#include "kernels/device/jpeg_synchronize.h"
#include "kernels/device/jpeg_transform.h"
#include "kernels/device/jpeg_unstuff.h"

namespace ps::gpu {
namespace {

using device::JpegPicture;
using device::JpegStatus;

// Bytes of what is decoded at a time: coefficients and planes are several times as large as pictures.
int64_t memory_at_a_time(const Device& device) {
  const Current current(device);
  size_t unused = 0, all = 0;
  check(driver().cuMemGetInfo_v2(&unused, &all), "cuMemGetInfo");
  return std::clamp(int64_t(all / 16), int64_t(1) << 28, int64_t(2) << 30);
}

std::string source(const char* header, const char* function, int blocks = 1) {
  return std::string("#include \"kernels/device/") + header + ".h\"\nPS_JPEG_KERNEL(" + function + ", " +
         std::to_string(blocks) + ")\n";
}

const std::string kTables = source("jpeg_table", "jpeg_tables"), kCount = source("jpeg_unstuff", "jpeg_count"),
                  kUnstuff = source("jpeg_unstuff", "jpeg_unstuff"),
                  kSynchronize = source("jpeg_synchronize", "jpeg_synchronize", 3),
                  kJoin = source("jpeg_synchronize", "jpeg_join"),
                  kSettle = source("jpeg_synchronize", "jpeg_settle"),
                  kWrite = source("jpeg_coefficients", "jpeg_write", 3),
                  kList = source("jpeg_lists", "jpeg_list", 3),
                  kListTransform = source("jpeg_list_transform", "jpeg_list_transform", 5),
                  kListPixels = source("jpeg_list_pixels", "jpeg_list_pixels", 5),
                  kSpans = source("jpeg_fused", "jpeg_spans"), kFused = source("jpeg_fused", "jpeg_fused", 2),
                  kDc = source("jpeg_dc", "jpeg_dc"),
                  kTransform = source("jpeg_transform", "jpeg_transform", 5),
                  kPixels = source("jpeg_pixels", "jpeg_pixels", 5);

// What becomes of coefficients between the scans and the planes.
enum class Coefficients { blocks, lists, direct, fused };
Coefficients coefficients() {
  static const Coefficients how = [] {
    const char* name = std::getenv("PENSTOCK_JPEG_COEFFICIENTS");
    if (name && std::strcmp(name, "lists") == 0) return Coefficients::lists;
    if (name && std::strcmp(name, "direct") == 0) return Coefficients::direct;
    return name && std::strcmp(name, "fused") == 0 ? Coefficients::fused : Coefficients::blocks;
  }();
  return how;
}
bool direct() { return coefficients() == Coefficients::direct; }
bool as_lists() { return coefficients() == Coefficients::lists || direct(); }
bool fused() { return coefficients() == Coefficients::fused; }
// For measurements: so many bytes of shared memory more for the kernel that writes lists.
int extra_shared() {
  static const char* bytes = std::getenv("PENSTOCK_JPEG_EXTRA");
  return bytes ? std::atoi(bytes) : 0;
}

// Pictures that are decoded together: all kernels run once for all of them.
class Group {
 public:
  explicit Group(Recorder& r) : r_(r) { plans_.clear(); }

  // `file`: where it is on the GPU.
  void add(const CudaJpeg::Item& item, const uint8_t* file, const DecodeOptions& options) {
    plans_.push_back(plan_jpeg(item, options, pool_));
    plans_.back().picture.file = file;
    bytes_ += plans_.back().bytes();
  }
  int64_t bytes() const { return bytes_; }

  // Up to where it is known which pictures can be decoded.
  void decode_scans(JpegStatus* status) {
    const device::JpegTable* tables = make_tables();
    divide();
    give_memory(status);
    for (size_t i = 0; i < plans_.size(); i++)
      for (int k = 0; k < plans_[i].table_count; k++) pictures_[i].table[k] = tables + plans_[i].tables[k];
    const size_t bytes = plans_.size() * sizeof(JpegPicture);
    there_ = static_cast<JpegPicture*>(r_.scratch(bytes));
    r_.copy_to_device(there_, pictures_, bytes);
    const auto pieces = [](const JpegPlan& p) { return int(p.picture.pieces); };
    constexpr int scan_threads = device::kJpegScanThreads;
    launch(kCount, pieces, sizeof(device::JpegUnstuffMemory));
    launch(kUnstuff, pieces, sizeof(device::JpegUnstuffMemory));
    launch(kSynchronize, [](const JpegPlan& p) { return p.group_blocks(); },
           int(sizeof(device::JpegSynchronizeMemory)) + stretch(device::synchronize_bits), scan_threads);
    launch(kJoin, [](const JpegPlan& p) { return p.seam_blocks(); },
           int(sizeof(device::JpegJoinMemory)) + stretch(device::join_bits));
    launch(kSettle, [](const JpegPlan&) { return 1; }, sizeof(device::JpegSettleMemory));
    if (fused()) {
      launch(kSpans, [](const JpegPlan& p) { return p.part_blocks(); }, 0, device::kJpegWriteThreads);
      launch(kFused, [](const JpegPlan& p) { return p.fused_blocks(); },
             int(sizeof(device::JpegFusedMemory)) + stretch(device::fused_bits));
      return;
    }
    const int write = as_lists() ? int(sizeof(device::JpegScanMemory)) + extra_shared()
                                 : int(sizeof(device::JpegWriteMemory));
    launch(as_lists() ? kList : kWrite, [](const JpegPlan& p) { return p.part_blocks(); },
           write + stretch(device::write_bits), device::kJpegWriteThreads);
    constexpr int sums = device::kJpegThreads * sizeof(device::JpegDifferences);
    launch(kDc, [](const JpegPlan& p) { return p.sum_blocks(); }, sums);
  }

  void make_pixels() {
    if (fused()) {
    } else if (as_lists())
      launch(kListTransform, [](const JpegPlan& p) { return direct() && p.direct ? 0 : p.span_blocks(); },
             sizeof(device::JpegListTransformMemory), device::kJpegListTransformThreads);
    else
      launch(kTransform, [](const JpegPlan& p) { return p.tiles; }, sizeof(device::JpegTransformMemory));
    if (direct())
      launch(kListPixels, [](const JpegPlan& p) { return p.direct ? p.span_blocks() : 0; },
             sizeof(device::JpegListPixelsMemory), device::kJpegListTransformThreads);
    launch(kPixels, [](const JpegPlan& p) {
      if (direct() && p.direct) return 0;
      const device::JpegTiles tiles(p.picture);
      return tiles.across * tiles.down;
    }, sizeof(device::JpegPixelsMemory));
  }

 private:
  // Bytes of shared memory for the longest stretch of a scan.
  int stretch(uint32_t (*bits_of)(const JpegPicture&)) const {
    uint32_t words = 0;
    for (const JpegPlan& p : plans_) words = std::max(words, device::jpeg_stretch(bits_of(p.picture)));
    return int(words * 4);
  }

  template <class Blocks> void launch(const std::string& kernel, Blocks blocks_of, int shared,
                                       int threads = device::kJpegThreads) {
    std::vector<int> blocks;
    blocks.reserve(plans_.size());
    for (const JpegPlan& p : plans_) blocks.push_back(blocks_of(p));
    const device::JpegJob job{there_, 0};
    const auto* bytes = reinterpret_cast<const uint8_t*>(&job);
    r_.launch(kernel, blocks, {bytes, bytes + sizeof job}, 0, threads, shared);
  }

  const device::JpegTable* make_tables() {
    const auto& codes = pool_.codes();
    device::JpegTableJob job{};
    job.codes = static_cast<const device::JpegCodes*>(r_.constant(codes.data(), codes.size() * sizeof codes[0]));
    job.tables = static_cast<device::JpegTable*>(r_.scratch(codes.size() * sizeof(device::JpegTable)));
    const auto* bytes = reinterpret_cast<const uint8_t*>(&job);
    r_.launch(kTables, {int(codes.size())}, {bytes, bytes + sizeof job}, 0, device::kJpegThreads);
    return job.tables;
  }

  // A part for each thread that a GPU can hold at the same time. The more parts are in a group, the less each thread
  // has to pass over before it is in step, but the more words it needs in shared memory. That takes long where an MCU
  // has many blocks.
  void divide() {
    constexpr int64_t threads = 131072, step = 256;
    int64_t bits = 0;
    for (const JpegPlan& p : plans_) bits += p.scan_bits();
    const int64_t each = (bits / threads + step - 1) / step * step;
    const auto part = uint32_t(std::clamp(each, int64_t(768), int64_t(1024)));
    const uint32_t group = r_.device().max_shared() >= 200 * 1024 ? 2 : 1;
    for (JpegPlan& p : plans_) {
      const int blocks = p.picture.blocks_in_mcu;
      p.divide(part, group, blocks == 1 ? 256 : blocks <= 3 ? 768 : 2048);
    }
  }

  void give_memory(JpegStatus* status) {
    MemoryLayout layout;
    layout.expect(plans_.size() * 20);
    pictures_ = static_cast<JpegPicture*>(r_.pinned(plans_.size() * sizeof(JpegPicture)));
    for (size_t i = 0; i < plans_.size(); i++) {
      const JpegPlan& plan = plans_[i];
      JpegPicture& p = *new (pictures_ + i) JpegPicture(plan.picture);
      p.status = status + i;
      if (as_lists()) {
        layout.add(p.lists, plan.list_vectors());
        layout.add(p.list_length, p.parts);
        layout.add(p.spans, plan.spans());
      } else if (fused()) {
        layout.add(p.fused_span, plan.fused_blocks());
        layout.add(p.chain, plan.fused_blocks());
        layout.add(p.ticket, 1);
      } else {
        layout.add(p.coefficients, plan.coefficients / 2);
      }
      layout.add(p.data, plan.data);
      layout.add(p.piece, p.pieces);
      layout.add(p.segment, int64_t(p.segments) + 1);
      layout.add(p.entry, p.parts);
      layout.add(p.part, p.parts);
      layout.add(p.seam, p.parts);
      layout.add(p.slot_states, int64_t(p.parts) * device::kJpegSlots);
      layout.add(p.sum, p.parts);
      for (int k = 0; k < p.components; k++) {
        layout.add(p.component[k].differences, plan.dc[k] / 2);
        layout.add(p.component[k].dc, plan.dc[k] / 2);
        layout.add(p.component[k].plane, plan.plane[k]);
      }
    }
    layout.put(r_.scratch(size_t(layout.bytes())));
  }

  Recorder& r_;
  JpegTablePool pool_;
  // One group at a time: the system's pages would be faulted in anew for each.
  static inline thread_local std::vector<JpegPlan> plans_;
  int64_t bytes_ = 0;
  JpegPicture* pictures_ = nullptr;          // in pinned memory
  JpegPicture* there_ = nullptr;             // the same on the GPU
};

struct FileCopy {
  const uint8_t *begin, *end;
  uint8_t* to = nullptr;
};

// One copy of the files that lie in this block, with what is between them, if that is little. Kernels need files at
// multiples of 16.
void join_files(const std::vector<CudaJpeg::Item>& items, const Buffer& block, std::vector<FileCopy>& copies,
                std::vector<size_t>& copy_of) {
  constexpr uintptr_t align = 16;
  constexpr size_t between = 4096;                 // bytes for each file
  const uint8_t *first = block.data(), *last = first + block.capacity();
  const auto fits = [&](const CudaJpeg::Item& i) {
    return i.data >= first && i.data + i.size <= last && reinterpret_cast<uintptr_t>(i.data) % align == 0;
  };
  FileCopy c{last, first};
  size_t bytes = 0;
  for (const CudaJpeg::Item& i : items) {
    if (!fits(i)) continue;
    c.begin = std::min(c.begin, i.data), c.end = std::max(c.end, i.data + i.size);
    bytes += i.size + between;
  }
  if (c.begin >= c.end || size_t(c.end - c.begin) > bytes) return;
  for (size_t k = 0; k < items.size(); k++)
    if (fits(items[k])) copy_of[k] = copies.size();
  copies.push_back(c);
}

}  // namespace

const std::vector<std::string>& CudaJpeg::sources() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> s = {kTables, kCount, kUnstuff, kSynchronize, kJoin, kSettle, kPixels};
    if (fused()) s.insert(s.end(), {kSpans, kFused});
    else if (as_lists()) s.insert(s.end(), {kList, kDc, kListTransform, kListPixels});
    else s.insert(s.end(), {kWrite, kDc, kTransform});
    return s;
  }();
  return all;
}

CudaJpeg::CudaJpeg(Device& device, const DecodeOptions& options)
    : options_(options), copies_(&device, 0), memory_(memory_at_a_time(device)) {
  for (const std::string& s : sources()) KernelTable::of(device).request(s);
}

// In a stream of its own, so that one batch is copied while the kernels work on the one before.
BufferRef CudaJpeg::copy_files(Device& device, const std::vector<Item>& items, const std::vector<BufferRef>& blocks,
                               std::vector<uint8_t*>& to) const {
  std::vector<FileCopy> copies;
  std::vector<size_t> copy_of(items.size(), SIZE_MAX);
  for (const BufferRef& block : blocks) join_files(items, *block, copies, copy_of);
  for (size_t i = 0; i < items.size(); i++) {
    if (copy_of[i] != SIZE_MAX) continue;
    copy_of[i] = copies.size();
    copies.push_back({items[i].data, items[i].data + items[i].size});
  }
  MemoryLayout layout;
  for (FileCopy& c : copies) layout.add(c.to, c.end - c.begin);
  const BufferRef memory = device.memory()->take(size_t(layout.bytes()), copies_);
  layout.put(memory->data());
  for (const FileCopy& c : copies)
    check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(c.to), c.begin, size_t(c.end - c.begin), copies_),
          "cuMemcpyHtoDAsync");
  to.resize(items.size());
  for (size_t i = 0; i < items.size(); i++) to[i] = copies[copy_of[i]].to + (items[i].data - copies[copy_of[i]].begin);
  return memory;
}

std::shared_ptr<CudaJpeg::Flight> CudaJpeg::start(Device& device, const std::vector<Item>& items,
                                                  const std::vector<BufferRef>& blocks, CUstream stream) const {
  auto flight = std::make_shared<Flight>();
  flight->order_.resize(items.size());
  std::iota(flight->order_.begin(), flight->order_.end(), 0);
  // The largest first: what begins last should not be what takes longest.
  std::stable_sort(flight->order_.begin(), flight->order_.end(),
                   [&](int a, int b) { return items[size_t(a)].size > items[size_t(b)].size; });
  const size_t status_bytes = items.size() * sizeof(JpegStatus);
  BufferRef status, memory;
  std::vector<uint8_t*> files;
  try {
    status = device.memory()->take(status_bytes, stream);
    flight->status_ = device.pinned()->take(status_bytes);
    memory = copy_files(device, items, blocks, files);
    Event(&device, copies_).wait_in(stream);
    for (size_t next = 0; next < items.size();) {
      Recorder r(&device, stream, stream, stream);
      r.begin(-1, {}, false);
      Group group(r);
      const size_t first = next;
      for (; next < items.size() && (next == first || group.bytes() < memory_); next++)
        group.add(items[size_t(flight->order_[next])], files[size_t(flight->order_[next])], options_);
      group.decode_scans(reinterpret_cast<JpegStatus*>(status->data()) + first);
      if (next == items.size()) {
        r.copy_to_host(flight->status_->data(), status->data(), status_bytes);
        r.call([&](CUstream s) { flight->known_ = std::make_shared<Event>(&device, s); });
      }
      group.make_pixels();
      r.run();
      const auto done = std::make_shared<Event>(&device, stream);
      for (const BufferRef& m : r.take_memory()) m->add_fence(done);
      for (const BufferRef& m : {status, memory, flight->status_}) m->add_fence(done);
    }
  } catch (...) {
    driver().cuStreamSynchronize(copies_);         // memory that they use is let go of
    driver().cuStreamSynchronize(stream);
    try {
      throw;
    } catch (const Error& e) {
      if (e.kind != ErrorKind::memory) throw;
    }
    flight->known_.reset();
    flight->refused_ = flight->order_;             // the CPU needs less
  }
  return flight;
}

const std::vector<int>& CudaJpeg::Flight::refused() {
  if (!known_) return refused_;
  known_->wait();
  known_.reset();
  const auto* status = reinterpret_cast<const JpegStatus*>(status_->data());
  for (size_t i = 0; i < order_.size(); i++)
    if (!status[i].complete || status[i].broken || status[i].extreme) refused_.push_back(order_[i]);
  std::sort(refused_.begin(), refused_.end());
  return refused_;
}

}  // namespace ps::gpu
