// What operators that warp have in common: layouts, types and sizes, and the ways to run: as a row stage or in memory
// on the CPU, as a stage of pictures or frame by frame on the GPU.
#pragma once

#include <memory>
#include <string>

#include "core/operator.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "ops/geometry/warp/stage.h"

namespace ps {

// Where space is in a tensor: the axes [first, first + count), depth, height and width in this order.
struct WarpSpace {
  int first = 0, count = 2;
  bool frames = false;

  explicit WarpSpace(const Tensor& t);
  int64_t frame_count(const Shape& s) const { return frames ? s[0] : 1; }
  // In x, y, z.
  void extents(const Shape& s, int64_t* to) const {
    for (int i = 0; i < count; i++) to[i] = s[first + count - 1 - i];
  }
};

class WarpOperator : public RowOperator, public StageOperator {
 public:
  explicit WarpOperator(const Spec& s);
  std::unique_ptr<State> make_state() const override { return std::make_unique<ThreadState>(); }

  void setup(const Context& c) const override;
  Misfit rows_misfit(const Context& c) const override;

  RowStage* begin(const Context& c) const override;
  void run(const Context& c) const override;

  Misfit stage_misfit(const Context& c) const override;
  Functor stage(const Context& c) const override;
  void fill_stage(const Context& c, void* functor) const override;
  void record_alone(gpu::Recorder& r) const override;

 protected:
  // The extents of space in the output, where no size is given; they are the input's so far.
  virtual void find_size(const Context& c, const WarpSpace& space, Shape& out) const = 0;
  // Fails for arguments that do not fit.
  virtual void check(const Context& c, const WarpSpace& space) const = 0;
  // Whether frames differ in their matrices.
  virtual bool by_frame(const Context& c) const = 0;
  // Where pixels of the output are in the input: rows x, y (and z) of a matrix.
  virtual void map(const Context& c, const WarpSpace& space, int64_t frame, float* matrix) const = 0;
  // The matrix in the GPU's memory instead, and whether it maps the other way round.
  virtual const float* map_there(const Context&, const WarpSpace&, int64_t) const { return nullptr; }
  virtual bool map_there_is_forward() const { return false; }

 private:
  static constexpr int64_t kLongest = 1 << 28;     // floats and integers count pixels

  struct ThreadState : State {
    WarpStage stage;
    Warper<2> pictures;
    Warper<3> volumes;
  };
  void given_size(const Context& c, const WarpSpace& space, Shape& out) const;

  template <int D> device::AffineMatrix<D> matrix(const Context& c, const WarpSpace& space, int64_t frame) const;
  template <int D> void run_frames(const Context& c, const WarpSpace& space, Warper<D>& warper) const;

  std::string types(const Context& c) const;
  template <int D> device::WarpFields<D> fields(const Context& c, const WarpSpace& space, int64_t frame) const;

  // A launch for each frame of the longest sequence; samples without it have no work there.
  template <int D> void record_frames(gpu::Recorder& r) const;

  DType dtype_;
  Arg<float> size_;
  WarpParams warp_;
};

}  // namespace ps
