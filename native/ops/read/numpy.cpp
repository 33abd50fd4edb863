// NumPy's files: the number of a sample -> the array in its file, or a region of it, of which no more is read.
//
// The header is read when shapes are found, and the elements when there is memory for them, so they are read to where
// they stay. Files that are small are read whole at once; others stay open in between, if they are not too many.
//
// On a GPU elements that need no work are read into its memory past the host, and others are copied there.
#include <mutex>

#include "core/convert.h"
#include "cuda/storage/driver.h"
#include "cuda/storage/file_to_gpu.h"
#include "cuda/storage/read_counts.h"
#include "ops/arguments/border.h"
#include "ops/arguments/slice_window.h"
#include "ops/gather/canvas.h"
#include "ops/read/box.h"
#include "ops/read/open.h"
#include "ops/read/tables.h"
#include "ops/tensor/transpose/host.h"
#include "read/containers.h"
#include "read/npy.h"
#include "read/storage.h"

namespace ps {
namespace {

constexpr int64_t kSmall = int64_t(1) << 16;       // bytes of files that are read whole
constexpr int64_t kHead = int64_t(1) << 12;        // of others, at first: headers are shorter, nearly all
constexpr size_t kIdle = 256;                      // files that stay open until their elements are read

class ReadNumpy : public Operator, public Foresees, public gpu::CountsReads {
 public:
  explicit ReadNumpy(const Spec& s)
      : names_(s.table("names", DType::u8)), window_(s, "roi_"), border_(border_of(s)),
        fill_(s.number("fill_value")), past_cache_(s.flag("use_o_direct")),
        register_buffers_(s.flag("register_buffers")), idle_(kIdle) {
    for (int64_t i = 0; i < names_.size(); i++) far_ |= storage_of(names_[i]).is_far();
    if (s.flag("cache_header_information")) known_ = std::vector<NpyHeader>(size_t(names_.size()));
    if (s.device == "cpu") return;
    device_ = gpu::Device::get(s.device_id);
    direct_ = gpu::StorageDriver::open();
  }

  size_t params_size() const override { return sizeof(Params); }
  std::unique_ptr<State> make_state() const override {
    return device_ ? std::make_unique<ToGpu>(device_, direct_, register_buffers_, past_cache_) : nullptr;
  }
  const gpu::ReadCounts* read_counts() const override { return device_ ? &counts_ : nullptr; }

  // Of files of which parts are wanted, which part is known when their header is.
  void foresee(std::span<const Tensor> numbers, Foreseen& kept) const override {
    if (!far_) return;
    foresee_samples(numbers, names_.size(), kept, [&](int64_t sample, std::vector<ByteRange>& ranges) {
      ranges.push_back({names_[sample], 0, window_.given() ? kSmall : -1});
    });
  }

  void setup(const Context& c) const override {
    Params& p = c.param<Params>() = {};
    p.sample = element_i64(c.in(0), 0);
    if (p.sample < 0 || p.sample >= names_.size())
      fail(ErrorKind::argument, "there is no file " + std::to_string(p.sample) + ": there are " +
           std::to_string(names_.size()));
    c.out(0).source = names_[p.sample];
    if (!recall(p.sample, p.header)) look(c, p);
    p.region = window_.region(c, p.header.shape, {});
    apply_border(border_, p.header.shape, {}, p.region);
    c.out(0).dtype = p.header.dtype;
    c.out(0).shape = p.region.shape;
    c.out(0).layout = {};
    check_sound(c.out(0));
  }

  void run(const Context& c) const override {
    const Params& p = c.param<Params>();
    const Tensor& out = c.out(0);
    if (out.bytes() == 0) return;
    const std::unique_ptr<Open> one = p.whole ? nullptr : opened(p.sample);
    const Bytes bytes = p.whole ? Bytes(p.whole, kSmall) : Bytes(*one->file);
    if (!device_) return elements(c, p, bytes, out);
    gpu::FileToGpu& way = c.st<ToGpu>().way;
    const Misfit why = one ? straight(p, *one->file, out, way) : "the file is small, and read with its header";
    counts_.add(why);
    if (!why) return;
    Tensor here = out;
    here.data = c.scratch->take(out.bytes());
    elements(c, p, bytes, here);
    way.copy(here.data, out.data, out.bytes());
  }

 private:
  struct ToGpu : State {
    template <class... A> explicit ToGpu(A&&... a) : way(std::forward<A>(a)...) {}
    gpu::FileToGpu way;
  };
  struct Params {
    int64_t sample;
    NpyHeader header;
    Region region;
    const uint8_t* whole;                          // the file, where it is small
  };

  bool recall(int64_t sample, NpyHeader& to) const {
    if (known_.empty()) return false;
    std::lock_guard lock(mutex_);
    to = known_[size_t(sample)];
    return to.dtype != DType::none;
  }
  void remember(int64_t sample, const NpyHeader& header) const {
    if (known_.empty()) return;
    std::lock_guard lock(mutex_);
    known_[size_t(sample)] = header;
  }

