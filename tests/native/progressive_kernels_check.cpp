// Runs the kernel that decodes the scans of progressive JPEG files (penstock/device/jpeg/progressive/) on the host, by
// one thread or by several of which each decodes a scan, and compares pixels with libjpeg's: of files with any script
// of scans that the standard allows, as a whole and in windows. Mutated files must give what the CPU's decoder gives,
// or be refused.
//
//   progressive_kernels_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all is well
#define PS_SOFTWARE_GPU
#define PS_SOFTWARE_THREADS
#include "jpeg_kernels.h"
#include "device/jpeg/direct.h"
#include "device/jpeg/pixels.h"
#include "device/jpeg/progressive/scans.h"
#include "device/jpeg/transform.h"

#include "cuda/decode/jpeg/scans.h"
#include "decode/jpeg/progressive.h"
#include "jpeg_scripts.h"

namespace {

int refused_mutations = 0, needlessly_refused = 0, taken_mutations = 0;

// The scans of a file, and memory for their list.
struct Listed {
  jpeg::Header header;
  jpeg::ScanList scans;
  std::vector<std::unique_ptr<uint64_t[]>> memory;

  bool list(const Bytes& file) {
    const auto take = [&](size_t bytes) -> void* {
      memory.push_back(std::make_unique<uint64_t[]>((bytes + 7) / 8));
      return memory.back().get();
    };
    return jpeg::parse(file.data(), file.size(), header) && gpu::CudaJpeg::takes(header, file.size()) &&
           jpeg::list_scans(file.data(), file.size(), header, take, scans) && gpu::CudaJpeg::takes(header, scans);
  }
};

class Run : public Blocks {
 public:
  Run(const Bytes& file, const gpu::CudaJpeg::Item& item, const DecodeOptions& options, int threads)
      : Blocks(threads), work(gpu::jpeg_work(item, options, pool)), p(work.picture) {
    uint8_t* copy = nullptr;
    give(copy, (int64_t(file.size()) + 15) / 16 * 16);
    std::copy(file.begin(), file.end(), copy);
    p.file = copy;
    give(p.status, 1);
    device::JpegScan* scans = nullptr;
    give(scans, p.scan_count);
    for (size_t i = 0; i < work.scans.size(); i++) scans[i] = with_memory(work.scans[i]);
    p.scans = scans;
    for (int k = 0; k < p.components; k++)
      give(p.component[k].dc, work.dc[k] / 2), give(p.component[k].plane, work.plane[k]);
    give(p.out, int64_t(p.width) * p.height * p.channels);
  }

  void decode() { run(device::jpeg_scans, 1); }
  void make_pixels() {
    run(device::jpeg_transform, work.transform_blocks());
    run(device::jpeg_direct, work.direct_blocks());
    run(device::jpeg_pixels, work.pixel_blocks());
  }

  gpu::JpegTablePool pool;
  gpu::JpegWork work;
  JpegPicture& p;

 private:
  void run(void (*kernel)(const device::Launch&), int blocks) {
    const device::JpegJob job{&p, 0};
    Blocks::run(kernel, blocks, &job);
  }

  device::JpegScan with_memory(const gpu::JpegScanWork& w) {
    device::JpegScan s = w.scan;
    device::JpegSegment* segments = nullptr;
    give(segments, w.from->segment_count);
    for (int i = 0; i < w.from->segment_count; i++) segments[i] = {w.from->segments[i].begin, w.from->segments[i].end};
    s.segment = segments;
    for (int i = 0; i < s.components && (s.first > 0 || !s.later); i++) {
      device::JpegCodes* codes = nullptr;
      give(codes, 1);
      std::copy(std::begin(w.from->tables[i].counts), std::end(w.from->tables[i].counts), codes->counts);
      std::copy(std::begin(w.from->tables[i].symbols), std::end(w.from->tables[i].symbols), codes->symbols);
      s.codes[i] = codes;
    }
    if (s.first == 0) return s;
    const device::JpegComponent& c = p.component[s.component[0]];
    const int64_t blocks = int64_t(c.across) * c.down;
    give(s.nonzero, blocks), give(s.value, blocks), give(s.negative, blocks);
    int16_t*& values = values_[s.component[0]];
    if (!values) give(values, blocks * 64);
    s.first_values = values;
    return s;
  }

