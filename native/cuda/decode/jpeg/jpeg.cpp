#include "cuda/decode/jpeg/jpeg.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "cuda/decode/jpeg/work.h"
#include "cuda/driver/kernel.h"
#include "cuda/record/layout.h"
#include "cuda/record/recorder.h"
#include "device/jpeg/coefficients.h"
#include "device/jpeg/convert.h"
#include "device/jpeg/dc.h"
#include "device/jpeg/direct.h"
#include "device/jpeg/huffman.h"
#include "device/jpeg/index.h"
#include "device/jpeg/pixels.h"
#include "device/jpeg/synchronize.h"
#include "device/jpeg/transform.h"
#include "device/jpeg/unstuff.h"

namespace ps::gpu {
namespace {

using device::JpegPicture;
using device::JpegStatus;

// Bytes for pictures decoded at a time: coefficients and planes are several times as large as files and pictures.
int64_t memory_at_a_time(Device& device) {
  const Current current(device);
  size_t unused = 0, all = 0;
  check(driver().cuMemGetInfo_v2(&unused, &all), "cuMemGetInfo");
  if (const size_t budget = device.memory()->budget()) all = std::min(all, budget);
  return std::clamp(int64_t(all / 16), std::min(int64_t(1) << 28, int64_t(all / 4)), int64_t(2) << 30);
}

// `job`: the layout of another one than JpegJob.
std::string source(const char* header, const std::string& function, int blocks = 1, const std::string& job = "") {
  return std::string("#include \"device/jpeg/") + header + ".h\"\n" + PS_LAYOUT_OF(Launch) + PS_LAYOUT_OF(JpegJob) +
         PS_LAYOUT_OF(JpegPicture) + PS_LAYOUT_OF(JpegPiece) + PS_LAYOUT_OF(JpegState) + PS_LAYOUT_OF(JpegStatus) +
         PS_LAYOUT_OF(JpegCodes) + PS_LAYOUT_OF(JpegTable) + job + "PS_JPEG_KERNEL(" + function + ", " +
         std::to_string(blocks) + ")\n";
}

const std::string kTables = source("table", "jpeg_tables", 1, PS_LAYOUT_OF(JpegTableJob)),
                  kCount = source("unstuff", "jpeg_count"),
                  kUnstuff = source("unstuff", "jpeg_unstuff"),
                  kSynchronize = source("synchronize", "jpeg_synchronize", 3),
                  kJoin = source("synchronize", "jpeg_join"),
                  kResolve = source("synchronize", "jpeg_resolve"),
                  kSeed = source("index", "jpeg_seed"),
                  kCoefficients = source("coefficients", "jpeg_coefficients", 3), kDc = source("dc", "jpeg_dc"),
                  kTransform = source("transform", "jpeg_transform", 5),
                  kDirect = source("direct", "jpeg_direct", 5),
                  kPixels = source("pixels", "jpeg_pixels", 5);

std::string convert_source(DType to) {
  const char* type = to == DType::i8    ? "int8_t"
                     : to == DType::u16 ? "uint16_t"
                     : to == DType::i16 ? "int16_t"
                     : to == DType::u32 ? "uint32_t"
                     : to == DType::i32 ? "int32_t"
                                        : "float";
  return source("convert", "jpeg_convert<" + std::string(type) + ">", 8);
}

// Pictures that are decoded together: all kernels run once for all of them.
class Group {
 public:
  Group(Recorder& r, const DecodeOptions& options) : r_(r), options_(options) { work_.clear(); }

  // `file`, `index`: where they are on the GPU.
  void add(const CudaJpeg::Item& item, const uint8_t* file, const uint32_t* index) {
    work_.push_back(jpeg_work(item, options_, pool_));
    work_.back().picture.file = file;
    work_.back().picture.index = index;
    bytes_ += work_.back().bytes();
  }
  int64_t bytes() const { return bytes_; }

