#include "decode/jpeg/progressive.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "decode/jpeg/entropy.h"
#include "decode/jpeg/idct.h"
#include "decode/jpeg/progressive_block.h"
#include "decode/jpeg/scan_list.h"
#include "decode/jpeg/segments.h"
#include "decode/jpeg/window_rows.h"

namespace ps::jpeg {
namespace {

// Of memory for coefficients; what a larger picture needs is not kept.
constexpr size_t kMostKept = size_t(32) << 20;

}  // namespace

class ProgressiveDecoder::Impl {
 public:
  Status decode(const uint8_t* data, size_t size, Header& header, const Window& window, Color color, bool fancy,
                RowSink& sink) {
    h_ = &header;
    data_ = data, size_ = size;
    out_.start(header, window, color, fancy);
    start_coefficients();
    const bool read = read_scans();
    if (read)
      for (int row = out_.rows.begin; row < out_.rows.end; row++) {
        transform(row);
        out_.finish_mcu_row(row, sink);
      }
    if (coefficients_.capacity() * sizeof(int16_t) > kMostKept) coefficients_ = {}, nonzero_ = {};
    return read ? Status::ok : Status::inconsistent;
  }

 private:
  // The blocks of a component, from the top to the last row that is needed.
  struct Blocks {
    size_t coefficients, nonzero;      // where they begin
    int groups;                        // in a row
    int columns, rows;                 // of blocks in a scan of this component alone
  };
  // One block of an MCU.
  struct Block {
    int number, x, y;                  // of its component among the scan's; its place there
  };

  void start_coefficients() {
    size_t coefficients = 0, nonzero = 0;
    for (int i = 0; i < h_->components; i++) {
      const Component& c = h_->component[i];
      const int padded = h_->mcus_per_row() * c.h, rows = out_.rows.end * c.v;
      Blocks& b = blocks_[i];
      b = {coefficients, nonzero, (padded + kGroup - 1) / kGroup, (c.width + 7) / 8,
           std::min((c.height + 7) / 8, rows)};
      nonzero += size_t(b.groups) * kGroup * size_t(rows);
      coefficients += size_t(b.groups) * kGroupCoefficients * size_t(rows);
    }
    coefficients_.assign(coefficients, 0);
    nonzero_.assign(nonzero, 0);
  }

  size_t group(const Blocks& b, int x, int y) const { return size_t(y) * size_t(b.groups) + size_t(x / kGroup); }
  int16_t* block_at(const Blocks& b, int x, int y) {
    return coefficients_.data() + b.coefficients + group(b, x, y) * kGroupCoefficients + size_t(x % kGroup * 8);
  }
  uint64_t* nonzero_at(const Blocks& b, int x, int y) {
    return nonzero_.data() + b.nonzero + group(b, x, y) * kGroup + size_t(x % kGroup);
  }

  bool read_scans() {
    KnownBits known;
    size_t at = h_->sos;
    for (int count = 0; count <= kMostScans; count++) {
      const ScanStatus found = next_scan(data_, size_, at, *h_, scan_);
      if (found != ScanStatus::scan) return found == ScanStatus::end && known.complete(h_->components);
      if (!known.add(scan_)) return false;
      const bool needed = scan_.components > 1 || !out_.plane[scan_.component[0]].block_rows.empty();
      if (needed && !read_scan()) return false;
      at = end_of_scan(data_, size_, scan_.data);
    }
    return false;
  }

  bool read_scan() {
    if (scan_.first == 0) return scan_.high ? read_dc<true>() : read_dc<false>();
    const HuffmanSpec& spec = h_->ac[scan_.ac[0]];
    if (!is_prefix_code(spec)) return false;
    table_.build(spec);
    const Band band{&table_, scan_.first, scan_.last, scan_.low};
    return scan_.high ? read_band<true>(band) : read_band<false>(band);
  }

  // Calls read(begin, end) for the units of each segment, of `count` that are needed: MCUs, or blocks. At least one of
  // these bits must be there yet.
  template <class Read> bool each_segment(int64_t count, Read read) {
    const int64_t interval = h_->restart_interval ? h_->restart_interval : count;
    segments_.start(data_ + scan_.data, size_ - scan_.data);
    for (int64_t begin = 0; begin < count; begin += interval) {
      const int64_t end = std::min(begin + interval, count);
      if (!segments_.open(begin / interval)) return false;
      bits_.start(segments_.begin());
      if (!read(begin, end)) return false;
      const int64_t left = (segments_.end() - segments_.begin()) * 8 - bits_.bits_from(segments_.begin());
      if (left < 0 || (left >= 8 && end < count)) return false;
    }
    return true;
  }

  bool within(const Bits& bits) const { return bits.next <= segments_.end() + 16; }

