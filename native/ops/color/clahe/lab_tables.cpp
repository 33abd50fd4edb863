#include "ops/color/clahe/lab_tables.h"

#include <algorithm>
#include <cmath>

namespace ps {

static device::LabTables made() {
  device::LabTables t;
  const auto whole = [](double v) { return int32_t(std::nearbyint(v)); };
  for (int i = 0; i < 256; i++) {
    const double v = i / 255.0, light = i * 100 / 255.0;
    t.linear[i] = whole(255 * 8 * (v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4)));
    const double y = light <= 8 ? light * 27 / 24389 : std::pow((light + 16) / 116, 3);
    const double root = light <= 8 ? y * 841 / 108 + 16.0 / 116 : (light + 16) / 116;
    t.light[i] = whole(16384 * y) | whole(16384 * root) << 16;
  }
  for (int i = 0; i < 2041; i++) {
    const double v = i / 2040.0;
    t.root[i] = whole(32768 * (v < 216.0 / 24389 ? v * 841 / 108 + 16.0 / 116 : std::cbrt(v)));
  }
  // OpenCV finds roots in single precision, which rounds these two the other way.
  t.root[49] = 9454;
  t.root[628] = 22126;
  for (int i = 0; i < 4096; i++) {
    const double v = i / 4096.0;
    t.gamma[i] = std::min(255, whole(255 * (v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055)));
  }
  return t;
}

const device::LabTables& lab_tables() {
  static const device::LabTables tables = made();
  return tables;
}

}  // namespace ps
