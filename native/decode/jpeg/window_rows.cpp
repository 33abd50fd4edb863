#include "decode/jpeg/window_rows.h"

#include <algorithm>
#include <cstring>

namespace ps::jpeg {

void WindowRows::start(const Header& header, const Window& window, Color color, bool fancy) {
  h_ = &header;
  window_ = window;
  color_ = color;
  next_row_ = int(window.y0);
  columns = {1 << 30, 0}, rows = {1 << 30, 0};
  for (int i = 0; i < header.components; i++) {
    Plane& p = plane[i];
    p.start(header, i, window, i == 0 || !luma_only(), fancy);
    if (p.block_rows.empty()) continue;
    columns = {std::min(columns.begin, p.mcu_columns.begin), std::max(columns.end, p.mcu_columns.end)};
    rows = {std::min(rows.begin, p.mcu_rows.begin), std::max(rows.end, p.mcu_rows.end)};
  }
  for (int i = 0; i < header.components; i++) plane[i].allocate(columns);
}

void WindowRows::finish_mcu_row(int row, RowSink& sink) {
  int ready = int(window_.y1);
  for (int i = 0; i < h_->components; i++) {
    if (plane[i].mcu_rows.has(row)) plane[i].finish_mcu_row(row);
    if (!plane[i].block_rows.empty()) ready = std::min(ready, plane[i].rows_ready(row));
  }
  for (; next_row_ < ready; next_row_++) push(next_row_, sink);
}

void WindowRows::push(int y, RowSink& sink) {
  int n = int(window_.width());
  uint8_t* to = static_cast<uint8_t*>(sink.place(y));
  const uint8_t* first = plane[0].row(y);
  bool one = h_->components == 1;
  if (color_ == Color::GRAY && (one || h_->ycc)) {
    if (to) std::memcpy(to, first, size_t(n));
    return sink.push(y, to ? to : first);
  }
  if (!to) {
    pixels_.resize(std::max(pixels_.size(), size_t(n * channels(color_)) + kRowSlack));
    to = pixels_.data();
  }
  const uint8_t* second = one ? first : plane[1].row(y);
  const uint8_t* third = one ? first : plane[2].row(y);
  if (color_ == Color::GRAY)
    rgb_to_gray(first, second, third, n, to);
  else if (h_->ycc)
    ycc_to_rgb(first, second, third, n, color_ == Color::BGR, to);
  else if (color_ == Color::BGR)
    interleave(third, second, first, n, to);
  else
    interleave(first, second, third, n, to);
  if (color_ == Color::YCbCr) rgb_to_studio_ycc(to, n);
  sink.push(y, to);
}

}  // namespace ps::jpeg
