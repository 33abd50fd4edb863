// Runs the kernels that decode JPEG (penstock/device/jpeg/) on the host, a block by one thread or by several
// at a time, and checks what each of them makes against a plain reference: bytes without stuffing, coefficients, DC
// values, planes; pixels against libjpeg, and fused kernels that read planes against those that read pixels. Mutated
// files must give what the CPU's decoder gives, or be refused; so must those with an index that is not theirs.
//
//   jpeg_kernels_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all is well
#define PS_SOFTWARE_GPU
#define PS_SOFTWARE_THREADS
#include "jpeg_kernels.h"
#include "device/jpeg/coefficients.h"
#include "device/jpeg/convert.h"
#include "device/jpeg/dc.h"
#include "device/jpeg/direct.h"
#include "device/jpeg/index.h"
#include "device/jpeg/pixels.h"
#include "device/jpeg/synchronize.h"
#include "device/jpeg/transform.h"
#include "device/jpeg/unstuff.h"

#include "decode/jpeg/decoder.h"
#include "decode/jpeg/entropy.h"
#include "decode/jpeg/idct.h"
#include "decode/jpeg/segments.h"
#include "jpeg_fused_check.h"

namespace {

int unresolved_files = 0, refused_mutations = 0, needlessly_refused = 0, taken_mutations = 0;
int lies_refused = 0, lies_taken = 0;

// One picture on its way through the kernels.
class Run : public Blocks {
 public:
  Run(const Bytes& file, const gpu::CudaJpeg::Item& item, const DecodeOptions& options, int threads)
      : Blocks(threads), work(gpu::jpeg_work(item, options, pool)), p(work.picture) {
    if (const jpeg::ScanIndex* index = gpu::index_of(item)) {
      uint32_t* words = nullptr;
      give(words, index->subsequence_count);
      std::memcpy(words, index->subsequences, index->subsequence_count * sizeof *words);
      p.index = words;
    } else {
      work.divide(uint32_t(uniform(0, 3) ? uniform(1, 8) : 8) * 128, uint32_t(uniform(1, 4)),
                  uint32_t(uniform(0, 4) * uniform(0, 1000)));
    }
    uint8_t* copy = nullptr;
    give(copy, (int64_t(file.size()) + 15) / 16 * 16);
    std::copy(file.begin(), file.end(), copy);
    p.file = copy;
    give(p.data, work.data), give(p.piece, p.pieces), give(p.segment, p.segments + 1);
    give(p.entry, p.subsequences), give(p.exit, p.subsequences), give(p.overflow, p.subsequences);
    give(p.sum, p.subsequences), give(p.status, 1);
    give(p.overflow_states, int64_t(p.subsequences) * device::kJpegOverflow);
    give(p.sparse, work.sparse_vectors()), give(p.sparse_length, p.subsequences), give(p.spans, work.spans());
    for (int k = 0; k < p.components; k++)
      give(p.component[k].differences, work.dc[k] / 2), give(p.component[k].dc, work.dc[k] / 2),
          give(p.component[k].plane, work.plane[k]);
    const int shift = uniform(0, 15);            // pictures begin anywhere
    give(p.out, int64_t(p.width) * p.height * p.channels + shift);
    p.out += shift;
    device::JpegTableJob tables{pool.codes().data(), nullptr};
    give(tables.tables, int64_t(pool.codes().size()));
    for (int k = 0; k < work.table_count; k++) p.table[k] = tables.tables + work.tables[k];
    run(device::jpeg_tables, int(pool.codes().size()), &tables);
  }

