// From component rows to interleaved pixels.
#pragma once

#include <cstdint>

namespace ps::jpeg {

enum class Color { RGB, BGR, GRAY, YCbCr };

constexpr int channels(Color color) { return color == Color::GRAY ? 1 : 3; }

// Full-range YCbCr (ITU-T T.871) to RGB or BGR, with libjpeg's rounding. `n` pixels, not one byte more is written;
// up to 31 samples past each row's end are read.
void ycc_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int n, bool bgr, uint8_t* out);

// Three planes, or one plane three times, to interleaved pixels.
void interleave(const uint8_t* a, const uint8_t* b, const uint8_t* c, int n, uint8_t* out);

// Luma of RGB planes, with libjpeg's rounding.
void rgb_to_gray(const uint8_t* r, const uint8_t* g, const uint8_t* b, int n, uint8_t* out);

// Interleaved RGB to studio-range YCbCr (ITU-R BT.601: Y 16..235, Cb and Cr 16..240) in place: what DALI calls YCbCr.
void rgb_to_studio_ycc(uint8_t* pixels, int n);

}  // namespace ps::jpeg
