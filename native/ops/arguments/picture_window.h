// Windows and flips of pictures as a stage of fused kernels, which crop, slice and flip have in common.
#pragma once

#include "cuda/record/operator.h"
#include "device/picture/window.h"
#include "ops/arguments/picture_layout.h"
#include "ops/arguments/region.h"

namespace ps {

// Unless the region lies inside, and cuts nothing off but rows and columns: what is wrong with it.
inline Misfit window_misfit(const Region& r, const Tensor& in) {
  const Layout layout = in.layout.empty() ? guessed_layout(in.shape.ndim, false) : in.layout;
  const int h = layout.find('H'), w = layout.find('W');
  if (h < 0 || w < 0) return misfit::no_pictures;
  if (!r.inside(in.shape)) return misfit::outside;
  for (int i = 0; i < in.shape.ndim; i++)
    if (i != h && i != w && r.shape[i] != in.shape[i]) return "other axes than height and width are cut";
  return fits;
}

inline Functor window_stage(DType to) {
  return PS_FUNCTOR_TEMPLATE(WindowStage, "picture/window.h", uint8_t).of(gpu::cpp_type(to));
}

// Perhaps turned round, left to right or top to bottom.
inline void fill_window(const Region& r, const Tensor& in, bool back_x, bool back_y, void* functor) {
  const Layout layout = in.layout.empty() ? guessed_layout(in.shape.ndim, false) : in.layout;
  const int h = layout.find('H'), w = layout.find('W');
  *static_cast<device::WindowStage<uint8_t>*>(functor) = {
      int32_t(r.anchor[w] + (back_x ? r.shape[w] - 1 : 0)), int32_t(r.anchor[h] + (back_y ? r.shape[h] - 1 : 0)),
      back_x ? -1 : 1, back_y ? -1 : 1};
}

// The pixels of the input that a stage filled by fill_window() asks for.
inline Window needed_of_window(const Region& r, const Tensor& in, bool back_x, bool back_y, const Window& output) {
  device::WindowStage<uint8_t> stage;
  fill_window(r, in, back_x, back_y, &stage);
  const device::Rect from = stage.region({int(output.x0), int(output.y0), int(output.x1), int(output.y1)});
  return {from.x0, from.y0, from.x1, from.y1};
}

}  // namespace ps