  std::unique_ptr<Open> opened(int64_t sample) const {
    std::unique_ptr<Open> one = idle_.take(sample, 0);
    if (one) return one;
    one = std::make_unique<Open>();
    one->container = sample;
    const Storage& storage = storage_of(names_[sample]);
    one->file = past_cache_ ? storage.open_past_cache(names_[sample]) : storage.open(names_[sample]);
    return one;
  }

  // Reads the header, or the whole file.
  void look(const Context& c, Params& p) const {
    std::unique_ptr<Open> one = opened(p.sample);
    StoredFile& file = *one->file;
    const int64_t bytes = file.bytes();
    int64_t have = bytes <= kSmall ? bytes : kHead;
    Arena& memory = bytes <= kSmall ? *c.lasting : *c.scratch;
    auto* head = static_cast<uint8_t*>(memory.take(size_t(std::max<int64_t>(have, 1))));
    file.read_all(0, head, have);
    const auto needed = int64_t(npy_header_bytes(head, size_t(have), ErrorKind::read));
    if (needed > have && needed <= bytes) {
      head = static_cast<uint8_t*>(c.scratch->take(size_t(needed)));
      file.read_all(0, head, have = needed);
    }
    p.header = read_npy_header(head, size_t(have), ErrorKind::read);
    const size_t elements = p.header.bytes();
    if (size_t(bytes - p.header.begin) < elements)
      fail(ErrorKind::read, "a .npy file is broken: its array has " + std::to_string(elements) + " bytes, but only " +
           std::to_string(bytes - p.header.begin) + " follow the header");
    remember(p.sample, p.header);
    if (bytes <= kSmall) p.whole = head;
    else idle_.give_back(std::move(one));
  }

  // From the file to the GPU, where nothing has to be done on the way; else why not, and nothing is there.
  static Misfit straight(const Params& p, const StoredFile& file, const Tensor& out, gpu::FileToGpu& way) {
    if (p.header.swapped) return "the bytes of its numbers are the other way round";
    if (p.header.fortran && out.shape.ndim > 1) return "the array is in Fortran order";
    if (!p.region.inside(p.header.shape)) return "the region reaches beyond the array";
    const auto at = Box(p.header.shape, size_of(out.dtype), p.region).one_piece();
    if (!at) return "the region lies in several pieces in the file";
    return way.read(file, p.header.begin + *at, out.data, int64_t(out.bytes()));
  }

  // The part of the region that the array has, in the file's order of axes, then in the output's, then on the canvas.
  void elements(const Context& c, const Params& p, const Bytes& bytes, const Tensor& out) const {
    const int n = out.shape.ndim;
    Region there = p.region;
    apply_border(Border::trim, p.header.shape, {}, there);
    Tensor part = out;
    part.shape = there.shape;
    const bool padded = !(there.shape == out.shape), turned = p.header.fortran && n > 1;
    if (padded) part.data = c.scratch->take(std::max<size_t>(part.bytes(), 1));
    Tensor stored = part;
    if (turned) stored.data = c.scratch->take(std::max<size_t>(part.bytes(), 1));
    Shape array = p.header.shape;
    Region stored_region = there;
    if (turned)
      for (int i = 0; i < n; i++) {
        array[i] = p.header.shape[n - 1 - i];
        stored_region.anchor[i] = there.anchor[n - 1 - i];
        stored.shape[i] = stored_region.shape[i] = there.shape[n - 1 - i];
      }
    Box(array, size_of(out.dtype), stored_region).read(bytes, p.header.begin, stored.data);
    if (p.header.swapped) swap_bytes(stored.data, size_of(out.dtype), size_t(part.shape.volume()));
    if (turned && part.shape.volume()) {
      int backwards[kMaxDims];
      for (int i = 0; i < n; i++) backwards[i] = n - 1 - i;
      detail::transpose(stored, backwards, part.data);
    }
    if (padded) draw_canvas(part, out, canvas(p.region, there), fill(out.dtype));
  }

  static Region canvas(const Region& wanted, const Region& there) {
    Region r = wanted;
    for (int i = 0; i < wanted.shape.ndim; i++) r.anchor[i] = wanted.anchor[i] - there.anchor[i];
    return r;
  }
  std::vector<uint8_t> fill(DType type) const {
    std::vector<uint8_t> bytes(size_of(type));
    visit(type, [&](auto tag) {
      const auto v = convert<typename decltype(tag)::type>(fill_);
      std::memcpy(bytes.data(), &v, sizeof v);
    });
    return bytes;
  }

  Names names_;
  bool far_ = false;                               // some lie in a storage that wants to know of them in advance
  SliceWindow window_;
  Border border_;
  double fill_;
  bool past_cache_, register_buffers_;
  gpu::DeviceRef device_ = nullptr;                // null: elements stay in the host's memory
  bool direct_ = false;                            // cuFile goes past the host
  mutable gpu::ReadCounts counts_;
  mutable std::mutex mutex_;
  mutable std::vector<NpyHeader> known_;           // by file, where headers are kept; of no type: not seen yet
  mutable Containers<Open> idle_;                  // goes first: open files know their names by names_
};

PS_OPERATOR("read_numpy", ReadNumpy)

}  // namespace
}  // namespace ps