  // Up to where it is known which pictures can be decoded.
  void decode_scans(JpegStatus* status, JpegPicture* there) {
    const device::JpegTable* tables = make_tables();
    divide();
    give_memory(status);
    for (size_t i = 0; i < work_.size(); i++)
      for (int k = 0; k < work_[i].table_count; k++) pictures_[i].table[k] = tables + work_[i].tables[k];
    const size_t bytes = work_.size() * sizeof(JpegPicture);
    there_ = there ? there : static_cast<JpegPicture*>(r_.scratch(bytes));
    r_.copy_to_device(there_, pictures_, bytes);
    const auto pieces = [](const JpegWork& p) { return int(p.picture.pieces); };
    constexpr int scan_threads = device::kJpegScanThreads;
    launch(kCount, pieces, sizeof(device::JpegUnstuffMemory));
    launch(kUnstuff, pieces, sizeof(device::JpegUnstuffMemory));
    launch(kSynchronize, [](const JpegWork& p) { return p.group_blocks(); },
           int(sizeof(device::JpegSynchronizeMemory)) + stretch(device::synchronize_bits), scan_threads);
    launch(kJoin, [](const JpegWork& p) { return p.boundary_blocks(); },
           int(sizeof(device::JpegJoinMemory)) + stretch(device::join_bits));
    launch(kResolve, [](const JpegWork& p) { return p.resolve_blocks(); }, sizeof(device::JpegResolveMemory));
    launch(kSeed, [](const JpegWork& p) { return p.seed_blocks(); }, device::kJpegThreads * sizeof(uint32_t));
    launch(kCoefficients, [](const JpegWork& p) { return p.subsequence_blocks(); },
           int(sizeof(device::JpegCoefficientMemory)) + stretch(device::coefficient_bits),
           device::kJpegCoefficientThreads);
    constexpr int sums = device::kJpegThreads * sizeof(device::JpegDifferences);
    launch(kDc, [](const JpegWork& p) { return p.sum_blocks(); }, sums);
  }

  void make_pixels() {
    launch(kTransform, [](const JpegWork& p) { return p.transform_blocks(); }, sizeof(device::JpegTransformMemory),
           device::kJpegTransformThreads);
    launch(kDirect, [](const JpegWork& p) { return p.direct_blocks(); }, sizeof(device::JpegDirectMemory),
           device::kJpegTransformThreads);
    launch(kPixels, [](const JpegWork& p) { return p.pixel_blocks(); }, sizeof(device::JpegPixelsMemory));
    if (options_.dtype == DType::u8) return;
    launch(convert_source(options_.dtype),
           [](const JpegWork& p) { return int((p.pixels + device::kJpegConverted - 1) / device::kJpegConverted); }, 0);
  }

 private:
  // Bytes of shared memory for the longest stretch of a scan.
  int stretch(uint32_t (*bits_of)(const JpegPicture&)) const {
    uint32_t words = 0;
    for (const JpegWork& p : work_) words = std::max(words, device::jpeg_stretch(bits_of(p.picture)));
    return int(words * 4);
  }

  template <class Blocks> void launch(const std::string& kernel, Blocks blocks_of, int shared,
                                       int threads = device::kJpegThreads) {
    std::vector<int> blocks;
    blocks.reserve(work_.size());
    for (const JpegWork& p : work_) blocks.push_back(blocks_of(p));
    launch_job(kernel, blocks, device::JpegJob{there_, 0}, threads, shared);
  }

  // One job for all blocks.
  template <class Job>
  void launch_job(const std::string& kernel, const std::vector<int>& blocks, const Job& job, int threads, int shared) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&job);
    r_.launch(kernel, blocks, {bytes, bytes + sizeof job}, 0, threads, shared);
  }

  const device::JpegTable* make_tables() {
    const auto& codes = pool_.codes();
    device::JpegTableJob job{};
    job.codes = static_cast<const device::JpegCodes*>(r_.constant(codes.data(), codes.size() * sizeof codes[0]));
    job.tables = static_cast<device::JpegTable*>(r_.scratch(codes.size() * sizeof(device::JpegTable)));
    launch_job(kTables, {int(codes.size())}, job, device::kJpegThreads, 0);
    return job.tables;
  }

  // A subsequence for each thread that a GPU can hold at the same time. The more subsequences are in a group, the less
  // each thread has to pass over before it is synchronized, but the more words it needs in shared memory. To
  // synchronize takes longer where an MCU has many blocks, so the guess lies further back there.
  void divide() {
    constexpr int64_t threads = 131072, step = 256;
    int64_t bits = 0;
    for (const JpegWork& p : work_)
      if (!p.has_index()) bits += p.scan_bits();
    const int64_t each = (bits / threads + step - 1) / step * step;
    const auto subsequence_bits = uint32_t(std::clamp(each, int64_t(768), int64_t(device::kJpegSubsequenceBits)));
    const uint32_t group = r_.device().max_shared() >= 200 * 1024 ? 2 : 1;
    for (JpegWork& p : work_) {
      if (p.has_index()) continue;
      const int blocks = p.picture.blocks_in_mcu;
      p.divide(subsequence_bits, group, blocks == 1 ? 256 : blocks <= 3 ? 768 : 2048);
    }
  }

