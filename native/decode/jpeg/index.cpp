#include "decode/jpeg/index.h"

#include <algorithm>

#include "decode/jpeg/entropy.h"
#include "decode/jpeg/index_format.h"
#include "decode/jpeg/segments.h"

namespace ps::jpeg {
namespace {

// Passes over a scan from its first block to its last. One for each thread, as it keeps tables and a buffer.
class Indexer {
 public:
  bool scan(const uint8_t* data, size_t size, const Header& header, OwnScanIndex& index) {
    if (size >> 29) return false;      // positions of bits have 32 bits
    index_ = &index;
    data_ = data;
    index.rows.clear();
    index.subsequences.clear();
    blocks_since_ = 0;
    start_blocks(header);
    segments_.start(data + header.scan, size - header.scan);
    const int64_t across = header.mcus_per_row(), all = across * header.mcu_rows();
    const int64_t each = header.restart_interval ? header.restart_interval : all;
    int64_t begin = 0;                 // bits before the segment
    for (int64_t first = 0; first < all; first += each) {
      if (!segments_.open(first / each) || !pass_over(begin, first, std::min(first + each, all), across)) return false;
      begin += (segments_.end() - segments_.begin()) * 8;
    }
    index.bits = uint32_t(begin);
    index.content = content_of(data, size);
    if (index.subsequences.size() * IndexSubsequence::kBits < size_t(begin)) add_subsequence(0, 0);
    return true;
  }

 private:
  struct Block {
    const DcTable* dc;
    const AcTable* ac;
    int component;
  };

  void start_blocks(const Header& header) {
    count_ = 0;
    for (int i = 0; i < header.components; i++) {
      const Component& c = header.component[i];
      AcTable& ac = ac_tables_.get(header.ac[c.ac]);
      ac.prepare_skip();
      for (int k = 0; k < c.h * c.v; k++) blocks_[count_++] = {&dc_tables_.get(header.dc[c.dc]), &ac, i};
    }
  }

  // The open segment, which must be used up to its last byte; `begin` bits lie before it.
  bool pass_over(int64_t begin, int64_t first, int64_t last, int64_t across) {
    const uint8_t *bytes = segments_.begin(), *counted = bytes;
    const int64_t length = (segments_.end() - bytes) * 8;
    ptrdiff_t stuffing = 0;            // bytes of it, up to `counted`
    uint32_t prediction[kMaxComponents] = {};
    Bits bits;
    bits.start(bytes);
    for (int64_t mcu = first; mcu < last; mcu++) {
      if (mcu % across == 0) {
        const int64_t at = bits.bits_from(bytes);
        const uint8_t* next = std::min(bytes + at / 8, segments_.end());
        stuffing += std::count(counted, next, uint8_t(0xFF));
        counted = next;
        if (!add_row(segments_.source() - data_ + (next - bytes) + stuffing, begin + at, prediction)) return false;
      }
      for (int b = 0; b < count_; b++) {
        if (!skip_block(bits, *blocks_[b].dc, *blocks_[b].ac, prediction[blocks_[b].component])) return false;
        pass(begin + bits.bits_from(bytes), b + 1 == count_ ? 0 : b + 1, 1);
      }
      if (bits.next > segments_.end() + 16) return false;
    }
    const int64_t left = length - bits.bits_from(bytes);
    pass(begin + length, 0, 0);        // over what fills the last byte
    return left >= 0 && left < 8;
  }

  // To a place between two blocks.
  void pass(int64_t at, int block, uint32_t blocks) {
    blocks_since_ += blocks;
    for (int64_t end; (end = int64_t(index_->subsequences.size() + 1) * IndexSubsequence::kBits) <= at;)
      add_subsequence(at - end, block);
  }

  void add_subsequence(int64_t behind, int block) {
    index_->subsequences.push_back({uint32_t(behind) | uint32_t(block) << 12 | blocks_since_ << 16});
    blocks_since_ = 0;
  }

  bool add_row(ptrdiff_t byte, int64_t bit, const uint32_t* prediction) {
    IndexRow row;
    row.byte = uint32_t(byte);
    row.bit = uint32_t(bit);
    for (int i = 0; i < kMaxComponents; i++) {
      row.dc[i] = int16_t(prediction[i]);
      if (int32_t(prediction[i]) != row.dc[i]) return false;
    }
    index_->rows.push_back(row);
    return true;
  }

  TableCache<DcTable> dc_tables_;
  TableCache<AcTable> ac_tables_;
  Segments segments_;
  Block blocks_[kMaxBlocksInMcu];      // of an MCU
  int count_ = 0;
  const uint8_t* data_ = nullptr;
  OwnScanIndex* index_ = nullptr;
  uint32_t blocks_since_ = 0;          // the end of the last subsequence
};

}  // namespace

bool index_scan(const uint8_t* data, size_t size, const Header& header, OwnScanIndex& index) {
  thread_local Indexer indexer;
  return indexer.scan(data, size, header, index);
}

}  // namespace ps::jpeg