  void unstuff() {
    run(device::jpeg_count, int(p.pieces));
    run(device::jpeg_unstuff, int(p.pieces));
  }
  void decode() {
    run(device::jpeg_synchronize, work.group_blocks());
    run(device::jpeg_join, work.boundary_blocks());
    run(device::jpeg_resolve, work.resolve_blocks());
    run(device::jpeg_seed, work.seed_blocks());
    unresolved_files += p.status->unresolved != 0;
    run(device::jpeg_coefficients, work.subsequence_blocks());
  }
  void finish_dc() { run(device::jpeg_dc, work.sum_blocks()); }
  void transform() { run(device::jpeg_transform, work.transform_blocks()); }
  void make_pixels() {
    run(device::jpeg_direct, work.direct_blocks());
    run(device::jpeg_pixels, work.pixel_blocks());
  }
  // Full scale is 65535.
  bool converts() {
    const int64_t values = int64_t(p.width) * p.height * p.channels;
    uint16_t* words = nullptr;
    give(words, values);
    p.converted = words;
    run(device::jpeg_convert<uint16_t>, int((values + device::kJpegConverted - 1) / device::kJpegConverted));
    for (int64_t i = 0; i < values; i++)
      if (words[i] != p.out[i] * 257) return false;
    return true;
  }

  // Whether the last block leaves what is behind so many bytes of shared memory as it was.
  bool run_fused(void (*kernel)(const device::Launch&), int blocks, const void* job, int64_t bytes) {
    run(kernel, blocks, job);
    return std::all_of(shared_ + bytes, shared_ + kShared, [](unsigned char byte) { return byte == 0xA5; });
  }

  gpu::JpegTablePool pool;
  gpu::JpegWork work;
  JpegPicture& p;