  void give_memory(JpegStatus* status) {
    MemoryLayout layout;
    layout.expect(work_.size() * 20);
    pictures_ = static_cast<JpegPicture*>(r_.pinned(work_.size() * sizeof(JpegPicture)));
    for (size_t i = 0; i < work_.size(); i++) {
      const JpegWork& work = work_[i];
      JpegPicture& p = *new (pictures_ + i) JpegPicture(work.picture);
      p.status = status + i;
      layout.add(p.sparse, work.sparse_vectors());
      layout.add(p.sparse_length, p.subsequences);
      layout.add(p.spans, work.spans());
      layout.add(p.data, work.data);
      if (work.pixels) layout.add(p.out, work.pixels);
      layout.add(p.piece, p.pieces);
      layout.add(p.segment, int64_t(p.segments) + 1);
      layout.add(p.exit, p.subsequences);
      layout.add(p.sum, p.subsequences);
      if (!work.has_index()) {
        layout.add(p.entry, p.subsequences);
        layout.add(p.overflow, p.subsequences);
        layout.add(p.overflow_states, int64_t(p.subsequences) * device::kJpegOverflow);
      }
      MemoryLayout planes;
      for (int k = 0; k < p.components; k++) {
        layout.add(p.component[k].differences, work.dc[k] / 2);
        layout.add(p.component[k].dc, work.dc[k] / 2);
        (work.planes ? planes : layout).add(p.component[k].plane, work.plane[k]);
      }
      planes.put(work.planes);
    }
    layout.put(r_.scratch(size_t(layout.bytes())));
  }

  Recorder& r_;
  const DecodeOptions& options_;
  JpegTablePool pool_;
  // Kept from group to group, as only one is planned at a time: new memory would cost page faults for each.
  static inline thread_local std::vector<JpegWork> work_;
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

// Does the work. False: memory ran out, and these streams have finished what was enqueued until then.
template <class Work> bool finds_memory(std::initializer_list<CUstream> streams, Work work) {
  try {
    work();
    return true;
  } catch (...) {
    for (const CUstream s : streams) driver().cuStreamSynchronize(s);      // before the memory that they use is freed
    try {
      throw;
    } catch (const Error& e) {
      if (e.kind != ErrorKind::memory) throw;
    }
    return false;
  }
}

// The subsequences' words of all files that have an index, one file's behind the other's, in pinned memory. Null: there
// are none.
BufferRef gather_words(Device& device, const std::vector<CudaJpeg::Item>& items, size_t& bytes) {
  static_assert(sizeof(jpeg::IndexSubsequence) == sizeof(uint32_t));
  bytes = 0;
  for (const CudaJpeg::Item& i : items)
    if (const jpeg::ScanIndex* index = index_of(i)) bytes += index->subsequence_count * sizeof(uint32_t);
  if (!bytes) return nullptr;
  BufferRef words = device.pinned()->take(bytes);
  uint8_t* at = words->data();
  for (const CudaJpeg::Item& i : items) {
    const jpeg::ScanIndex* index = index_of(i);
    if (!index) continue;
    std::memcpy(at, index->subsequences, index->subsequence_count * sizeof(uint32_t));
    at += index->subsequence_count * sizeof(uint32_t);
  }
  return words;
}

}  // namespace

const std::vector<std::string>& CudaJpeg::sources() {
  static const std::vector<std::string> all = {kTables, kCount,        kUnstuff, kSynchronize, kJoin,   kResolve,
                                               kSeed,   kCoefficients, kDc,      kTransform,   kDirect, kPixels};
  return all;
}

CudaJpeg::CudaJpeg(Device& device, const DecodeOptions& options)
    : options_(options), copies_(&device, 0), memory_(memory_at_a_time(device)) {
  for (const std::string& s : sources()) KernelTable::of(device).request(s);
  if (options.dtype != DType::u8) KernelTable::of(device).request(convert_source(options.dtype));
}

// In a stream of its own, so that one batch is copied while the kernels work on the one before.
std::vector<BufferRef> CudaJpeg::copy_files(Device& device, const std::vector<Item>& items,
                                            const std::vector<BufferRef>& blocks, std::vector<Copied>& to) const {
  std::vector<FileCopy> copies;
  std::vector<size_t> copy_of(items.size(), SIZE_MAX);
  for (const BufferRef& block : blocks) join_files(items, *block, copies, copy_of);
  for (size_t i = 0; i < items.size(); i++) {
    if (copy_of[i] != SIZE_MAX) continue;
    copy_of[i] = copies.size();
    copies.push_back({items[i].data, items[i].data + items[i].size});
  }
  size_t bytes = 0;
  const BufferRef words = gather_words(device, items, bytes);
  if (words) copies.push_back({words->data(), words->data() + bytes});
  MemoryLayout layout;
  for (FileCopy& c : copies) layout.add(c.to, c.end - c.begin);
  const BufferRef memory = device.memory()->take(size_t(layout.bytes()), copies_);
  layout.put(memory->data());
  for (const FileCopy& c : copies)
    check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(c.to), c.begin, size_t(c.end - c.begin), copies_),
          "cuMemcpyHtoDAsync");
  to.resize(items.size());
  const auto* index = words ? reinterpret_cast<const uint32_t*>(copies.back().to) : nullptr;
  for (size_t i = 0; i < items.size(); i++) {
    to[i] = {copies[copy_of[i]].to + (items[i].data - copies[copy_of[i]].begin), nullptr};
    if (const jpeg::ScanIndex* own = index_of(items[i])) to[i].index = index, index += own->subsequence_count;
  }
  return words ? std::vector{memory, words} : std::vector{memory};
}

