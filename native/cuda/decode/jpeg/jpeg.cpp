#include "cuda/decode/jpeg/jpeg.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "cuda/decode/jpeg/group.h"

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

const std::vector<std::string>& CudaJpeg::sources() { return JpegGroup::sources(); }

CudaJpeg::CudaJpeg(Device& device, const DecodeOptions& options)
    : options_(options), copies_(&device, 0), beside_(&device, 0), memory_(memory_at_a_time(device)) {
  for (int i = 0; i < kAside; i++) aside_.push_back(std::make_unique<Stream>(&device, 0));
  for (const std::string& s : sources()) KernelTable::of(device).request(s);
  if (options.dtype != DType::u8) KernelTable::of(device).request(JpegGroup::convert_source(options.dtype));
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

// Progressive files, as many as there is memory for at a time: the last ones of `order_`.
void CudaJpeg::start_aside(Device& device, const std::vector<Item>& items, const std::vector<Copied>& copied,
                           CUstream stream, JpegPicture* pictures, Flight& flight) const {
  const auto first = std::find_if(flight.order_.begin(), flight.order_.end(),
                                  [&](int i) { return items[size_t(i)].scans != nullptr; });
  if (first == flight.order_.end()) return;
  const auto group = std::make_shared<JpegGroup>(options_, memory_);
  size_t at = flight.order_.size();
  const auto last = size_t(first - flight.order_.begin());
  while (at > last && (group->size() == 0 || group->bytes() < memory_)) {
    const auto i = size_t(flight.order_[--at]);
    group->add(items[i], copied[i].file, nullptr);
  }
  std::reverse(flight.order_.begin() + ptrdiff_t(at), flight.order_.end());      // as they are in the group
  const CUstream aside = *aside_[next_aside_++ % aside_.size()];
  Flight::Part part{at, flight.order_.size() - at, nullptr, nullptr, nullptr};
  Recorder r(&device, aside, aside, aside);
  r.begin(-1, {}, false);
  if (!finds_memory({stream, aside}, [&] {
        Event(&device, stream).wait_in(aside);     // the files are there, and memory is free
        part.status = device.memory()->take(part.count * sizeof(JpegStatus), aside);
        part.here = device.pinned()->take(part.count * sizeof(JpegStatus));
        group->decode_scans(r, reinterpret_cast<JpegStatus*>(part.status->data()), pictures ? pictures + at : nullptr);
        r.run();
        Flight::copy_status(device, part, aside);
      }))
    return;                            // they are decoded with the others, fewer at a time
  flight.memory_aside_ = r.take_memory();
  for (const BufferRef& m : flight.memory_aside_) m->add_fence(part.known);
  flight.group_aside_ = group;
  flight.aside_ = part;
}

std::shared_ptr<CudaJpeg::Flight> CudaJpeg::start(Device& device, const std::vector<Item>& items,
                                                  const std::vector<BufferRef>& blocks, CUstream stream,
                                                  JpegPicture* pictures) const {
  auto flight = std::make_shared<Flight>();
  flight->device_ = &device;
  flight->order_.resize(items.size());
  std::iota(flight->order_.begin(), flight->order_.end(), 0);
  // The largest first: what begins last should not be what takes longest. Progressive ones behind all others.
  std::stable_sort(flight->order_.begin(), flight->order_.end(), [&](int a, int b) {
    const Item &left = items[size_t(a)], &right = items[size_t(b)];
    return bool(left.scans) != bool(right.scans) ? !left.scans : left.size > right.size;
  });
  std::vector<BufferRef> memory;
  std::vector<Copied> copied;
  Flight::Part& main = flight->main_;
  main.count = items.size();
  const auto finds_memory = [&](auto work) { return ps::gpu::finds_memory({copies_, stream, beside_}, work); };
  if (!finds_memory([&] {
        main.status = device.memory()->take(items.size() * sizeof(JpegStatus), stream);
        main.here = device.pinned()->take(items.size() * sizeof(JpegStatus));
        memory = copy_files(device, items, blocks, copied);
        Event(&device, copies_).wait_in(stream);
      })) {
    flight->refused_ = flight->order_;             // the CPU needs less
    return flight;
  }
  for (const Item& i : items) flight->has_index_.push_back(index_of(i) != nullptr);
  start_aside(device, items, copied, stream, pictures, *flight);
  for (const BufferRef& m : memory)
    if (flight->group_aside_) m->add_fence(flight->aside_.known);
  main.count -= flight->aside_.count;
  memory.push_back(main.status);
  auto* all = reinterpret_cast<JpegStatus*>(main.status->data());
  size_t most = items.size();                      // items of a group
  for (size_t next = 0; next < main.count;) {
    Recorder r(&device, stream, stream, stream), beside(&device, beside_, beside_, beside_);
    r.begin(-1, {}, false);
    beside.begin(-1, {}, false);
    JpegGroup group(options_, memory_);
    const size_t first = next;
    const auto item_at = [&](size_t k) -> const Item& { return items[size_t(flight->order_[k])]; };
    const bool progressive = item_at(first).scans;
    for (; next < main.count && next - first < most && (next == first || group.bytes() < memory_); next++) {
      if (bool(item_at(next).scans) != progressive) break;
      const Copied& there = copied[size_t(flight->order_[next])];
      group.add(item_at(next), there.file, there.index);
    }
    if (finds_memory([&] {
          group.decode(r, beside, beside_, all + first, pictures ? pictures + first : nullptr, [&] {
            if (next == main.count) r.call([&](CUstream s) { Flight::copy_status(device, main, s); });
          });
          r.run();
        })) {
      const auto done = std::make_shared<Event>(&device, stream);
      for (const BufferRef& m : r.take_memory()) m->add_fence(done);
      for (const BufferRef& m : beside.take_memory()) m->add_fence(done);
      for (const BufferRef& m : memory) m->add_fence(done);
    } else {
      main.known.reset();
      if (next - first > 1) {                      // once more, in smaller groups
        most = (next - first) / 2;
        next = first;
      } else {                                     // a scan that is not complete makes it refused
        check(driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(all + first), 0, sizeof(JpegStatus), stream),
              "cuMemsetD8Async");
      }
    }
  }
  if (!main.known) Flight::copy_status(device, main, stream);
  return flight;
}

