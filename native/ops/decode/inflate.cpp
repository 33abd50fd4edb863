// Compressed bytes, in one or several chunks -> tensors.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/driver/device.h"
#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "decode/lz4.h"
#include "device/tensor/inflate.h"

namespace ps {
namespace {

class Inflate : public Operator, public GpuOperator {
 public:
  explicit Inflate(const Spec& s)
      : shape_(s.arg<int64_t>("shape")), offsets_(s.arg<int64_t>("chunk_offsets")),
        sizes_(s.arg<int64_t>("chunk_sizes")), dtype_(s.dtype("dtype")), layout_(s.string("layout")),
        sequence_axis_(s.string("sequence_axis_name")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    Tensor& out = c.out(0);
    if (size_of(in.dtype) != 1 || in.shape.ndim != 1)
      fail(ErrorKind::type, std::string("expected compressed bytes (1-D, UINT8), got ") + name_of(in.dtype) +
           " of shape " + to_string(in.shape));
    const int64_t ndim = shape_.size(c), count = int64_t(chunks(c).size());
    if (ndim + is_sequence() > kMaxDims) fail(ErrorKind::argument, "shape has " + std::to_string(ndim) + " extents");
    out.dtype = dtype_;
    out.shape = {};
    if (is_sequence()) out.shape.push(count);
    for (int64_t i = 0; i < ndim; i++) {
      const int64_t extent = shape_.get(c, i);
      if (extent < 0) fail(ErrorKind::argument, "shape has the extent " + std::to_string(extent));
      out.shape.push(extent);
    }
    out.layout = {};
    if (!layout_.empty()) {
      if (int64_t(layout_.size()) != ndim)
        fail(ErrorKind::layout, "layout='" + layout_ + "' does not fit a shape of " + std::to_string(ndim) +
             " extents");
      out.layout = is_sequence() ? Layout(sequence_axis_ + layout_) : Layout(layout_);
    }
    check_sound(out);
  }

  void run(const Context& c) const override {
    const std::vector<device::InflateChunk> all = chunks(c);
    if (all.empty()) return;
    const size_t size = c.out(0).bytes() / all.size();
    for (size_t i = 0; i < all.size(); i++)
      inflate(c.in(0).as<uint8_t>() + all[i].from, i, all[i], c.out(0).as<uint8_t>() + i * size, size);
  }

  void record(gpu::Recorder& r) const override {
    constexpr size_t stride = (sizeof(device::InflateJob) + 15) / 16 * 16;
    std::vector<uint8_t> jobs(stride * size_t(r.size()));
    std::vector<int> blocks(size_t(r.size()), 0);
    std::vector<Context> given;
    size_t count = 0;
    for (int i = 0; i < r.size(); i++) {
      blocks[size_t(i)] = int(chunks(r[i]).size());
      count += size_t(blocks[size_t(i)]);
      given.push_back(r[i]);
    }
    if (count == 0) return;
    auto* broken = static_cast<uint8_t*>(r.scratch(count));
    for (int64_t i = 0, first = 0; i < r.size(); first += blocks[size_t(i)], i++) {
      const std::vector<device::InflateChunk> all = chunks(given[size_t(i)]);
      if (all.empty()) continue;
      const auto* there = static_cast<const device::InflateChunk*>(r.constant(all.data(), all.size() * sizeof all[0]));
      const Tensor& out = given[size_t(i)].out(0);
      const device::InflateJob job{given[size_t(i)].in(0).as<uint8_t>(), out.as<uint8_t>(), there, broken + first,
                                   int64_t(out.bytes() / all.size())};
      std::memcpy(jobs.data() + stride * size_t(i), &job, sizeof job);
    }
    r.launch("#include \"device/tensor/inflate.h\"\n" + PS_LAYOUT_OF(Launch) + PS_LAYOUT_OF(InflateJob) +
                 PS_LAYOUT_OF(InflateChunk) + "PS_INFLATE_KERNEL()\n",
             blocks, jobs, stride, device::kInflateThreads);
    auto* known = static_cast<uint8_t*>(r.pinned(count));
    r.copy_to_host(known, broken, count);
    r.call([this, device = &r.device(), given = std::move(given), blocks, known](gpu::CUstream stream) {
      gpu::Event(device, stream).wait();
      refuse_broken(*device, given, blocks, known, stream);
    });
  }