std::shared_ptr<CudaJpeg::Flight> CudaJpeg::start(Device& device, const std::vector<Item>& items,
                                                  const std::vector<BufferRef>& blocks, CUstream stream,
                                                  JpegPicture* pictures) const {
  auto flight = std::make_shared<Flight>();
  flight->order_.resize(items.size());
  std::iota(flight->order_.begin(), flight->order_.end(), 0);
  // The largest first: what begins last should not be what takes longest.
  std::stable_sort(flight->order_.begin(), flight->order_.end(),
                   [&](int a, int b) { return items[size_t(a)].size > items[size_t(b)].size; });
  BufferRef status;
  std::vector<BufferRef> memory;
  std::vector<Copied> copied;
  const auto finds_memory = [&](auto work) { return ps::gpu::finds_memory({copies_, stream}, work); };
  if (!finds_memory([&] {
        status = device.memory()->take(items.size() * sizeof(JpegStatus), stream);
        flight->status_ = device.pinned()->take(items.size() * sizeof(JpegStatus));
        memory = copy_files(device, items, blocks, copied);
        Event(&device, copies_).wait_in(stream);
      })) {
    flight->refused_ = flight->order_;             // the CPU needs less
    return flight;
  }
  for (const Item& i : items) flight->has_index_.push_back(index_of(i) != nullptr);
  memory.push_back(status);
  auto* all = reinterpret_cast<JpegStatus*>(status->data());
  size_t most = items.size();                      // items of a group
  for (size_t next = 0; next < items.size();) {
    Recorder r(&device, stream, stream, stream);
    r.begin(-1, {}, false);
    Group group(r, options_);
    const size_t first = next;
    for (; next < items.size() && next - first < most && (next == first || group.bytes() < memory_); next++) {
      const auto i = size_t(flight->order_[next]);
      group.add(items[i], copied[i].file, copied[i].index);
    }
    if (finds_memory([&] {
          group.decode_scans(all + first, pictures ? pictures + first : nullptr);
          if (next == items.size()) r.call([&](CUstream s) { flight->copy_status(device, status, s); });
          group.make_pixels();
          r.run();
        })) {
      const auto done = std::make_shared<Event>(&device, stream);
      for (const BufferRef& m : r.take_memory()) m->add_fence(done);
      for (const BufferRef& m : memory) m->add_fence(done);
    } else {
      flight->known_.reset();
      if (next - first > 1) {                      // once more, in smaller groups
        most = (next - first) / 2;
        next = first;
      } else {                                     // a scan that is not complete makes it refused
        check(driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(all + first), 0, sizeof(JpegStatus), stream),
              "cuMemsetD8Async");
      }
    }
  }
  if (!flight->known_) flight->copy_status(device, status, stream);
  return flight;
}

void CudaJpeg::Flight::copy_status(Device& device, const BufferRef& status, CUstream stream) {
  check(driver().cuMemcpyDtoHAsync_v2(status_->data(), reinterpret_cast<CUdeviceptr>(status->data()),
                                      order_.size() * sizeof(JpegStatus), stream), "cuMemcpyDtoHAsync");
  known_ = std::make_shared<Event>(&device, stream);
  for (const BufferRef& m : {status, status_}) m->add_fence(known_);
}

const std::vector<int>& CudaJpeg::Flight::refused() {
  if (!known_) return refused_;
  known_->wait();
  known_.reset();
  const auto* status = reinterpret_cast<const JpegStatus*>(status_->data());
  for (size_t i = 0; i < order_.size(); i++)
    if (!status[i].complete || status[i].broken || status[i].extreme) refused_.push_back(order_[i]);
  for (const int i : refused_) has_index_[size_t(i)] = false;
  std::sort(refused_.begin(), refused_.end());
  return refused_;
}

}  // namespace ps::gpu
