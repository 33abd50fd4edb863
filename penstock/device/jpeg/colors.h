// From a picture's planes of samples to its pixels' bytes: upsampling and colours.
#pragma once

#include "device/base/pack.h"
#include "device/base/color_spaces.h"
#include "device/jpeg/upsample.h"

namespace ps::device {

#if !PS_HOST
struct JpegColors {
  int components, channels;
  bool ycc, bgr, studio;
  PS_FN explicit JpegColors(const JpegPicture& p)
      : components(p.channels == 1 && p.ycc ? 1 : p.components), channels(p.channels), ycc(p.ycc), bgr(p.bgr),
        studio(p.studio) {}

  PS_FN static int byte(uint32_t four, int k) { return four >> 8 * k & 255; }
  // Full-range YCbCr (ITU-T T.871) to RGB, with libjpeg's rounding: four pixels, a word for each component.
  PS_FN static void ycc_to_rgb(uint32_t (&v)[3]) {
    constexpr int half = 1 << 15;
    int r[4], g[4], b[4];
    PS_UNROLL
    for (int k = 0; k < 4; k++) {
      const int y = int(pick_bytes(v[0], 0, 0x4044 | k << 8)), cb = byte(v[1], k), cr = byte(v[2], k);    // y: << 16
      r[k] = (y + (91881 * cr + half - 91881 * 128)) >> 16;
      g[k] = (y + (-22554 * cb - 46802 * cr + half + (22554 + 46802) * 128)) >> 16;
      b[k] = (y + (116130 * cb + half - 116130 * 128)) >> 16;
    }
    v[0] = pack_bytes(r[0], r[1], r[2], r[3]);
    v[1] = pack_bytes(g[0], g[1], g[2], g[3]);
    v[2] = pack_bytes(b[0], b[1], b[2], b[3]);
  }
  PS_FN static uint32_t rgb_to_gray(const uint32_t (&v)[3]) {
    uint32_t four = 0;
    for (int k = 0; k < 4; k++)
      four |= uint32_t(19595 * byte(v[0], k) + 38470 * byte(v[1], k) + 7471 * byte(v[2], k) + (1 << 15)) >> 16 << 8 * k;
    return four;
  }
  PS_FN static void rgb_to_studio(uint32_t (&v)[3]) {
    uint32_t to[3] = {};
    for (int k = 0; k < 4; k++) {
      const float in[3] = {float(byte(v[0], k)), float(byte(v[1], k)), float(byte(v[2], k))};
      float out[3];
      convert_color<Space::rgb, Space::ycbcr>(in, out, [](float x) { return x; });
      for (int i = 0; i < 3; i++) to[i] |= uint32_t(int(out[i] + 0.5f)) << 8 * k;
    }
    for (int i = 0; i < 3; i++) v[i] = to[i];
  }
  // From words of the components of four pixels to their bytes in the output: `channels` words.
  PS_FN void apply(uint32_t (&v)[3], uint32_t (&to)[3]) const {
    if (components == 3 && ycc) ycc_to_rgb(v);
    if (channels == 1) {
      to[0] = components == 1 ? v[0] : rgb_to_gray(v), to[1] = to[2] = 0;
      return;
    }
    if (studio) rgb_to_studio(v);
    const uint32_t a = bgr ? v[2] : v[0], b = v[1], c = bgr ? v[0] : v[2];
    to[0] = pick_bytes(pick_bytes(a, b, 0x1040), c, 0x3410);
    to[1] = pick_bytes(pick_bytes(a, b, 0x6205), c, 0x3250);
    to[2] = pick_bytes(pick_bytes(a, b, 0x0730), c, 0x7216);
  }
};

// Eight pixels each of rows y and y + 1 from x on, where x and y are as jpeg_upsample() needs them: put(i, k, four)
// gets the four from column x + i on of row y + k.
template <class Put>
PS_FN void jpeg_make_pixels(const JpegPicture& p, const JpegColors& colors, int x, int y, Put put) {
  uint32_t samples[3][2][2];
  PS_UNROLL
  for (int k = 0; k < 3; k++)
    if (k < colors.components) {
      jpeg_upsample(p.component[k], x, y, samples[k]);
    } else {
      PS_UNROLL
      for (int j = 0; j < 4; j++) samples[k][j / 2][j % 2] = samples[0][j / 2][j % 2];
    }
  PS_UNROLL
  for (int j = 0; j < 4; j++) {
    uint32_t four[3] = {samples[0][j / 2][j % 2], samples[1][j / 2][j % 2], samples[2][j / 2][j % 2]}, pixels[3];
    colors.apply(four, pixels);
    put(j % 2 * 4, j / 2, pixels);
  }
}
#endif

}  // namespace ps::device
