// The way from blocks of samples to the rows of a window, which all decoders of files in blocks have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rows.h"
#include "decode/jpeg/color.h"
#include "decode/jpeg/header.h"
#include "decode/jpeg/plane.h"

namespace ps::jpeg {

class WindowRows {
 public:
  Plane plane[kMaxComponents];
  Range columns, rows;   // of MCUs that are needed

  void start(const Header& header, const Window& window, Color color, bool fancy);
  // Whether Cb and Cr are not looked at.
  bool luma_only() const { return color_ == Color::GRAY && h_->ycc; }
  bool whole() const { return window_ == Window{0, 0, h_->width, h_->height} && !luma_only(); }
  // Called for each of `rows`, from top to bottom, when the samples of its blocks are in the planes: pushes the rows of
  // the window that can be had now.
  void finish_mcu_row(int row, RowSink& sink);

 private:
  void push(int y, RowSink& sink);

  const Header* h_ = nullptr;
  Window window_;
  Color color_ = Color::RGB;
  int next_row_ = 0;
  std::vector<uint8_t> pixels_;
};

}  // namespace ps::jpeg
