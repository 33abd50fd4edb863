// From planes of samples to pixels: upsampling as libjpeg does it, colours, and turning upright.
#pragma once

#include "kernels/device/color_spaces.h"
#include "kernels/device/jpeg.h"

namespace ps::device {

#if !PS_HOST
// A component's sample for pixel (x, y) of the picture. Filters weigh the nearer of two neighbours with 3 and the other
// one with 1; beyond the edges samples repeat.
PS_FN int jpeg_sample(const JpegComponent& c, int x, int y) {
  const int i = x >> c.shift_x, j = y >> c.shift_y;
  const int64_t pitch = int64_t(c.columns) * 8;
  const uint8_t* near = c.plane + (j - c.row * 8) * pitch - c.column * 8;
  if (!c.filter_x && !c.filter_y) return near[i];
  const int right = x & 1, below = y & 1;
  const int far_i = clamp(right ? i + 1 : i - 1, 0, c.width - 1);
  const int far_j = clamp(below ? j + 1 : j - 1, 0, c.height - 1);
  const uint8_t* far = near + (far_j - j) * pitch;
  if (!c.filter_y) return (3 * near[i] + near[far_i] + 1 + right) >> 2;
  if (!c.filter_x) return (3 * near[i] + far[i] + 1 + below) >> 2;
  return (3 * (3 * near[i] + far[i]) + 3 * near[far_i] + far[far_i] + 8 - right) >> 4;
}

// Full-range YCbCr (ITU-T T.871) to RGB, with libjpeg's rounding.
PS_FN void ycc_to_rgb(int y, int cb, int cr, int (&rgb)[3]) {
  constexpr int half = 1 << 15;
  cb -= 128, cr -= 128;
  rgb[0] = clamp(y + ((91881 * cr + half) >> 16), 0, 255);
  rgb[1] = clamp(y + ((-22554 * cb - 46802 * cr + half) >> 16), 0, 255);
  rgb[2] = clamp(y + ((116130 * cb + half) >> 16), 0, 255);
}

// Pixel (x, y) of the stored picture.
PS_FN void jpeg_pixel(const JpegPicture& p, int x, int y, uint8_t* to) {
  const int first = jpeg_sample(p.component[0], x, y);
  if (p.channels == 1 && (p.components == 1 || p.ycc)) {
    *to = uint8_t(first);
    return;
  }
  int rgb[3] = {first, first, first};
  if (p.components == 3) {
    const int second = jpeg_sample(p.component[1], x, y), third = jpeg_sample(p.component[2], x, y);
    if (p.ycc) ycc_to_rgb(first, second, third, rgb);
    else rgb[1] = second, rgb[2] = third;
  }
  if (p.channels == 1) {
    *to = uint8_t((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + (1 << 15)) >> 16);
  } else if (p.studio) {
    const float in[3] = {float(rgb[0]), float(rgb[1]), float(rgb[2])};
    float out[3];
    convert_color<Space::rgb, Space::ycbcr>(in, out, [](float v) { return v; });
    for (int k = 0; k < 3; k++) to[k] = uint8_t(int(out[k] + 0.5f));
  } else {
    to[0] = uint8_t(rgb[p.bgr ? 2 : 0]), to[1] = uint8_t(rgb[1]), to[2] = uint8_t(rgb[p.bgr ? 0 : 2]);
  }
}

// A block for each tile of the output.
PS_FN void jpeg_pixels(const Launch& l) {
  const JpegBlock b = jpeg_block(l);
  const JpegPicture& p = b.picture;
  if (!is_sound(p)) return;
  const int across = (p.width + kJpegTileWidth - 1) / kJpegTileWidth;
  const int x0 = b.number % across * kJpegTileWidth, y0 = b.number / across * kJpegTileHeight;
  for (int i = thread(); i < kJpegTileWidth * kJpegTileHeight; i += threads()) {
    const int x = x0 + i % kJpegTileWidth, y = y0 + i / kJpegTileWidth;
    if (x >= p.width || y >= p.height) continue;
    const int sx = p.swap ? y : x, sy = p.swap ? x : y;
    jpeg_pixel(p, p.x + (p.flip_x ? p.stored_width - 1 - sx : sx), p.y + (p.flip_y ? p.stored_height - 1 - sy : sy),
               p.out + (int64_t(y) * p.width + x) * p.channels);
  }
}
#endif

}  // namespace ps::device
