// The matrix that turns colours: to YIQ, where I and Q are hue (an angle) and saturation (a length), and back.
#pragma once

#include <cmath>
#include <numbers>

namespace ps::color {

using Matrix = float[3][3];

// NTSC's luma and chroma, rounded to three digits.
inline constexpr Matrix kYiqFromRgb = {{0.299f, 0.587f, 0.114f}, {0.596f, -0.274f, -0.321f}, {0.211f, -0.523f, 0.311f}};
// The inverse in floats. Its last bits are those that give DALI's results.
inline constexpr Matrix kRgbFromYiq = {{0.999664366f, 0.956541181f, 0.620861709f},
                                       {0.999624848f, -0.272274464f, -0.647451282f},
                                       {1.00281227f, -1.106848f, 1.70540559f}};

// a = a * b, each sum from left to right in floats: all pictures with one hue are the same on every machine.
inline void multiply(Matrix& a, const Matrix& b) {
  for (auto& row : a) {
    const float x = row[0], y = row[1], z = row[2];
    for (int k = 0; k < 3; k++) row[k] = x * b[0][k] + y * b[1][k] + z * b[2][k];
  }
}

// scale * (RGB from YIQ) * (turn I and Q by `hue` degrees) * (stretch them by `saturation`) * value * (YIQ from RGB)
inline void matrix(float hue, float saturation, float value, float scale, Matrix& m) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) m[i][k] = scale * kRgbFromYiq[i][k];
  const float angle = float(double(hue) * std::numbers::pi / 180), cos = std::cos(angle), sin = std::sin(angle);
  multiply(m, {{1, 0, 0}, {0, cos, sin}, {0, -sin, cos}});
  multiply(m, {{1, 0, 0}, {0, saturation, 0}, {0, 0, saturation}});
  multiply(m, {{value, 0, 0}, {0, value, 0}, {0, 0, value}});
  multiply(m, kYiqFromRgb);
}

}  // namespace ps::color
