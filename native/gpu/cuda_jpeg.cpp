#include "gpu/cuda_jpeg.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "core/error.h"
#include "gpu/cuda_jpeg_plan.h"
#include "gpu/kernel.h"
#include "gpu/recorder.h"
#include "kernels/device/jpeg_dc.h"
#include "kernels/device/jpeg_huffman.h"
#include "kernels/device/jpeg_synchronize.h"
#include "kernels/device/jpeg_transform.h"
#include "kernels/device/jpeg_unstuff.h"

namespace ps::gpu {
namespace {

using device::JpegPicture;
using device::JpegStatus;

// Of what is decoded at a time: coefficients and planes are several times as large as pictures.
constexpr int64_t kMemory = int64_t(1) << 30;

std::string source(const char* header, const char* function) {
  return std::string("#include \"kernels/device/") + header + ".h\"\nPS_JPEG_KERNEL(" + function + ")\n";
}

const std::string kTables = source("jpeg_table", "jpeg_tables"), kCount = source("jpeg_unstuff", "jpeg_count"),
                  kPlace = source("jpeg_unstuff", "jpeg_place"), kUnstuff = source("jpeg_unstuff", "jpeg_unstuff"),
                  kSynchronize = source("jpeg_synchronize", "jpeg_synchronize"),
                  kJoin = source("jpeg_synchronize", "jpeg_join"),
                  kJoinInOrder = source("jpeg_synchronize", "jpeg_join_in_order"),
                  kSum = source("jpeg_synchronize", "jpeg_sum"), kWrite = source("jpeg_coefficients", "jpeg_write"),
                  kDc = source("jpeg_dc", "jpeg_dc"), kTransform = source("jpeg_transform", "jpeg_transform"),
                  kPixels = source("jpeg_pixels", "jpeg_pixels");

// Pictures that are decoded together: all kernels run once for all of them.
class Group {
 public:
  explicit Group(Recorder& r) : r_(r) {}

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
    give_memory(status);
    for (size_t i = 0; i < plans_.size(); i++)
      for (size_t k = 0; k < plans_[i].tables.size(); k++) pictures_[i].table[k] = tables + plans_[i].tables[k];
    there_ = static_cast<const JpegPicture*>(r_.constant(pictures_.data(), pictures_.size() * sizeof(JpegPicture)));
    constexpr int totals = device::kJpegThreads * 8, huffman = sizeof(device::JpegTables);
    const auto pieces = [](const JpegPlan& p) { return int(p.picture.pieces); };
    const auto sequences = [](const JpegPlan& p) { return p.sequences(); };
    const auto seams = [](const JpegPlan& p) { return (p.sequences() + device::kJpegSeams - 2) / device::kJpegSeams; };
    const auto one = [](const JpegPlan&) { return 1; };
    launch(kCount, pieces, sizeof(device::JpegUnstuffMemory));
    launch(kPlace, one, totals);
    launch(kUnstuff, pieces, sizeof(device::JpegUnstuffMemory));
    launch(kSynchronize, sequences, sizeof(device::JpegSynchronizeMemory));
    launch(kJoin, seams, huffman);
    launch(kJoinInOrder, [](const JpegPlan& p) { return int(p.sequences() > 1); }, huffman);
    launch(kSum, one, totals);
    launch(kWrite, sequences, huffman);
    launch(kDc, [](const JpegPlan& p) { return int(p.picture.components); }, totals);
  }

  void make_pixels() {
    launch(kTransform, [](const JpegPlan& p) { return p.tiles; }, sizeof(device::JpegTransformMemory));
    launch(kPixels, [](const JpegPlan& p) {
      const auto tiles = [](int64_t n, int tile) { return int((n + tile - 1) / tile); };
      return tiles(p.picture.width, device::kJpegTileWidth) * tiles(p.picture.height, device::kJpegTileHeight);
    }, 0);
  }

