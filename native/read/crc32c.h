// The checksum of TFRecord: CRC-32C (Castagnoli's), masked as TFRecord stores it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// Of bytes that come in several stretches.
class Crc32c {
 public:
  void add(const uint8_t* data, size_t bytes);
  uint32_t masked() const;

 private:
  uint32_t state_ = ~0u;
};

uint32_t masked_crc32c(const uint8_t* data, size_t bytes);

}  // namespace ps
