#include "cuda/decode/jpeg/work.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "cuda/decode/jpeg/scans.h"
#include "decode/jpeg/plane_window.h"
#include "decode/jpeg/zigzag.h"
#include "device/jpeg/sparse.h"
#include "device/jpeg/pixels.h"

namespace ps::gpu {
namespace {

using device::JpegPicture;

constexpr int64_t kLargestFile = int64_t(1) << 28;        // positions of bits have 32 bits
constexpr int64_t kMostBlocks = int64_t(1) << 25;
constexpr int64_t kMostProgressiveBlocks = int64_t(1) << 22;       // coefficients of all of them are kept
constexpr int64_t kMostSparseBytes = int64_t(4) << 30;
constexpr int64_t kBlocksInByte = 4;                       // at most: a block has two codes, of a bit or more
static_assert(jpeg::IndexSubsequence::kBits <= device::kJpegSubsequenceBits);
constexpr int64_t kSubsequenceBytes = 3 * sizeof(device::JpegState);        // what is known of one, and some more
constexpr int64_t kReadBehind = device::kJpegBehind / 8 + 16;       // bytes

// By index in the file's order (zigzag): where coefficients go, column by column.
constexpr auto kPlaces = [] {
  std::array<uint8_t, 64> places{};
  for (size_t k = 0; k < 64; k++) places[k] = uint8_t(jpeg::kZigzag[k] % 8 * 8 + jpeg::kZigzag[k] / 8);
  return places;
}();

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t blocks_of(const jpeg::Header& h) {
  int64_t in_mcu = 0;
  for (int i = 0; i < h.components; i++) in_mcu += h.component[i].h * h.component[i].v;
  return in_mcu * h.mcus_per_row() * h.mcu_rows();
}

// `a` is a table of either kind: as a file states it, or one for the GPU.
template <class Table> bool same(const Table& a, const jpeg::HuffmanSpec& b) {
  return !std::memcmp(a.counts, b.counts, sizeof b.counts) && !std::memcmp(a.symbols, b.symbols, size_t(b.size));
}

uint64_t hash_bytes(const uint8_t* bytes, size_t n, uint64_t hash) {
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    if (i + 8 <= n) std::memcpy(&word, bytes + i, 8);
    else std::memcpy(&word, bytes + i, n - i);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

// How many tables decode the components' values of one kind.
int count_tables(const jpeg::Header& h, const jpeg::HuffmanSpec* tables, int jpeg::Component::* table) {
  int count = 0;
  for (int i = 0; i < h.components; i++) {
    bool is_new = true;
    for (int k = 0; k < i && is_new; k++)
      is_new = h.component[i].*table != h.component[k].*table &&
               !same(tables[h.component[k].*table], tables[h.component[i].*table]);
    count += is_new;
  }
  return count;
}

// Component `index`: what the window needs of it, as jpeg::PlaneWindow finds it for the CPU.
void set_component(const jpeg::Header& h, int index, const Window& stored, bool wanted, bool fancy, JpegWork& work) {
  const jpeg::Component& from = h.component[index];
  device::JpegComponent& c = work.picture.component[index];
  const int fx = h.h_max / from.h, fy = h.v_max / from.v;
  c.width = from.width, c.height = from.height;
  c.h = from.h, c.v = from.v, c.blocks = from.h * from.v;
  c.by_h = device::Divisor(uint64_t(c.h));
  c.shift_x = std::countr_zero(unsigned(fx)), c.shift_y = std::countr_zero(unsigned(fy));
  const bool by2 = fx <= 2 && fy <= 2, wide = from.width > 2;
  c.filter_x = fancy && by2 && fx == 2 && wide;
  c.filter_y = fancy && by2 && fy == 2 && (fx == 1 || wide);
  for (int k = 0; k < 64; k++) c.quant[k % 8 * 8 + k / 8] = h.quant[from.quant][k];
  work.dc[index] = int64_t(sizeof(int16_t)) * c.blocks * h.mcus_per_row() * h.mcu_rows();
  if (!wanted) return;
  jpeg::PlaneWindow plane;
  plane.start(h, index, stored, true, fancy);
  c.column = plane.block_columns.begin, c.columns = plane.block_columns.end - plane.block_columns.begin;
  c.row = plane.block_rows.begin, c.rows = plane.block_rows.end - plane.block_rows.begin;
  work.plane[index] = int64_t(c.columns) * c.rows * 64;
  JpegPicture& p = work.picture;
  const int right = std::max(p.mcu_column + p.mcu_columns, plane.mcu_columns.end);
  const int bottom = std::max(p.mcu_row + p.mcu_rows, plane.mcu_rows.end);
  p.mcu_column = index ? std::min(p.mcu_column, plane.mcu_columns.begin) : plane.mcu_columns.begin;
  p.mcu_row = index ? std::min(p.mcu_row, plane.mcu_rows.begin) : plane.mcu_rows.begin;
  p.mcu_columns = right - p.mcu_column;
  p.mcu_rows = bottom - p.mcu_row;
}

// The blocks of an MCU.
void set_blocks(const jpeg::Header& h, JpegPicture& p) {
  for (int i = 0; i < h.components; i++)
    for (int k = 0; k < h.component[i].h * h.component[i].v; k++) {
      const int b = p.blocks_in_mcu++;
      p.component_of[b] = uint8_t(i), p.rank[b] = uint8_t(k);
    }
  std::memcpy(p.place, kPlaces.data(), sizeof p.place);
}

// The tables that decode them.
void set_tables(const jpeg::Header& h, JpegTablePool& pool, JpegWork& work) {
  JpegPicture& p = work.picture;
  const auto table = [&](const jpeg::HuffmanSpec& spec, bool is_dc) {
    const int index = pool.index(spec, is_dc);
    const int at = int(std::find(work.tables, work.tables + work.table_count, index) - work.tables);
    if (at == work.table_count) work.tables[work.table_count++] = index;
    return uint8_t(at);
  };
  for (int b = 0; b < p.blocks_in_mcu; b++) {
    const jpeg::Component& c = h.component[p.component_of[b]];
    p.dc_table[b] = table(h.dc[c.dc], true), p.ac_table[b] = table(h.ac[c.ac], false);
  }
}

// Where the scan of a baseline file lies, and in which parts it is decoded.
void set_scan(const CudaJpeg::Item& item, JpegWork& work) {
  const jpeg::Header& h = *item.header;
  JpegPicture& p = work.picture;
  p.scan = uint32_t(h.scan), p.end = uint32_t(item.size);
  p.first_piece = p.scan / device::kJpegPieceBytes;
  p.pieces = uint32_t(ceil_div(p.end, device::kJpegPieceBytes)) - p.first_piece;
  const int64_t mcus = int64_t(h.mcus_per_row()) * h.mcu_rows();
  p.segments = uint32_t(ceil_div(mcus, h.restart_interval ? h.restart_interval : mcus));
  p.has_restarts = h.restart_interval != 0;
  work.data = int64_t(item.size - h.scan) + kReadBehind;
  work.bound = JpegSparseBound(h);
  work.divide(jpeg::IndexSubsequence::kBits, 1, 0);
  if (const jpeg::ScanIndex* index = index_of(item))
    p.index_bits = index->bits, p.subsequences = index->subsequence_count;
}

// Which MCUs are transformed together: about as many in each span of a row.
void set_spans(JpegWork& work) {
  JpegPicture& p = work.picture;
  const int most = device::kJpegTileBlocks / p.blocks_in_mcu;
  p.span_mcus = work.direct ? device::kJpegDirectBlocks
                            : int32_t(ceil_div(p.mcus_across, ceil_div(p.mcus_across, most)));
  p.spans_across = int32_t(ceil_div(p.mcus_across, p.span_mcus));
  p.first_span = p.mcu_column / p.span_mcus;
  p.wanted_spans = (p.mcu_column + p.mcu_columns - 1) / p.span_mcus - p.first_span + 1;
}

}  // namespace

int JpegTablePool::index(const jpeg::HuffmanSpec& spec, bool is_dc) {
  if (slots_.size() < 2 * (codes_.size() + 1)) make_room();
  const uint64_t key = hash_bytes(spec.symbols, size_t(spec.size), hash_bytes(spec.counts, sizeof spec.counts, is_dc));
  size_t at = key % slots_.size();
  for (; slots_[at] >= 0; at = (at + 1) % slots_.size()) {
    const auto index = size_t(slots_[at]);
    const device::JpegCodes& known = codes_[index];
    if (keys_[index] == key && known.is_dc == uint32_t(is_dc) && same(known, spec)) return slots_[at];
  }
  slots_[at] = int(codes_.size());
  keys_.push_back(key);
  device::JpegCodes& c = codes_.emplace_back();
  std::memcpy(c.counts, spec.counts, sizeof c.counts);
  std::memcpy(c.symbols, spec.symbols, sizeof c.symbols);
  c.is_dc = is_dc;
  return slots_[at];
}

void JpegTablePool::make_room() {
  slots_.assign(std::max(size_t(64), 2 * slots_.size()), -1);
  for (size_t i = 0; i < keys_.size(); i++) {
    size_t at = keys_[i] % slots_.size();
    while (slots_[at] >= 0) at = (at + 1) % slots_.size();
    slots_[at] = int(i);
  }
}

int64_t JpegWork::other_bytes() const {
  int64_t sum = pixels + scan_bytes(*this);
  if (!progressive()) {
    sum += 4 * int64_t(picture.segments) + data + kSubsequenceBytes * picture.subsequences;
    sum += spans() * int64_t(sizeof(device::JpegSpan)) + picture.pieces * int64_t(sizeof(device::JpegPiece));
  }
  for (int i = 0; i < 3; i++) sum += 2 * dc[i] + plane[i];
  return sum;
}

int64_t JpegWork::synchronizing_bytes() const {
  constexpr int64_t states = 2 + device::kJpegOverflow;
  return progressive() || has_index() ? 0 : states * int64_t(sizeof(device::JpegState)) * picture.subsequences;
}

int64_t JpegWork::scan_bits() const { return int64_t(picture.end - picture.scan) * 8; }

void JpegWork::divide(uint32_t subsequence_bits, uint32_t group, uint32_t guess_bits) {
  picture.subsequence_bits = subsequence_bits, picture.group = group, picture.guess_bits = guess_bits;
  picture.subsequences = uint32_t(ceil_div(scan_bits(), subsequence_bits));
  picture.sparse_vectors = uint32_t(bound.vectors(subsequence_bits));
}
int64_t JpegWork::sparse_bytes() const {
  return progressive() ? 0 : bound.bytes(picture.subsequence_bits, picture.subsequences);
}
int64_t JpegWork::sparse_vectors() const { return sparse_bytes() / int64_t(sizeof(device::JpegSparseVector)); }
int64_t JpegWork::spans() const { return int64_t(picture.mcu_row + picture.mcu_rows) * picture.spans_across; }

int JpegWork::group_blocks() const {
  return has_index() ? 0 : int(ceil_div(picture.subsequences, int64_t(picture.group) * device::kJpegScanThreads));
}
int JpegWork::boundary_blocks() const {
  return has_index() ? 0 : int(ceil_div(picture.subsequences, device::kJpegBoundaries));
}
int JpegWork::resolve_blocks() const { return has_index() ? 0 : 1; }
int JpegWork::seed_blocks() const { return has_index() ? int(ceil_div(picture.subsequences, device::kJpegSeeded)) : 0; }
int JpegWork::subsequence_blocks() const {
  return int(ceil_div(picture.subsequences, device::kJpegCoefficientThreads));
}
int JpegWork::sum_blocks() const {
  int64_t blocks = 0;
  for (int k = 0; k < picture.components; k++)
    blocks += ceil_div(int64_t(picture.needed / uint32_t(picture.blocks_in_mcu)) * picture.component[k].blocks,
                       device::kJpegSums);
  return int(blocks);
}

int JpegWork::transform_blocks() const { return direct ? 0 : picture.mcu_rows * picture.wanted_spans; }
int JpegWork::direct_blocks() const { return direct ? picture.mcu_rows * picture.wanted_spans : 0; }
int JpegWork::pixel_blocks() const {
  if (planes || direct) return 0;
  const device::JpegTiles tiles(picture);
  return tiles.across * tiles.down;
}

bool CudaJpeg::takes(const jpeg::Header& h, size_t size) {
  if ((!h.supported && !h.progressive) || int64_t(size) > kLargestFile) return false;
  for (int i = 0; i < h.components; i++) {
    const jpeg::Component& c = h.component[i];
    if (!std::has_single_bit(unsigned(h.h_max / c.h)) || !std::has_single_bit(unsigned(h.v_max / c.v))) return false;
  }
  if (h.progressive) return blocks_of(h) <= kMostProgressiveBlocks;
  if (h.scan >= size) return false;
  const auto scan = int64_t(size - h.scan);
  if (blocks_of(h) > kMostBlocks || blocks_of(h) > scan * kBlocksInByte) return false;
  constexpr int64_t subsequence_bits = jpeg::IndexSubsequence::kBits;
  if (JpegSparseBound(h).bytes(subsequence_bits, ceil_div(scan * 8, subsequence_bits)) > kMostSparseBytes) return false;
  return count_tables(h, h.dc, &jpeg::Component::dc) + count_tables(h, h.ac, &jpeg::Component::ac) <=
         device::kJpegTables;
}

const jpeg::ScanIndex* index_of(const CudaJpeg::Item& item) {
  const jpeg::ScanIndex* i = item.index;
  return i && i->bits && i->bits <= (item.size - item.header->scan) * 8 &&
                 i->subsequence_count == ceil_div(i->bits, jpeg::IndexSubsequence::kBits)
             ? i
             : nullptr;
}

std::vector<size_t> CudaJpeg::room(const std::vector<Item>& items) const {
  std::vector<size_t> all;
  for (const Item& item : items) {
    const jpeg::Header& h = *item.header;
    const Window stored = Orientation(item.orientation).to_stored(item.window, h.width, h.height);
    size_t bytes = 0;
    for (int i = 0; item.planes && i < h.components; i++) {
      jpeg::PlaneWindow plane;
      plane.start(h, i, stored, true, options_.fancy_upsampling);
      const auto count = [](const jpeg::Range& blocks) { return size_t(blocks.end - blocks.begin); };
      bytes += (count(plane.block_columns) * count(plane.block_rows) * 64 + 255) / 256 * 256;
    }
    all.push_back(bytes);
  }
  return all;
}

JpegWork jpeg_work(const CudaJpeg::Item& item, const DecodeOptions& options, JpegTablePool& tables) {
  const jpeg::Header& h = *item.header;
  JpegWork work;
  JpegPicture& p = work.picture;
  const int64_t mcus = int64_t(h.mcus_per_row()) * h.mcu_rows();
  if (!h.progressive) set_scan(item, work);
  const Orientation orientation(item.orientation);
  const Window stored = orientation.to_stored(item.window, h.width, h.height);
  p.width = int32_t(item.window.width()), p.height = int32_t(item.window.height());
  const ImageType type = options.type;
  p.channels = type == ImageType::gray || (type == ImageType::any && h.components == 1) ? 1 : 3;
  p.x = int32_t(stored.x0), p.y = int32_t(stored.y0);
  p.stored_width = int32_t(stored.width()), p.stored_height = int32_t(stored.height());
  p.swap = orientation.swap, p.flip_x = orientation.flip_x, p.flip_y = orientation.flip_y;
  p.ycc = h.ycc, p.bgr = type == ImageType::bgr, p.studio = type == ImageType::ycbcr;
  if (item.planes) {
    work.planes = static_cast<uint8_t*>(item.to);
  } else if (options.dtype == DType::u8) {
    p.out = static_cast<uint8_t*>(item.to);
  } else {
    p.converted = item.to;
    p.to_ycbcr = p.studio, p.studio = false;
    work.pixels = int64_t(p.width) * p.height * p.channels;
  }

  p.components = h.components;
  p.mcus_across = h.mcus_per_row();
  const bool luma_only = p.channels == 1 && h.ycc;
  for (int i = 0; i < h.components; i++)
    set_component(h, i, stored, i == 0 || !luma_only, options.fancy_upsampling, work);
  set_blocks(h, p);
  if (h.progressive) add_scans(item, work);
  else set_tables(h, tables, work);
  p.blocks = uint32_t(mcus * p.blocks_in_mcu);
  p.needed = uint32_t(p.mcu_row + p.mcu_rows) * uint32_t(p.mcus_across * p.blocks_in_mcu);
  p.segment_blocks = uint32_t((h.restart_interval ? h.restart_interval : mcus) * p.blocks_in_mcu);
  work.direct = p.blocks_in_mcu == p.components && !item.planes;
  if (work.direct) std::fill(std::begin(work.plane), std::end(work.plane), 0);
  set_spans(work);
  return work;
}

}  // namespace ps::gpu
