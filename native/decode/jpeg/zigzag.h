// The order in which a block's coefficients are coded.
#pragma once

#include <array>
#include <cstdint>

namespace ps::jpeg {

// kZigzag[k]: row * 8 + column of the k-th coefficient in the file.
inline constexpr std::array<uint8_t, 64> kZigzag = [] {
  std::array<uint8_t, 64> order{};
  int k = 0;
  for (int diagonal = 0; diagonal < 15; diagonal++)
    for (int i = 0; i <= diagonal; i++) {
      int row = diagonal % 2 ? i : diagonal - i, column = diagonal - row;
      if (row < 8 && column < 8) order[size_t(k++)] = uint8_t(row * 8 + column);
    }
  return order;
}();

}  // namespace ps::jpeg
