// Where the pixels of frames were in the frames before, by the GPU's engine. On the CPU it is Python's: see
// penstock/custom/optical_flow.py.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/operator.h"
#include "cuda/driver/kernel.h"
#include "cuda/flow/engine.h"
#include "cuda/record/layout.h"
#include "cuda/record/operator.h"
#include "device/video/flow.h"

namespace ps {
namespace {

class OpticalFlow : public Operator, public GpuOperator {
 public:
  static constexpr Count kInputs{1, 2};

  explicit OpticalFlow(const Spec& s)
      : preset_(s.number("preset")), grid_(s.integer("output_grid")), hint_grid_(s.integer("hint_grid")),
        temporal_(s.flag("enable_temporal_hints")), hints_(s.flag("enable_external_hints")),
        image_(int(s.integer("image_type"))) {
    if (s.device == "cpu") fail(ErrorKind::device, "on a CPU it is Python's");
    device_ = gpu::Device::get(s.device_id);
    engine_ = gpu::FlowEngine::of(*device_);
    const gpu::FlowLimits& limits = engine_->limits();
    check_grid("output_grid", grid_, limits.output_grids);
    if (hints_) {
      if (!limits.hints)
        fail(ErrorKind::device, "enable_external_hints=True: this GPU's engine for optical flow takes no hints");
      check_grid("hint_grid", hint_grid_, limits.hint_grids);
      if (hint_grid_ < grid_)
        fail(ErrorKind::device, "hint_grid=" + std::to_string(hint_grid_) + ": expected at least output_grid=" +
             std::to_string(grid_) + ": the engine takes no finer hints");
    }
    auto& kernels = gpu::KernelTable::of(*device_);
    const std::string header = "#include \"device/video/flow.h\"\n";
    frames_ = kernels.request(header + PS_LAYOUT_OF(FlowFrame) + "PS_FLOW_KERNEL(FlowFrame)\n");
    vectors_ = kernels.request(header + PS_LAYOUT_OF(FlowVectors) + "PS_FLOW_KERNEL(FlowVectors)\n");
    if (hints_) starts_ = kernels.request(header + PS_LAYOUT_OF(FlowHints) + "PS_FLOW_KERNEL(FlowHints)\n");
  }

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.dtype != DType::u8)
      fail(ErrorKind::type, std::string("the input is ") + name_of(in.dtype) + ": expected UINT8");
    if (!in.layout.empty() && !(in.layout == Layout("FHWC")))
      fail(ErrorKind::layout, "expected videos of layout FHWC, got '" + std::string(in.layout.view()) + "'");
    const int channels = image_ == kGray ? 1 : 3;
    if (in.shape.ndim != 4 || in.shape[3] != channels || in.shape[0] < 1)
      fail(ErrorKind::argument, "the input has the shape " + to_string(in.shape) + ": expected frames (FHWC) with " +
           std::to_string(channels) + " channel" + (channels > 1 ? "s" : "") + ", as image_type=" + image_name() +
           " has");
    const int64_t frames = in.shape[0] - 1, height = in.shape[1], width = in.shape[2];
    const gpu::FlowLimits& l = engine_->limits();
    if (width < l.least_width || width > l.most_width || height < l.least_height || height > l.most_height)
      fail(ErrorKind::argument, "the frames have " + std::to_string(width) + " x " + std::to_string(height) +
           " pixels (width x height): this GPU's engine for optical flow takes " + std::to_string(l.least_width) +
           " x " + std::to_string(l.least_height) + " to " + std::to_string(l.most_width) + " x " +
           std::to_string(l.most_height));
    if (hints_) check_hints(c.in(1), {frames, cells(height, hint_grid_), cells(width, hint_grid_), 2});
    Tensor& out = c.out(0);
    out.dtype = DType::f32;
    out.shape = {frames, cells(height, grid_), cells(width, grid_), 2};
    out.layout = Layout("FHWC");
  }

  void run(const Context&) const override { fail(ErrorKind::internal, "only a GPU can run it"); }

