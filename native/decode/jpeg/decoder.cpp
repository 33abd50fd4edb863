#include "decode/jpeg/decoder.h"

#include <algorithm>
#include <vector>

#include "decode/jpeg/entropy.h"
#include "decode/jpeg/idct.h"
#include "decode/jpeg/index_format.h"
#include "decode/jpeg/segments.h"
#include "decode/jpeg/window_rows.h"

namespace ps::jpeg {

class Decoder::Impl {
 public:
  Status decode(const uint8_t* data, size_t size, const Header& header, const Window& window, Color color, bool fancy,
                RowSink& sink, const ScanIndex* index) {
    h_ = &header;
    data_ = data, size_ = size;
    out_.start(header, window, color, fancy);
    whole_ = out_.whole();
    start_blocks();
    if (!index || !is_of_this_file(*index)) index = nullptr;
    segments_.start(data + header.scan, size - header.scan);
    segment_ = -1;
    for (int row = out_.rows.begin; row < out_.rows.end; row++) {
      int64_t first = int64_t(row) * header.mcus_per_row() + out_.columns.begin;
      if (index && !enter(*index, row)) return Status::inconsistent;
      if (!seek(first) || !decode_mcu_row(row)) return Status::inconsistent;
      out_.finish_mcu_row(row, sink);
    }
    return Status::ok;
  }

 private:
  // One block of an MCU.
  struct Block {
    const DcTable* dc;
    const AcTable* ac;
    int component, x, y;   // place among the component's blocks of this MCU
  };
  // Where a block's coefficients go.
  struct Slot {
    int offset, group;
  };

  void start_blocks() {
    block_count_ = 0;
    int groups = 0;
    for (int i = 0; i < h_->components; i++) {
      const Component& c = h_->component[i];
      const DcTable* dc = &dc_tables_.get(h_->dc[c.dc]);
      AcTable* ac = &ac_tables_.get(h_->ac[c.ac]);
      if (!whole_) ac->prepare_skip();
      for (int y = 0; y < c.v; y++)
        for (int x = 0; x < c.h; x++) blocks_[block_count_++] = {dc, ac, i, x, y};
      first_group_[i] = groups;
      groups += c.h * c.v;
    }
    for (int m = 0; m < kGroup; m++)
      for (int b = 0; b < block_count_; b++) {
        int h = out_.plane[blocks_[b].component].h, x = m * h + blocks_[b].x;
        int group = first_group_[blocks_[b].component] + blocks_[b].y * h + x / kGroup;
        slots_[m][b] = {group * kGroupCoefficients + x % kGroup * 8, group};
      }
    coefficients_.resize(size_t(groups * kGroupCoefficients));
    needed_columns_.resize(size_t(out_.columns.end - out_.columns.begin));
    for (int m = out_.columns.begin; m < out_.columns.end; m++)
      needed_columns_[size_t(m - out_.columns.begin)] = needed([&](const Block& b, const Plane& plane) {
        return plane.block_columns.has(m * plane.h + b.x);
      });
  }

  // A bit for each block of an MCU.
  template <class Test>
  uint32_t needed(Test test) const {
    if (whole_) return ~0u;   // blocks that only pad the picture too: skipping would need tables of its own
    uint32_t bits = 0;
    for (int b = 0; b < block_count_; b++) bits |= uint32_t(test(blocks_[b], out_.plane[blocks_[b].component])) << b;
    return bits;
  }

  // Decoding begins at an indexed row only if that saves work, and if the file is, to its last byte, the one that was
  // indexed: otherwise the blocks before might have led to other predictions or other bits.
  bool is_of_this_file(const ScanIndex& index) const {
    if (out_.rows.begin == 0 && out_.columns.end == h_->mcus_per_row()) return false;
    return index.row_count == uint32_t(h_->mcu_rows()) && index.content == content_of(data_, size_);
  }

  // Goes to the first MCU of a row. false: the index contradicts itself.
  bool enter(const ScanIndex& index, int row) {
    const IndexRow& at = index.rows[row];
    // The next row's first byte may belong to this one, too, with a byte of stuffing.
    const bool last = uint32_t(row) + 1 == index.row_count;
    const size_t end = last ? size_ : std::min(size_t(index.rows[row + 1].byte) + 2, size_);
    if (at.byte < h_->scan || at.byte >= end) return false;
    const int64_t mcu = int64_t(row) * h_->mcus_per_row();
    segments_.start(data_ + at.byte, end - at.byte, segment_of(mcu));
    if (!open_segment(segment_of(mcu))) return false;
    mcu_ = mcu;
    bits_.refill();
    bits_.consume(at.bit & 7);
    for (int i = 0; i < kMaxComponents; i++) prediction_[i] = uint32_t(at.dc[i]);
    return true;
  }

  int64_t segment_of(int64_t mcu) const { return h_->restart_interval ? mcu / h_->restart_interval : 0; }

