// Numbers in files, whichever way round the machine has its own: big-endian (be) and little-endian (le).
#pragma once

#include <cstdint>

namespace ps {

inline uint32_t le16(const uint8_t* p) { return uint32_t(p[1]) << 8 | p[0]; }
inline uint32_t le32(const uint8_t* p) { return le16(p + 2) << 16 | le16(p); }
inline uint32_t be16(const uint8_t* p) { return uint32_t(p[0]) << 8 | p[1]; }
inline uint32_t be32(const uint8_t* p) { return be16(p) << 16 | be16(p + 2); }

}  // namespace ps