 private:
  template <class Blocks> void launch(const std::string& kernel, Blocks blocks_of, int shared) {
    std::vector<int> blocks;
    for (const JpegPlan& p : plans_) blocks.push_back(blocks_of(p));
    const device::JpegJob job{there_, 0};
    const auto* bytes = reinterpret_cast<const uint8_t*>(&job);
    r_.launch(kernel, blocks, {bytes, bytes + sizeof job}, 0, device::kJpegThreads, shared);
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

  void give_memory(JpegStatus* status) {
    MemoryLayout zeros, others;
    for (const JpegPlan& p : plans_) pictures_.push_back(p.picture);
    for (size_t i = 0; i < plans_.size(); i++) {
      const JpegPlan& plan = plans_[i];
      JpegPicture& p = pictures_[i];
      p.status = status + i;
      zeros.add(p.coefficients, plan.coefficients / 2);
      others.add(p.data, plan.data);
      others.add(p.piece, p.pieces);
      others.add(p.segment, int64_t(p.segments) + 1);
      others.add(p.part, p.parts);
      others.add(p.sum, p.parts);
      for (int k = 0; k < p.components; k++) {
        others.add(p.component[k].dc, plan.dc[k] / 2);
        others.add(p.component[k].plane, plan.plane[k]);
      }
    }
    void* coefficients = r_.scratch(size_t(zeros.bytes()));
    zeros.put(coefficients);
    others.put(r_.scratch(size_t(others.bytes())));
    r_.fill_bytes(coefficients, 0, size_t(zeros.bytes()));
  }

  Recorder& r_;
  JpegTablePool pool_;
  std::vector<JpegPlan> plans_;
  int64_t bytes_ = 0;
  std::vector<JpegPicture> pictures_;
  const JpegPicture* there_ = nullptr;       // the same on the GPU
};

std::atomic<int64_t> files_given{0}, files_left{0};

}  // namespace

CudaJpeg::Counts CudaJpeg::counts() { return {files_given, files_left}; }

const std::vector<std::string>& CudaJpeg::sources() {
  static const std::vector<std::string> all = {kTables, kCount, kPlace, kUnstuff, kSynchronize, kJoin,
                                               kJoinInOrder, kSum, kWrite, kDc, kTransform, kPixels};
  return all;
}

CudaJpeg::CudaJpeg(Device& device, const DecodeOptions& options) : options_(options), copies_(&device, 0) {
  for (const std::string& s : sources()) KernelTable::of(device).request(s);
}

// In a stream of its own, so that one batch is copied while the kernels work on the one before.
BufferRef CudaJpeg::copy_files(Device& device, const std::vector<Item>& items, std::vector<uint8_t*>& to) const {
  MemoryLayout layout;
  to.resize(items.size());
  for (size_t i = 0; i < items.size(); i++) layout.add(to[i], int64_t(items[i].size));
  const BufferRef memory = device.memory()->take(size_t(layout.bytes()), copies_);
  layout.put(memory->data());
  for (size_t i = 0; i < items.size(); i++)
    check(driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<CUdeviceptr>(to[i]), items[i].data, items[i].size, copies_),
          "cuMemcpyHtoDAsync");
  return memory;
}

std::shared_ptr<CudaJpeg::Flight> CudaJpeg::start(Device& device, const std::vector<Item>& items,
                                                  CUstream stream) const {
  auto flight = std::make_shared<Flight>();
  files_given += int64_t(items.size());
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
    memory = copy_files(device, items, files);
    Event(&device, copies_).wait_in(stream);
    for (size_t next = 0; next < items.size();) {
      Recorder r(&device, stream, stream, stream);
      r.begin(-1, {}, false);
      Group group(r);
      const size_t first = next;
      for (; next < items.size() && (next == first || group.bytes() < kMemory); next++)
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
  } catch (const Error& e) {
    driver().cuStreamSynchronize(copies_);         // memory that they use is let go of
    driver().cuStreamSynchronize(stream);
    if (e.kind != ErrorKind::memory) throw;
    flight->known_.reset();
    flight->refused_ = flight->order_;             // the CPU needs less
    files_left += int64_t(items.size());
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
  files_left += int64_t(refused_.size());
  return refused_;
}

}  // namespace ps::gpu