  bool open_segment(int64_t number) {
    if (!segments_.open(number)) return false;
    segment_ = number;
    mcu_ = number * h_->restart_interval;
    segment_end_ = h_->restart_interval ? mcu_ + h_->restart_interval : INT64_MAX;
    bits_.start(segments_.begin());
    std::fill(std::begin(prediction_), std::end(prediction_), 0u);
    return true;
  }

  int64_t bits_left() const { return (segments_.end() - segments_.begin()) * 8 - bits_.bits_from(segments_.begin()); }

  // Before each MCU: goes on to the next segment where one ends, which must have been used up to its last byte.
  bool at_mcu() {
    if (mcu_ < segment_end_) return true;
    return bits_left() >= 0 && bits_left() < 8 && open_segment(segment_ + 1);
  }

  // Goes to an MCU without keeping what lies before it, except DC predictions.
  bool seek(int64_t target) {
    const int64_t segment = segment_of(target);
    if (segment != segment_ && !open_segment(segment)) return false;
    Bits bits = bits_;
    for (; mcu_ < target; mcu_++) {
      for (int b = 0; b < block_count_; b++)
        if (!skip_block(bits, *blocks_[b].dc, *blocks_[b].ac, prediction_[blocks_[b].component])) return false;
      if (bits.next > segments_.end() + 16) return false;
    }
    bits_ = bits;
    return bits_left() >= 0;
  }

  bool decode_mcu_row(int row) {
    uint32_t in_row = needed([&](const Block& b, const Plane& plane) {
      return plane.block_rows.has(row * plane.v + b.y);
    });
    for (int column = out_.columns.begin; column < out_.columns.end; column += kGroup) {
      std::fill(coefficients_.begin(), coefficients_.end(), int16_t(0));
      std::fill(std::begin(last_), std::end(last_), 0);
      int count = std::min(kGroup, out_.columns.end - column);
      for (int m = 0; m < count; m++, mcu_++)
        if (!at_mcu() || !decode_mcu(m, in_row & needed_columns_[size_t(column + m - out_.columns.begin)]))
          return false;
      transform(row, column);
    }
    return bits_left() >= 0;
  }

  // The m-th MCU of a group.
  bool decode_mcu(int m, uint32_t needed) {
    Bits bits = bits_;
    for (int b = 0; b < block_count_; b++) {
      const Block& block = blocks_[b];
      uint32_t& prediction = prediction_[block.component];
      if (needed >> b & 1) {
        Slot slot = slots_[m][b];
        int16_t* to = coefficients_.data() + slot.offset;
        int last = decode_block(bits, *block.dc, *block.ac, prediction, kPlace.data(), to);
        if (last == kBroken) return false;
        last_[slot.group] = std::max(last_[slot.group], last);
      } else if (!skip_block(bits, *block.dc, *block.ac, prediction)) {
        return false;
      }
    }
    bits_ = bits;
    return bits.next <= segments_.end() + 16;
  }

  void transform(int row, int column) {
    for (int i = 0; i < h_->components; i++) {
      Plane& plane = out_.plane[i];
      if (!plane.mcu_rows.has(row)) continue;
      const uint16_t* quant = h_->quant[h_->component[i].quant];
      int group = first_group_[i];
      for (int y = 0; y < plane.v; y++)
        for (int x = 0; x < plane.h; x++, group++)
          idct(&coefficients_[size_t(group * kGroupCoefficients)], quant, last_[group],
               plane.at((row * plane.v + y) * 8, column * plane.h * 8 + x * 8 * kGroup), plane.stride());
    }
  }

  const Header* h_ = nullptr;
  const uint8_t* data_ = nullptr;       // the file
  size_t size_ = 0;
  WindowRows out_;
  bool whole_ = false;   // every block is decoded
  TableCache<DcTable> dc_tables_;
  TableCache<AcTable> ac_tables_;

  Block blocks_[kMaxBlocksInMcu];
  int block_count_ = 0;
  Slot slots_[kGroup][kMaxBlocksInMcu];   // by the MCU's index in a group
  std::vector<uint32_t> needed_columns_;
  int first_group_[kMaxComponents] = {};
  std::vector<int16_t> coefficients_;   // of kGroup MCUs
  int last_[kMaxBlocksInMcu] = {};      // for each group, the highest index of a coefficient

  Segments segments_;
  int64_t segment_ = -1, segment_end_ = 0, mcu_ = 0;
  Bits bits_;
  uint32_t prediction_[kMaxComponents] = {};
};

Decoder::Decoder() : impl_(std::make_unique<Impl>()) {}
Decoder::~Decoder() = default;

Status Decoder::decode(const uint8_t* data, size_t size, const Header& header, const Window& window, Color color,
                       bool fancy_upsampling, RowSink& sink, const ScanIndex* index) {
  return impl_->decode(data, size, header, window, color, fancy_upsampling, sink, index);
}

}  // namespace ps::jpeg
