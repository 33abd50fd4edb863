#include "decode/exif.h"

namespace ps {
namespace {

struct Tiff {
  const uint8_t* data;
  size_t size;
  bool little;
  bool has(size_t at, size_t n) const { return at <= size && size - at >= n; }
  uint32_t u16(size_t at) const {
    return little ? uint32_t(data[at] | data[at + 1] << 8) : uint32_t(data[at] << 8 | data[at + 1]);
  }
  uint32_t u32(size_t at) const {
    return little ? u16(at + 2) << 16 | u16(at) : u16(at) << 16 | u16(at + 2);
  }
};

constexpr uint32_t kOrientation = 0x112, kShort = 3, kLong = 4;
constexpr size_t kEntryBytes = 12;

}  // namespace

int exif_orientation(const uint8_t* tiff, size_t size) {
  Tiff t{tiff, size, false};
  if (!t.has(0, 8)) return 1;
  if (tiff[0] == 'I' && tiff[1] == 'I') t.little = true;
  else if (tiff[0] != 'M' || tiff[1] != 'M') return 1;
  if (t.u16(2) != 42) return 1;
  const size_t directory = t.u32(4);
  if (!t.has(directory, 2)) return 1;
  const uint32_t entries = t.u16(directory);
  for (uint32_t i = 0; i < entries; i++) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!t.has(entry, kEntryBytes)) return 1;
    if (t.u16(entry) != kOrientation) continue;
    const uint32_t type = t.u16(entry + 2), count = t.u32(entry + 4);
    if (count != 1 || (type != kShort && type != kLong)) return 1;
    const uint32_t value = type == kShort ? t.u16(entry + 8) : t.u32(entry + 8);
    return value >= 1 && value <= 8 ? int(value) : 1;
  }
  return 1;
}

}  // namespace ps