 private:
  void run(void (*kernel)(const device::Launch&), int blocks, const void* job = nullptr) {
    const device::JpegJob own{&p, 0};
    Blocks::run(kernel, blocks, job ? job : &own);
  }
};

bool check_bytes(const Bytes& file, const jpeg::Header& h, const JpegPicture& p) {
  jpeg::Segments segments;
  segments.start(file.data() + h.scan, file.size() - h.scan);
  for (uint32_t s = 0; s < p.segments; s++) {
    if (!segments.open(s)) return false;
    const uint32_t begin = p.segment[s] / 8;
    if (p.segment[s + 1] / 8 - begin != uint32_t(segments.end() - segments.begin())) return false;
    for (uint32_t i = 0; begin + i < p.segment[s + 1] / 8; i++)
      if (p.data[(begin + i) ^ 3] != segments.begin()[i]) return false;
  }
  return true;
}

// Coefficients by the CPU's decoder of blocks, column by column; in the scan's order. DC values are sums.
std::vector<std::array<int16_t, 64>> decode_blocks(const Bytes& file, const jpeg::Header& h, const JpegPicture& p) {
  std::vector<std::array<int16_t, 64>> blocks(p.blocks);
  std::vector<std::unique_ptr<jpeg::DcTable>> dc;
  std::vector<std::unique_ptr<jpeg::AcTable>> ac;
  for (int i = 0; i < h.components; i++) {
    dc.push_back(std::make_unique<jpeg::DcTable>(h.dc[h.component[i].dc]));
    ac.push_back(std::make_unique<jpeg::AcTable>(h.ac[h.component[i].ac]));
  }
  uint16_t place[64];
  for (int k = 0; k < 64; k++) place[k] = uint16_t(jpeg::kZigzag[size_t(k)] % 8 * 8 + jpeg::kZigzag[size_t(k)] / 8);
  jpeg::Segments segments;
  jpeg::Bits bits;
  segments.start(file.data() + h.scan, file.size() - h.scan);
  uint32_t predictions[3] = {};
  for (uint32_t b = 0; b < p.blocks; b++) {
    if (b % p.segment_blocks == 0) {
      segments.open(b / p.segment_blocks);
      bits.start(segments.begin());
      std::fill(std::begin(predictions), std::end(predictions), 0u);
    }
    const size_t c = p.component_of[b % uint32_t(p.blocks_in_mcu)];
    blocks[b].fill(0);
    jpeg::decode_block(bits, *dc[c], *ac[c], predictions[c], place, blocks[b].data());
  }
  return blocks;
}

// The sparse coefficients are all that there are.
bool check_coefficients(const std::vector<std::array<int16_t, 64>>& blocks, const JpegPicture& p) {
  std::vector<std::array<int16_t, 64>> found(p.needed);
  const uint32_t all = device::count_subsequences(p, device::jpeg_bits(p));
  for (uint32_t s = 0, before = 0; s < all && before < p.needed; before = p.sum[s++])
    for (uint32_t i = 0; i < p.sparse_length[s]; i++) {
      uint16_t halves[8];
      std::memcpy(halves, device::sparse_of(p, s)[i * device::kJpegSparseColumns].words, sizeof halves);
      uint32_t block = before + (halves[0] >> 7), index = halves[0] & 127;
      for (int k = 1; k < 8; k++) {
        const int value = halves[k] & 0x7FF;
        index += halves[k] >> 11 & 15;
        if (value) {
          if (block >= p.needed || index > 63) return false;
          found[block][p.place[index]] = int16_t(value < 1024 ? value : value - 2048);
        }
        index++;
        if (halves[k] >> 15) block++, index = 0;
      }
    }
  for (uint32_t b = 0; b < p.needed; b++)
    if (std::memcmp(&found[b][1], &blocks[b][1], 126) != 0) return false;
  return true;
}

bool check_dc(const std::vector<std::array<int16_t, 64>>& blocks, const JpegPicture& p) {
  for (uint32_t b = 0; b < p.needed; b++) {
    const uint32_t in_mcu = b % uint32_t(p.blocks_in_mcu), mcu = b / uint32_t(p.blocks_in_mcu);
    const device::JpegComponent& c = p.component[p.component_of[in_mcu]];
    if (c.columns && c.dc[mcu * uint32_t(c.blocks) + p.rank[in_mcu]] != blocks[b][0]) return false;
  }
  return true;
}

bool check_planes(const std::vector<std::array<int16_t, 64>>& blocks, const jpeg::Header& h, const JpegPicture& p) {
  for (uint32_t b = 0; b < p.blocks; b++) {
    const int in_mcu = int(b % uint32_t(p.blocks_in_mcu)), mcu = int(b / uint32_t(p.blocks_in_mcu));
    const device::JpegComponent& c = p.component[p.component_of[in_mcu]];
    const int x = mcu % p.mcus_across * c.h + p.rank[in_mcu] % c.h - c.column;
    const int y = mcu / p.mcus_across * c.v + p.rank[in_mcu] / c.h - c.row;
    if (x < 0 || y < 0 || x >= c.columns || y >= c.rows) continue;
    int16_t group[jpeg::kGroupCoefficients] = {};
    uint8_t samples[8][8 * jpeg::kGroup];
    for (int k = 0; k < 64; k++) group[k % 8 * 8 * jpeg::kGroup + k / 8] = blocks[b][size_t(k)];
    jpeg::idct(group, h.quant[h.component[p.component_of[in_mcu]].quant], 63, samples[0], sizeof samples[0]);
    for (int r = 0; r < 8; r++)
      if (std::memcmp(samples[r], c.plane + (y * 8 + r) * c.columns * 8 + x * 8, 8) != 0) return false;
  }
  return true;
}

// The index has the states that the kernels find.
bool check_subsequences(const jpeg::ScanIndex& index, const JpegPicture& p) {
  const uint32_t bits = device::jpeg_bits(p);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < index.subsequence_count; i++) {
    const jpeg::IndexSubsequence& own = index.subsequences[i];
    const device::JpegState s = p.exit[i];
    const uint32_t end = std::min((i + 1) * jpeg::IndexSubsequence::kBits, bits);
    if (s.bit != end + own.behind() || s.block() != own.block() || s.blocks() != own.blocks()) return false;
    if (p.sum[i] != (sum += own.blocks())) return false;
  }
  return bits == index.bits && index.subsequence_count == device::count_subsequences(p, bits);
}