  template <bool kLater> bool read_dc() {
    if constexpr (!kLater)
      for (int i = 0; i < scan_.components; i++) {
        const HuffmanSpec& spec = h_->dc[scan_.dc[i]];
        if (!is_code_of_means(spec)) return false;
        dc_[i] = &dc_tables_.get(spec);
      }
    const bool alone = scan_.components == 1;
    Block mcu[kMaxBlocksInMcu];
    int in_mcu = 0;
    for (int i = 0; i < scan_.components; i++) {
      const Component& c = h_->component[scan_.component[i]];
      for (int y = 0; y < (alone ? 1 : c.v); y++)
        for (int x = 0; x < (alone ? 1 : c.h); x++) mcu[in_mcu++] = {i, x, y};
    }
    const Blocks& first = blocks_[scan_.component[0]];
    const int columns = alone ? first.columns : h_->mcus_per_row(), rows = alone ? first.rows : out_.rows.end;
    return each_segment(int64_t(columns) * rows, [&](int64_t at, int64_t end) {
      uint32_t prediction[kMaxComponents] = {};
      Bits bits = bits_;
      int column = int(at % columns), row = int(at / columns);
      for (; at < end; at++) {
        if (kLater) bits.refill();
        for (int n = 0; n < in_mcu; n++) {
          const Block& b = mcu[n];
          const int number = scan_.component[b.number];
          const int h = alone ? 1 : h_->component[number].h, v = alone ? 1 : h_->component[number].v;
          int16_t& value = *block_at(blocks_[number], column * h + b.x, row * v + b.y);
          if constexpr (kLater) {
            value = int16_t(value | int(bits.window >> 63) << scan_.low);
            bits.consume(1);
          } else {
            if (!decode_dc(bits, *dc_[b.number], prediction[b.number])) return false;
            value = int16_t(prediction[b.number] << scan_.low);
          }
        }
        if (!within(bits)) return false;
        if (++column == columns) column = 0, row++;
      }
      bits_ = bits;
      return true;
    });
  }

  template <bool kLater> bool read_band(const Band& band) {
    const Blocks& b = blocks_[scan_.component[0]];
    const uint64_t all = band.all();
    return each_segment(int64_t(b.columns) * b.rows, [&](int64_t at, int64_t end) {
      Bits bits = bits_;
      int column = int(at % b.columns), row = int(at / b.columns);
      const auto next = [&](int64_t blocks) {
        at += blocks;
        column += int(blocks);
        if (column >= b.columns) row += column / b.columns, column %= b.columns;
      };
      while (at < end) {
        int16_t* block = block_at(b, column, row);
        uint64_t& nonzero = *nonzero_at(b, column, row);
        uint32_t ended = 0;
        if (!(kLater ? decode_later : decode_first)(bits, band, block, nonzero, ended)) return false;
        if (!within(bits)) return false;
        next(1);
        if (ended <= 1) continue;
        const int64_t rest = std::min(int64_t(ended) - 1, end - at);
        if constexpr (kLater) {
          for (int64_t i = 0; i < rest; i++) {
            if (const uint64_t which = *nonzero_at(b, column, row) & all) {
              correct(bits, band, block_at(b, column, row), which);
              if (!within(bits)) return false;
            }
            next(1);
          }
        } else {
          next(rest);
        }
      }
      bits_ = bits;
      return true;
    });
  }

  void transform(int row) {
    for (int i = 0; i < h_->components; i++) {
      Plane& plane = out_.plane[i];
      if (!plane.mcu_rows.has(row)) continue;
      const uint16_t* quant = h_->quant[h_->component[i].quant];
      const int begin = plane.block_columns.begin / kGroup * kGroup;
      for (int y = row * plane.v; y < (row + 1) * plane.v; y++)
        for (int x = begin; x < plane.block_columns.end; x += kGroup) {
          const uint64_t* nonzero = nonzero_at(blocks_[i], x, y);
          uint64_t any = 1;
          for (int n = 0; n < kGroup; n++) any |= nonzero[n];
          idct(block_at(blocks_[i], x, y), quant, 63 - std::countl_zero(any), plane.at(y * 8, x * 8), plane.stride());
        }
    }
  }

  Header* h_ = nullptr;
  const uint8_t* data_ = nullptr;      // the file
  size_t size_ = 0;
  WindowRows out_;
  Blocks blocks_[kMaxComponents];
  std::vector<int16_t> coefficients_;  // of all blocks, as idct() takes them
  std::vector<uint64_t> nonzero_;      // of each block, without its mean
  Scan scan_;
  const DcTable* dc_[kMaxComponents] = {};
  TableCache<DcTable> dc_tables_;
  ScanTable table_;
  Segments segments_;
  Bits bits_;
};

ProgressiveDecoder::ProgressiveDecoder() : impl_(std::make_unique<Impl>()) {}
ProgressiveDecoder::~ProgressiveDecoder() = default;

Status ProgressiveDecoder::decode(const uint8_t* data, size_t size, Header& header, const Window& window, Color color,
                                  bool fancy_upsampling, RowSink& sink) {
  return impl_->decode(data, size, header, window, color, fancy_upsampling, sink);
}

}  // namespace ps::jpeg
