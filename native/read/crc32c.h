// The checksum of TFRecord: CRC-32C (Castagnoli's), masked as TFRecord stores it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

uint32_t masked_crc32c(const uint8_t* data, size_t bytes);

}  // namespace ps