 private:
  bool is_sequence() const { return offsets_.given() || sizes_.given(); }

  // The chunk with this number, whose bytes are at `from`.
  void inflate(const uint8_t* from, size_t number, const device::InflateChunk& chunk, uint8_t* to, size_t size) const {
    try {
      inflate_lz4(from, size_t(chunk.bytes), to, size);
    } catch (const Error& e) {
      if (!is_sequence()) throw;
      fail(e.kind, "chunk " + std::to_string(number) + ": " + e.what());
    }
  }

  // Throws Errors: of each sample with a broken chunk what the CPU says of its first one.
  void refuse_broken(gpu::Device& device, const std::vector<Context>& given, const std::vector<int>& blocks,
                     const uint8_t* broken, gpu::CUstream stream) const {
    std::vector<Error> errors;
    for (size_t i = 0; i < given.size(); broken += blocks[i], i++) {
      const uint8_t* end = broken + blocks[i];
      const size_t number = size_t(std::find(broken, end, uint8_t(1)) - broken);
      if (broken + number == end) continue;
      const std::vector<device::InflateChunk> all = chunks(given[i]);
      const size_t bytes = size_t(all[number].bytes), size = given[i].out(0).bytes() / all.size();
      std::vector<uint8_t> from(bytes + 1), to(size + 1);          // some memory, even for no bytes
      if (bytes)
        gpu::check(gpu::driver().cuMemcpyDtoHAsync_v2(from.data(), reinterpret_cast<gpu::CUdeviceptr>(
                       given[i].in(0).as<uint8_t>() + all[number].from), bytes, stream), "cuMemcpyDtoHAsync");
      gpu::Event(&device, stream).wait();
      try {
        inflate(from.data(), number, all[number], to.data(), size);
        errors.emplace_back(ErrorKind::internal, "the GPU refuses an LZ4 block that the CPU inflates", given[i].index);
      } catch (const Error& e) {
        errors.emplace_back(e.kind, e.what(), given[i].index);
      }
    }
    if (!errors.empty()) throw Errors(std::move(errors));
  }

  // Chunks lie one behind the other unless it is said where; each goes on to the next one unless it is said how far.
  std::vector<device::InflateChunk> chunks(const Context& c) const {
    const int64_t bytes = c.in(0).shape[0];
    if (!is_sequence()) return {{0, bytes}};
    const int64_t count = offsets_.given() ? offsets_.size(c) : sizes_.size(c);
    if (offsets_.given() && sizes_.given() && sizes_.size(c) != count)
      fail(ErrorKind::argument, "there are " + std::to_string(count) + " chunk_offsets and " +
           std::to_string(sizes_.size(c)) + " chunk_sizes");
    std::vector<device::InflateChunk> found;
    int64_t next = 0;
    for (int64_t i = 0; i < count; i++) {
      const int64_t from = offsets_.given() ? offsets_.get(c, i) : next;
      const int64_t end = i + 1 < count && offsets_.given() ? offsets_.get(c, i + 1) : bytes;
      const int64_t size = sizes_.given() ? sizes_.get(c, i) : end - from;
      if (from < 0 || size < 0 || from > bytes || size > bytes - from)
        fail(ErrorKind::argument, "chunk " + std::to_string(i) + " has " + std::to_string(size) + " bytes from byte " +
             std::to_string(from) + " on, but the input has " + std::to_string(bytes));
      found.push_back({from, size});
      next = from + size;
    }
    return found;
  }

  Arg<int64_t> shape_, offsets_, sizes_;
  DType dtype_;
  std::string layout_, sequence_axis_;
};

PS_OPERATOR("inflate", Inflate)

}  // namespace
}  // namespace ps