// Some of an index changed: the picture is the same, or refused.
void check_lies(const Bytes& file, const jpeg::Header& h, jpeg::OwnScanIndex index, const std::string& name) {
  for (int changes = uniform(1, 2); changes-- > 0;) {
    uint32_t& word = index.subsequences[size_t(uniform(0, int(index.subsequences.size()) - 1))].value;
    switch (uniform(0, 4)) {
      case 0: word = uint32_t(uniform(0, 65535)) << 16 | uint32_t(uniform(0, 65535)); break;
      case 1: word ^= 1u << uniform(0, 31); break;
      case 2: std::swap(word, index.subsequences[0].value); break;
      case 3: index.bits += uint32_t(uniform(-8, 8)); break;
      default: word += 0x10000;
    }
  }
  Case c = random_case(file, h, 0);
  c.options.type = ImageType::any, c.options.fancy_upsampling = true;
  const jpeg::ScanIndex view = index.view();
  c.item.index = &view;
  Run run(file, c.item, c.options, uniform(0, 3) ? 1 : 3);
  run.unstuff(), run.decode(), run.finish_dc();
  const device::JpegStatus s = *run.p.status;
  if (!s.complete || s.broken || s.extreme) {
    lies_refused++;
    return;
  }
  lies_taken++;
  run.transform(), run.make_pixels();
  const Picture full = reference(file, run.p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB, true);
  expect(check_pixels(full, 1, c.item.window, false, run.p), "pixels with a wrong index", name);
}

void check_file(const Bytes& file, const std::string& name, int windows) {
  jpeg::Header h;
  if (!expect(jpeg::parse(file.data(), file.size(), h) && gpu::CudaJpeg::takes(h, file.size()), "header", name)) return;
  jpeg::OwnScanIndex index;
  if (!expect(jpeg::index_scan(file.data(), file.size(), h, index), "index", name)) return;
  const jpeg::ScanIndex view = index.view();
  check_lies(file, h, index, name);
  for (int i = 0; i <= windows; i++) {
    Case c = random_case(file, h, i);
    if (i % 2 == 1 || (windows && uniform(0, 2) == 0)) c.item.index = &view;
    Run run(file, c.item, c.options, uniform(0, 2) ? 1 : uniform(2, 5));
    run.unstuff();
    if (!expect(check_bytes(file, h, run.p), "bytes", name)) return;
    run.decode();
    if (run.p.subsequence_bits == jpeg::IndexSubsequence::kBits)
      expect(check_subsequences(view, run.p), "states", name);
    if (!expect(run.p.status->complete && !run.p.status->broken, "status", name)) return;
    const auto blocks = decode_blocks(file, h, run.p);
    expect(check_coefficients(blocks, run.p), "coefficients", name);
    run.finish_dc();
    expect(check_dc(blocks, run.p), "DC values", name);
    if (!expect(!run.p.status->extreme, "range", name)) return;
    run.transform();
    if (!run.work.direct) expect(check_planes(blocks, h, run.p), "planes", name);
    run.make_pixels();
    const Picture full = reference(file, run.p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB, c.options.fancy_upsampling);
    expect(check_pixels(full, c.item.orientation, c.item.window, c.options.type == ImageType::bgr, run.p),
           "pixels", name + ", window " + std::to_string(i));
    expect(run.converts(), "conversion", name);
    if (!run.work.direct) expect(check_fused(run), "fused kernels", name + ", window " + std::to_string(i));
  }
}