void CudaJpeg::Flight::copy_status(Device& device, Part& part, CUstream stream) {
  if (part.count)
    check(driver().cuMemcpyDtoHAsync_v2(part.here->data(), reinterpret_cast<CUdeviceptr>(part.status->data()),
                                        part.count * sizeof(JpegStatus), stream), "cuMemcpyDtoHAsync");
  part.known = std::make_shared<Event>(&device, stream);
  for (const BufferRef& m : {part.status, part.here}) m->add_fence(part.known);
}

void CudaJpeg::Flight::add_refused(const Part& part) {
  part.known->wait();
  const auto* status = reinterpret_cast<const JpegStatus*>(part.here->data());
  for (size_t i = 0; i < part.count; i++)
    if (!status[i].complete || status[i].broken || status[i].extreme) refused_.push_back(order_[part.first + i]);
}

const std::vector<int>& CudaJpeg::Flight::finish(CUstream stream) {
  if (!main_.known) return refused_;
  add_refused(main_);
  main_.known.reset();
  if (group_aside_) {
    aside_.known->wait_in(stream);
    Recorder r(device_, stream, stream, stream);
    r.begin(-1, {}, false);
    const bool made = finds_memory({stream}, [&] {
      group_aside_->make_pixels(r);
      r.run();
    });
    const auto done = std::make_shared<Event>(device_, stream);
    for (const BufferRef& m : r.take_memory()) m->add_fence(done);
    for (const BufferRef& m : memory_aside_) m->add_fence(done);
    aside_.status->add_fence(done);
    memory_aside_.clear();
    if (made) add_refused(aside_);
    else refused_.insert(refused_.end(), order_.begin() + ptrdiff_t(aside_.first), order_.end());
    group_aside_.reset();
  }
  for (const int i : refused_) has_index_[size_t(i)] = false;
  std::sort(refused_.begin(), refused_.end());
  return refused_;
}

}  // namespace ps::gpu
