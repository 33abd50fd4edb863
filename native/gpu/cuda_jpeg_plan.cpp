#include "gpu/cuda_jpeg_plan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "decode/jpeg/plane.h"
#include "decode/jpeg/zigzag.h"

namespace ps::gpu {
namespace {

using device::JpegPicture;

constexpr int64_t kLargestFile = int64_t(1) << 28;        // positions of bits are numbers of 32 bits
constexpr int64_t kLargestPicture = int64_t(4) << 30;     // bytes of coefficients
constexpr int64_t kReadBehind = 64;                       // bytes that decoders may look at

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t blocks_of(const jpeg::Header& h) {
  int64_t in_mcu = 0;
  for (int i = 0; i < h.components; i++) in_mcu += h.component[i].h * h.component[i].v;
  return in_mcu * h.mcus_per_row() * h.mcu_rows();
}

std::string key_of(const jpeg::HuffmanSpec& spec, bool is_dc) {
  std::string key(1, char(is_dc));
  key.append(reinterpret_cast<const char*>(spec.counts), sizeof spec.counts);
  return key.append(reinterpret_cast<const char*>(spec.symbols), size_t(spec.size));
}

// Component `number`: what the window needs of it, as jpeg::Plane finds it for the CPU.
void plan_component(const jpeg::Header& h, int number, const Window& stored, bool wanted, bool fancy, JpegPlan& plan) {
  const jpeg::Component& from = h.component[number];
  device::JpegComponent& c = plan.picture.component[number];
  const int fx = h.h_max / from.h, fy = h.v_max / from.v;
  c.width = from.width, c.height = from.height;
  c.h = from.h, c.v = from.v, c.blocks = from.h * from.v;
  c.shift_x = std::countr_zero(unsigned(fx)), c.shift_y = std::countr_zero(unsigned(fy));
  const bool by2 = fx <= 2 && fy <= 2, wide = from.width > 2;
  c.filter_x = fancy && by2 && fx == 2 && wide;
  c.filter_y = fancy && by2 && fy == 2 && (fx == 1 || wide);
  for (int k = 0; k < 64; k++) c.quant[k % 8 * 8 + k / 8] = h.quant[from.quant][k];
  plan.dc[number] = int64_t(sizeof(int16_t)) * c.blocks * h.mcus_per_row() * h.mcu_rows();
  c.first_tile = INT32_MAX;
  if (!wanted) return;
  jpeg::Plane plane;
  plane.start(h, number, stored, true, fancy);
  c.column = plane.block_columns.begin, c.columns = plane.block_columns.end - plane.block_columns.begin;
  c.row = plane.block_rows.begin, c.rows = plane.block_rows.end - plane.block_rows.begin;
  c.first_tile = plan.tiles;
  plan.tiles += int(ceil_div(int64_t(c.columns) * c.rows, device::kJpegTileBlocks));
  plan.plane[number] = int64_t(c.columns) * c.rows * 64;
  JpegPicture& p = plan.picture;
  const int right = std::max(p.mcu_column + p.mcu_columns, plane.mcu_columns.end);
  const int bottom = std::max(p.mcu_row + p.mcu_rows, plane.mcu_rows.end);
  p.mcu_column = number ? std::min(p.mcu_column, plane.mcu_columns.begin) : plane.mcu_columns.begin;
  p.mcu_row = number ? std::min(p.mcu_row, plane.mcu_rows.begin) : plane.mcu_rows.begin;
  p.mcu_columns = right - p.mcu_column;
  p.mcu_rows = bottom - p.mcu_row;
}

// The blocks of an MCU, and the tables that decode them.
void plan_blocks(const jpeg::Header& h, JpegTablePool& pool, JpegPlan& plan) {
  JpegPicture& p = plan.picture;
  const auto table = [&](const jpeg::HuffmanSpec& spec, bool is_dc) {
    const int number = pool.number(spec, is_dc);
    const auto found = std::find(plan.tables.begin(), plan.tables.end(), number);
    const auto at = uint8_t(found - plan.tables.begin());
    if (found == plan.tables.end()) plan.tables.push_back(number);
    return at;
  };
  for (int i = 0; i < h.components; i++) {
    const jpeg::Component& c = h.component[i];
    const uint8_t dc = table(h.dc[c.dc], true), ac = table(h.ac[c.ac], false);
    for (int k = 0; k < c.h * c.v; k++) {
      const int b = p.blocks_in_mcu++;
      p.dc_table[b] = dc, p.ac_table[b] = ac;
      p.component_of[b] = uint8_t(i), p.rank[b] = uint8_t(k);
      p.slot[b] = int8_t(p.component[i].columns ? p.kept_in_mcu++ : -1);
    }
  }
  for (size_t k = 0; k < 64; k++) p.place[k] = uint8_t(jpeg::kZigzag[k] % 8 * 8 + jpeg::kZigzag[k] / 8);
}

}  // namespace

int JpegTablePool::number(const jpeg::HuffmanSpec& spec, bool is_dc) {
  const auto [entry, is_new] = known_.try_emplace(key_of(spec, is_dc), int(codes_.size()));
  if (is_new) {
    device::JpegCodes& c = codes_.emplace_back();
    std::memcpy(c.counts, spec.counts, sizeof c.counts);
    std::memcpy(c.symbols, spec.symbols, sizeof c.symbols);
    c.is_dc = is_dc;
  }
  return entry->second;
}

int64_t JpegPlan::bytes() const {
  int64_t sum = coefficients + 2 * data;
  for (int i = 0; i < 3; i++) sum += dc[i] + plane[i];
  return sum;
}

int JpegPlan::sequences() const { return int(ceil_div(picture.parts, device::kJpegParts)); }

bool CudaJpeg::takes(const jpeg::Header& h, size_t size) {
  if (!h.supported || h.scan >= size || int64_t(size) > kLargestFile) return false;
  if (blocks_of(h) * 128 > kLargestPicture) return false;
  std::set<std::string> tables;
  for (int i = 0; i < h.components; i++) {
    const jpeg::Component& c = h.component[i];
    if (!std::has_single_bit(unsigned(h.h_max / c.h)) || !std::has_single_bit(unsigned(h.v_max / c.v))) return false;
    tables.insert(key_of(h.dc[c.dc], true));
    tables.insert(key_of(h.ac[c.ac], false));
  }
  return tables.size() <= device::kJpegTables;
}

JpegPlan plan_jpeg(const CudaJpeg::Item& item, const DecodeOptions& options, JpegTablePool& tables) {
  const jpeg::Header& h = *item.header;
  JpegPlan plan;
  JpegPicture& p = plan.picture;
  p.scan = uint32_t(h.scan), p.end = uint32_t(item.size);
  p.first_piece = p.scan / device::kJpegPieceBytes;
  p.pieces = uint32_t(ceil_div(p.end, device::kJpegPieceBytes)) - p.first_piece;
  const int64_t mcus = int64_t(h.mcus_per_row()) * h.mcu_rows(), scan = int64_t(item.size - h.scan);
  const int64_t interval = h.restart_interval ? h.restart_interval : mcus;
  p.segments = uint32_t(ceil_div(mcus, interval));
  p.has_restarts = h.restart_interval != 0;
  p.parts = uint32_t(ceil_div(scan * 8, device::kJpegPartBits));
  plan.data = scan + kReadBehind;

  const Orientation orientation(item.orientation);
  const Window stored = orientation.to_stored(item.window, h.width, h.height);
  p.out = item.to;
  p.width = int32_t(item.window.width()), p.height = int32_t(item.window.height());
  const ImageType type = options.type;
  p.channels = type == ImageType::gray || (type == ImageType::any && h.components == 1) ? 1 : 3;
  p.x = int32_t(stored.x0), p.y = int32_t(stored.y0);
  p.stored_width = int32_t(stored.width()), p.stored_height = int32_t(stored.height());
  p.swap = orientation.swap, p.flip_x = orientation.flip_x, p.flip_y = orientation.flip_y;
  p.ycc = h.ycc, p.bgr = type == ImageType::bgr, p.studio = type == ImageType::ycbcr;

  p.components = h.components;
  p.mcus_across = h.mcus_per_row();
  const bool luma_only = p.channels == 1 && h.ycc;
  for (int i = 0; i < h.components; i++)
    plan_component(h, i, stored, i == 0 || !luma_only, options.fancy_upsampling, plan);
  plan_blocks(h, tables, plan);
  p.blocks = uint32_t(mcus * p.blocks_in_mcu);
  p.segment_blocks = uint32_t(interval * p.blocks_in_mcu);
  plan.coefficients = int64_t(p.mcu_columns) * p.mcu_rows * p.kept_in_mcu * 128;
  return plan;
}

}  // namespace ps::gpu