// Some bytes of the scan changed, left out, put in or cut off. The index may be what it was before.
void check_mutation(jpeg::Decoder& decoder, Bytes file, size_t scan, const jpeg::ScanIndex& index,
                    const std::string& name) {
  file = mutated(std::move(file), scan);
  jpeg::Header h;
  if (!jpeg::parse(file.data(), file.size(), h) || !gpu::CudaJpeg::takes(h, file.size())) return;
  Case c = random_case(file, h, 0);
  c.options.type = ImageType::rgb;
  if (uniform(0, 1)) c.item.index = &index;
  if (uniform(0, 1)) c.item.window = random_window(h.width, h.height);
  Run run(file, c.item, c.options, uniform(0, 3) ? 1 : 3);
  run.unstuff(), run.decode(), run.finish_dc();
  const device::JpegStatus s = *run.p.status;
  Rows rows;
  rows.bytes = size_t(c.item.window.width()) * 3;
  const auto status = decoder.decode(file.data(), file.size(), h, c.item.window, jpeg::Color::RGB,
                                     c.options.fancy_upsampling, rows);
  if (!s.complete || s.broken || s.extreme) {
    refused_mutations++;
    needlessly_refused += status == jpeg::Status::ok;
    return;
  }
  taken_mutations++;
  run.transform(), run.make_pixels();
  expect(status == jpeg::Status::ok && std::memcmp(rows.pixels.data(), run.p.out, rows.pixels.size()) == 0,
         "pixels after mutation", name);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Picture> photographs;
  int cases = 400;
  for (int i = 1; i < argc; i++) {
    if (!std::strcmp(argv[i], "--cases") && i + 1 < argc) cases = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc) random_bits.seed(unsigned(std::atoi(argv[++i])));
    else if (photographs.size() < 4) {
      const Bytes file = read_file(argv[i]);
      check_file(file, argv[i], 1);
      photographs.push_back(reference(file, JCS_RGB, true));
    }
  }
  if (photographs.empty()) return std::fprintf(stderr, "usage: jpeg_kernels_check PICTURE.jpg...\n"), 2;
  // Of one colour and with tables to match, all bits are zeros: a decoder that begins in the wrong block of an MCU
  // never synchronizes.
  for (const int restart : {0, 1, 1000}) {
    Picture blank{3000, 2500, 3, Bytes(3000 * 3 * 2500, 200)};
    Encoding e;
    e.optimised = true, e.restart = restart;
    check_file(encode(blank, e), "a blank picture", 1);
    for (size_t k = 0; k < 600; k++) blank.pixels[blank.pixels.size() / 2 + k] = uint8_t(k);
    check_file(encode(blank, e), "a picture that is nearly blank", 0);
  }
  expect(unresolved_files > 0, "subsequences that do not synchronize", "blank pictures");
  {                                                // more subsequences than one block of threads seeds
    Picture grain{900, 700, 3, Bytes(900 * 3 * 700)};
    for (uint8_t& v : grain.pixels) v = uint8_t(uniform(0, 255));
    Encoding e;
    e.quality = 95;
    const Bytes file = encode(grain, e);
    expect(file.size() * 8 > 2 * device::kJpegSeeded * jpeg::IndexSubsequence::kBits, "size", "grain");
    check_file(file, "grain", 1);
  }
  jpeg::Decoder decoder;
  for (int i = 0; i < cases; i++) {
    const Picture part = excerpt(photographs[size_t(uniform(0, int(photographs.size()) - 1))]);
    const Sampling s = kSamplings[uniform(0, 5) ? uniform(0, 4) : uniform(0, int(std::size(kSamplings)) - 1)];
    Encoding e;
    e.quality = uniform(5, 100), e.restart = uniform(0, 2) ? 0 : uniform(1, 20), e.optimised = uniform(0, 1) == 1;
    e.h = s.h, e.v = s.v, e.chroma_h = s.chroma_h, e.chroma_v = s.chroma_v;
    e.rgb = part.channels == 3 && uniform(0, 9) == 0;
    char name[128];
    std::snprintf(name, sizeof name, "case %d (%dx%d, quality %d, %dx%d over %dx%d, restart %d%s%s)", i, part.width,
                  part.height, e.quality, e.h, e.v, e.chroma_h, e.chroma_v, e.restart,
                  e.optimised ? ", optimised" : "", e.rgb ? ", RGB" : "");
    const Bytes file = encode(part, e);
    check_file(file, name, 2);
    jpeg::Header h;
    jpeg::parse(file.data(), file.size(), h);
    jpeg::OwnScanIndex index;
    jpeg::index_scan(file.data(), file.size(), h, index);
    for (int k = 0; k < 4; k++) check_mutation(decoder, file, h.scan, index.view(), name);
  }
  std::printf("%d cases; of mutated files %d were refused (%d of them needlessly), %d decoded; with a wrong index %d "
              "refused, %d decoded; %d failures\n",
              cases, refused_mutations, needlessly_refused, taken_mutations, lies_refused, lies_taken, failures);
  return failures != 0;
}