  void record(gpu::Recorder& r) const override {
    std::vector<Context> all;
    for (int i = 0; i < r.size(); i++)
      if (r[i].out(0).bytes()) all.push_back(r[i]);
    if (all.empty()) return;
    // Those of one size after each other: they share sessions.
    const auto size = [](const Context& c) { return std::tuple(c.in(0).shape[1], c.in(0).shape[2]); };
    std::stable_sort(all.begin(), all.end(), [&](auto& a, auto& b) { return size(a) < size(b); });
    r.call([this, all = std::move(all), size](gpu::CUstream stream) {
      for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        while (end < all.size() && size(all[end]) == size(all[begin])) end++;
        launch(&all[begin], end - begin, stream);
      }
    });
  }

 private:
  enum ImageType : int { kRgb = 0, kBgr = 1, kGray = 2 };    // penstock/types/enums.py
  // While CUDA prepares and finishes the work of one, the engine works for the other.
  static constexpr size_t kSessions = 2;

  static int64_t cells(int64_t extent, int64_t grid) { return (extent + grid - 1) / grid; }
  static int level_of(double preset) {
    return preset < 0.25 ? gpu::nvof::kSlow : preset < 0.75 ? gpu::nvof::kMedium : gpu::nvof::kFast;
  }
  static void check_grid(const char* name, int64_t grid, const std::vector<uint32_t>& known) {
    if (std::find(known.begin(), known.end(), uint32_t(grid)) != known.end()) return;
    std::string listed;
    for (const uint32_t v : known) listed += (listed.empty() ? "" : ", ") + std::to_string(v);
    fail(ErrorKind::device, std::string(name) + "=" + std::to_string(grid) +
         ": this GPU's engine for optical flow has no such grid: it has " + (listed.empty() ? "none" : listed));
  }
  const char* image_name() const { return image_ == kGray ? "GRAY" : image_ == kBgr ? "BGR" : "RGB"; }

  void check_hints(const Tensor& hints, const Shape& wanted) const {
    if (hints.dtype != DType::f32 || !(hints.shape == wanted))
      fail(ErrorKind::argument, std::string("the hints are ") + name_of(hints.dtype) + " of the shape " +
           to_string(hints.shape) + ": expected FLOAT of the shape " + to_string(wanted) + ", as hint_grid=" +
           std::to_string(hint_grid_));
  }

  // Sequences of one size. What is enqueued reads and writes memory of the batch, so the stream waits for it, and where
  // something fails, the host does.
  void launch(const Context* all, size_t count, gpu::CUstream stream) const {
    const gpu::Event ready(device_, stream);
    std::array<std::unique_ptr<gpu::FlowSession>, kSessions> sessions;
    size_t used = 0;
    try {
      for (; used < std::min(count, kSessions); used++) {
        try {
          sessions[used] = take(all[0]);
        } catch (const Error& e) {
          if (!used || e.kind != ErrorKind::memory) throw;
          break;                                             // there is no room for another, and one does
        }
        ready.wait_in(sessions[used]->stream());
      }
      for (size_t i = 0; i < count; i++) {
        try {
          launch_one(all[i], *sessions[i % used]);
        } catch (const Error& e) {
          throw Errors({Error(e.kind, e.what(), all[i].index)});
        }
      }
      for (size_t k = 0; k < used; k++) gpu::Event(device_, sessions[k]->stream()).wait_in(stream);
    } catch (...) {
      for (auto& session : sessions) session.reset();        // waits
      throw;
    }
    for (auto& session : sessions) engine_->give_back(std::move(session));
  }

  std::unique_ptr<gpu::FlowSession> take(const Context& c) const {
    gpu::FlowKind kind;
    kind.width = uint32_t(c.in(0).shape[2]), kind.height = uint32_t(c.in(0).shape[1]);
    kind.output_grid = int(grid_);
    if (hints_) kind.hint_grid = int(hint_grid_);
    kind.level = level_of(preset_);
    kind.gray = image_ == kGray;
    try {
      return engine_->take(kind);
    } catch (const Error& e) {
      const std::string preset = preset_ == 0 ? "0.0" : preset_ == 1 ? "1.0" : "0.5";
      fail(e.kind, "preset=" + preset + ", output_grid=" + std::to_string(grid_) +
           (hints_ ? ", hint_grid=" + std::to_string(hint_grid_) : "") + ", frames of " + std::to_string(kind.width) +
           " x " + std::to_string(kind.height) + " pixels: " + e.what());
    }
  }

  void launch_one(const Context& c, gpu::FlowSession& session) const {
    const Tensor &in = c.in(0), &out = c.out(0);
    const int32_t width = int32_t(in.shape[2]), height = int32_t(in.shape[1]), channels = int32_t(in.shape[3]);
    for (int64_t i = 0; i < in.shape[0]; i++) {
      const gpu::FlowBuffer& frame = session.frame(i);
      const auto* from = in.as<uint8_t>() + i * int64_t(height) * width * channels;
      start(*frames_, device::FlowFrame{from, static_cast<uint8_t*>(frame.data()), frame.pitch(), width, height,
                                        channels, image_ == kBgr},
            cells(width, device::kFlowPixels) * height, session.stream());
      if (i == 0) continue;
      if (hints_) {
        const Tensor& hints = c.in(1);
        const int32_t rows = int32_t(hints.shape[1]), columns = int32_t(hints.shape[2]);
        start(*starts_, device::FlowHints{hints.as<float>() + (i - 1) * int64_t(rows) * columns * 2,
                                          static_cast<int16_t*>(session.hints().data()), session.hints().pitch(),
                                          columns, rows},
              int64_t(columns) * rows, session.stream());
      }
      session.execute(i, temporal_ && i > 1);
      const int32_t rows = int32_t(out.shape[1]), columns = int32_t(out.shape[2]);
      start(*vectors_, device::FlowVectors{static_cast<const int16_t*>(session.vectors().data()),
                                           out.as<float>() + (i - 1) * int64_t(rows) * columns * 2,
                                           session.vectors().pitch(), columns, rows},
            int64_t(columns) * rows, session.stream());
    }
  }

  template <class Job> void start(gpu::Kernel& kernel, Job job, int64_t pieces, gpu::CUstream stream) const {
    void* parameters[] = {&job};
    const auto blocks = unsigned((pieces + device::kFlowThreads - 1) / device::kFlowThreads);
    gpu::check(gpu::driver().cuLaunchKernel(kernel.function(), blocks, 1, 1, device::kFlowThreads, 1, 1, 0, stream,
                                            parameters, nullptr),
               "cuLaunchKernel");
  }

  double preset_;
  int64_t grid_, hint_grid_;
  bool temporal_, hints_;
  int image_;
  gpu::DeviceRef device_ = nullptr;
  std::shared_ptr<gpu::FlowEngine> engine_;
  gpu::Kernel *frames_ = nullptr, *vectors_ = nullptr, *starts_ = nullptr;
};

PS_OPERATOR("optical_flow", OpticalFlow)

}  // namespace
}  // namespace ps