  int16_t* values_[3] = {};
};

bool is_sound(const device::JpegStatus& s) { return s.complete && !s.broken && !s.extreme; }

void check_file(const Bytes& file, const std::string& name, int windows) {
  Listed listed;
  if (!expect(listed.list(file), "list of scans", name)) return;
  for (int i = 0; i <= windows; i++) {
    Case c = random_case(file, listed.header, i);
    c.item.scans = &listed.scans;
    Run run(file, c.item, c.options, uniform(0, 2) ? 1 : uniform(2, device::kJpegScanWarps));
    run.decode();
    if (!expect(is_sound(*run.p.status), "status", name + ", window " + std::to_string(i))) return;
    run.make_pixels();
    if (c.item.planes) run.work.planes = nullptr;
    const Picture full = reference(file, run.p.channels == 1 ? JCS_GRAYSCALE : JCS_RGB, c.options.fancy_upsampling);
    expect(check_pixels(full, c.item.orientation, c.item.window, c.options.type == ImageType::bgr, run.p), "pixels",
           name + ", window " + std::to_string(i));
  }
}

void check_mutation(jpeg::ProgressiveDecoder& decoder, const Bytes& file, const std::string& name) {
  Listed listed;
  if (!listed.list(file)) return;
  Case c = random_case(file, listed.header, 0);
  c.options.type = ImageType::rgb, c.item.planes = false;
  c.item.scans = &listed.scans;
  if (uniform(0, 1)) c.item.window = random_window(listed.header.width, listed.header.height);
  Run run(file, c.item, c.options, uniform(0, 3) ? 1 : 3);
  run.decode();
  Rows rows;
  rows.bytes = size_t(c.item.window.width()) * 3;
  const auto status = decoder.decode(file.data(), file.size(), listed.header, c.item.window, jpeg::Color::RGB,
                                     c.options.fancy_upsampling, rows);
  if (!is_sound(*run.p.status)) {
    refused_mutations++;
    needlessly_refused += status == jpeg::Status::ok;
    return;
  }
  taken_mutations++;
  run.make_pixels();
  expect(status == jpeg::Status::ok && std::memcmp(rows.pixels.data(), run.p.out, rows.pixels.size()) == 0,
         "pixels after mutation", name);
}

}  // namespace

int main(int argc, char** argv) {
  const auto [paths, cases] = Arguments(argc, argv, 300);
  std::vector<Picture> photographs;
  for (const std::string& path : paths) photographs.push_back(reference(read_file(path), JCS_RGB, true));
  jpeg::ProgressiveDecoder decoder;
  for (int i = 0; i < cases; i++) {
    const Picture part = excerpt(photographs[size_t(uniform(0, int(photographs.size()) - 1))]);
    const Encoding e = random_progressive(part);
    char name[128];
    std::snprintf(name, sizeof name, "case %d (%dx%d, quality %d, %dx%d over %dx%d, restart %d, %zu scans)", i,
                  part.width, part.height, e.quality, e.h, e.v, e.chroma_h, e.chroma_v, e.restart, e.scans.size());
    const Bytes file = encode(part, e);
    if (e.scans.size() <= size_t(jpeg::kMostScans)) check_file(file, name, 3);
    for (int k = 0; k < 10; k++) check_mutation(decoder, mutated(file, 2), name);
  }
  std::printf("%d cases; of mutated files %d were refused (%d of them needlessly), %d decoded; %d failures\n", cases,
              refused_mutations, needlessly_refused, taken_mutations, failures);
  return failures != 0;
}
