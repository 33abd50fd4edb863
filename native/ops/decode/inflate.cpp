// Compressed bytes, in one or several chunks -> tensors.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

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
    for (size_t i = 0; i < all.size(); i++) {
      try {
        inflate_lz4(c.in(0).as<uint8_t>() + all[i].from, size_t(all[i].bytes), c.out(0).as<uint8_t>() + i * size, size);
      } catch (const Error& e) {
        if (!is_sequence()) throw;
        fail(e.kind, "chunk " + std::to_string(i) + ": " + e.what());
      }
    }
  }

  void record(gpu::Recorder& r) const override {
    constexpr size_t stride = (sizeof(device::InflateJob) + 15) / 16 * 16;
    std::vector<uint8_t> jobs(stride * size_t(r.size()));
    std::vector<int> blocks(size_t(r.size()), 0);
    bool any = false;
    for (int i = 0; i < r.size(); i++) {
      const std::vector<device::InflateChunk> all = chunks(r[i]);
      if (all.empty() || r[i].out(0).bytes() == 0) continue;
      const auto* there = static_cast<const device::InflateChunk*>(r.constant(all.data(), all.size() * sizeof all[0]));
      const device::InflateJob job{r[i].in(0).as<uint8_t>(), r[i].out(0).as<uint8_t>(), there,
                                   int64_t(r[i].out(0).bytes() / all.size())};
      std::memcpy(jobs.data() + stride * size_t(i), &job, sizeof job);
      blocks[size_t(i)] = int(all.size());
      any = true;
    }
    if (any)
      r.launch("#include \"device/tensor/inflate.h\"\n" + PS_LAYOUT_OF(Launch) + PS_LAYOUT_OF(InflateJob) +
                   PS_LAYOUT_OF(InflateChunk) + "PS_INFLATE_KERNEL()\n",
               blocks, jobs, stride, device::kInflateThreads);
  }

 private:
  bool is_sequence() const { return offsets_.given() || sizes_.given(); }

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
