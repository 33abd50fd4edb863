// Checks indexes of JPEG scans: that they say what a plain decoder finds, which reads the file bit by bit; that windows
// decoded with them are as without; that broken files do no harm, nor index files which are damaged or of other files.
//
//   jpeg_index_check PICTURE.jpg... [--cases N] [--seed N]     exit status 0: all is well
#include <unistd.h>

#include <cstring>
#include <map>

#include "core/error.h"
#include "decode/jpeg/decoder.h"
#include "decode/jpeg/index_file.h"
#include "decode/jpeg/index_writer.h"
#include "jpeg_files.h"

namespace {

using namespace ps::jpeg;

// A scan's bits without stuffing, where each comes from in the file, and the ends of segments.
struct Plain {
  Bytes bytes;
  std::vector<size_t> places, ends;

  Plain(const Bytes& file, size_t scan) {
    for (size_t i = scan; i < file.size(); i++) {
      if (file[i] == 0xFF && file[i + 1] != 0) {
        ends.push_back(bytes.size() * 8);
        if ((file[i + 1] & 0xF8) != 0xD0) break;
        i++;
        continue;
      }
      bytes.push_back(file[i]);
      places.push_back(i);
      i += file[i] == 0xFF;
    }
    places.push_back(file.size());
  }
  int bit(size_t at) const { return bytes[at / 8] >> (7 - at % 8) & 1; }
};

using Codes = std::map<std::pair<int, int>, int>;          // of length and code: the symbol

Codes codes_of(const HuffmanSpec& spec) {
  Codes codes;
  for (int length = 1, code = 0, i = 0; length <= 16; length++, code *= 2)
    for (int k = 0; k < spec.counts[length - 1]; k++) codes[{length, code++}] = spec.symbols[i++];
  return codes;
}

struct Reader {
  const Plain& from;
  size_t at = 0;
  int number(int bits) {
    int n = 0;
    for (int i = 0; i < bits; i++) n = n * 2 + from.bit(at++);
    return n;
  }
  int symbol(const Codes& codes) {
    for (int length = 1, code = 0; length <= 16; length++) {
      code = code * 2 + number(1);
      if (const auto found = codes.find({length, code}); found != codes.end()) return found->second;
    }
    std::printf("the reference finds no code\n"), std::exit(1);
  }
};

// What index_scan() should say.
OwnScanIndex plain_index(const Bytes& file, const Header& h) {
  const Plain plain(file, h.scan);
  OwnScanIndex index;
  index.bits = uint32_t(plain.bytes.size() * 8);
  struct Place { size_t bit; int block; };                 // between two blocks
  std::vector<Place> places;
  std::vector<int> blocks;                                 // by place, how many come before
  Reader read{plain};
  Codes dc[kMaxComponents], ac[kMaxComponents];
  std::vector<int> of_mcu;
  for (int i = 0; i < h.components; i++) {
    dc[i] = codes_of(h.dc[h.component[i].dc]), ac[i] = codes_of(h.ac[h.component[i].ac]);
    of_mcu.insert(of_mcu.end(), size_t(h.component[i].h * h.component[i].v), i);
  }
  int prediction[kMaxComponents] = {}, passed = 0;
  size_t segment = 0;
  for (int mcu = 0; mcu < h.mcus_per_row() * h.mcu_rows(); mcu++) {
    if (h.restart_interval && mcu && mcu % h.restart_interval == 0) {
      read.at = plain.ends[segment++];
      places.push_back({read.at, 0}), blocks.push_back(passed);
      std::fill(std::begin(prediction), std::end(prediction), 0);
    }
    if (mcu % h.mcus_per_row() == 0) {
      IndexRow row;
      row.byte = uint32_t(plain.places[read.at / 8]), row.bit = uint32_t(read.at);
      for (int i = 0; i < kMaxComponents; i++) row.dc[i] = int16_t(prediction[i]);
      index.rows.push_back(row);
    }
    for (size_t b = 0; b < of_mcu.size(); b++) {
      const int c = of_mcu[b], size = read.symbol(dc[c]), value = read.number(size);
      prediction[c] += size && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
      for (int k = 1; k < 64; k++) {
        const int symbol = read.symbol(ac[c]);
        if (symbol == 0) break;
        k += symbol >> 4;
        read.number(symbol & 15);
      }
      places.push_back({read.at, int((b + 1) % of_mcu.size())}), blocks.push_back(++passed);
    }
  }
  places.push_back({index.bits, 0}), blocks.push_back(passed);
  int before = 0;
  for (size_t i = 0, s = 0; s * IndexSubsequence::kBits < index.bits; s++) {
    const size_t end = std::min<size_t>((s + 1) * IndexSubsequence::kBits, index.bits);
    while (places[i].bit < end) i++;
    index.subsequences.push_back({uint32_t(places[i].bit - end) | uint32_t(places[i].block) << 12 |
                           uint32_t(blocks[i] - before) << 16});
    before = blocks[i];
  }
  return index;
}

template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

struct Rows : ps::RowSink {
  size_t bytes;
  Bytes all;
  explicit Rows(int64_t row) : bytes(size_t(row)) {}
  void* place(int64_t) override { return nullptr; }
  void push(int64_t, const void* row) override {
    const auto* from = static_cast<const uint8_t*>(row);
    all.insert(all.end(), from, from + bytes);
  }
};

struct Decoded {
  Status status;
  Bytes rows;
  bool operator==(const Decoded& o) const { return status == o.status && rows == o.rows; }
};

Decoded decode(const Bytes& file, const Header& h, const ps::Window& w, Color color, const ScanIndex* index) {
  static Decoder decoder;
  Rows rows(w.width() * channels(color));
  const Status status = decoder.decode(file.data(), file.size(), h, w, color, true, rows, index);
  return {status, rows.all};
}

Header header_of(const Bytes& file) {
  Header h;
  if (!parse(file.data(), file.size(), h) || !h.supported) std::printf("not supported\n"), std::exit(1);
  return h;
}

bool check_file(const Bytes& file, const std::string& name) {
  const auto fail = [&](const char* what) { return std::printf("%s: %s\n", name.c_str(), what), false; };
  const Header h = header_of(file);
  OwnScanIndex index;
  if (!index_scan(file.data(), file.size(), h, index)) return fail("is not indexed");
  const OwnScanIndex expected = plain_index(file, h);
  if (index.bits != expected.bits || !same(index.rows, expected.rows)) return fail("its rows are others");
  if (!same(index.subsequences, expected.subsequences)) return fail("its subsequences are others");

  const Bytes exact(file);             // of which a sanitizer sees the end
  ScanIndex view = index.view();
  for (int i = 0; i < 6; i++) {
    ps::Window w = random_window(h.width, h.height);
    if (i % 2) w.x1 = h.width;         // to the ends of rows
    const Color color = uniform(0, 2) ? Color::RGB : Color::GRAY;
    const Decoded plain = decode(exact, h, w, color, nullptr);
    if (plain.status != Status::ok || decode(exact, h, w, color, &view) != plain) return fail("windows differ");
  }
  // Of a file that differs in one byte, whatever that does to it, the index is ignored.
  for (int i = 0; i < 4; i++) {
    Bytes other(file);
    other[size_t(uniform(int(h.scan), int(file.size()) - 1))] ^= uint8_t(1 << uniform(0, 7));
    const ps::Window w = random_window(h.width, h.height);
    if (decode(other, h, w, Color::RGB, &view) != decode(other, h, w, Color::RGB, nullptr))
      return fail("another file's index is used");
  }
  // It is used: with darker or brighter predictions in it, pixels are others. Of two rows both may be needed.
  if (h.mcu_rows() > 2) {
    const ps::Window last{0, h.height - 1, h.width, h.height};
    bool same_pixels = true;
    for (const int more : {-80, 80}) {
      OwnScanIndex other = index;
      for (IndexRow& row : other.rows) row.dc[0] = int16_t(row.dc[0] + more);
      const ScanIndex lies = other.view();
      same_pixels &= decode(exact, h, last, Color::GRAY, &lies) == decode(exact, h, last, Color::GRAY, nullptr);
    }
    if (same_pixels) return fail("the index is not used");
  }
  // One that contradicts itself, as only a forger would have it: anything may come out, but nothing breaks.
  for (int i = 0; i < 6; i++) {
    OwnScanIndex forged = index;
    for (int k = uniform(1, 3); k > 0; k--)
      reinterpret_cast<uint8_t*>(forged.rows.data())[uniform(0, int(forged.rows.size() * sizeof(IndexRow)) - 1)] =
          uint8_t(uniform(0, 255));
    const ScanIndex lies = forged.view();
    decode(exact, h, random_window(h.width, h.height), Color::RGB, &lies);
  }
  // Cut off or with bytes in excess, it is not indexed.
  const Bytes part(file.begin(), file.begin() + uniform(int(h.scan), int(file.size()) - 3));
  if (index_scan(part.data(), part.size(), h, index)) return fail("a part of it is indexed");
  Bytes longer(file);
  longer.insert(longer.end() - 2, 3, 0x55);
  return !index_scan(longer.data(), longer.size(), h, index) || fail("it is indexed though it has bytes in excess");
}

// A broken file has no index; or one that is good for it.
bool check_broken(Bytes file, const std::string& name) {
  for (int k = uniform(1, 4); k > 0; k--) file[size_t(uniform(2, int(file.size()) - 1))] = uint8_t(uniform(0, 255));
  if (uniform(0, 3) == 0) file.resize(size_t(uniform(2, int(file.size()))));
  const Bytes exact(file);
  Header h;
  OwnScanIndex index;
  if (!parse(exact.data(), exact.size(), h) || !h.supported || int64_t(h.width) * h.height > 1 << 20) return true;
  if (!index_scan(exact.data(), exact.size(), h, index)) return true;
  const ScanIndex view = index.view();
  const ps::Window w = random_window(h.width, h.height);
  if (decode(exact, h, w, Color::RGB, &view) == decode(exact, h, w, Color::RGB, nullptr)) return true;
  return std::printf("%s, broken: windows differ\n", name.c_str()), false;
}

// In a file of its own, which is gone afterwards.
class Temporary {
 public:
  explicit Temporary(const Bytes& contents = {}) {
    const int file = ::mkstemp(path_);
    if (::write(file, contents.data(), contents.size()) != ssize_t(contents.size())) std::perror(path_), std::exit(2);
    ::close(file);
  }
  ~Temporary() { ::unlink(path_); }
  std::string path() const { return path_; }

 private:
  char path_[32] = "/tmp/jpeg_index_check_XXXXXX";
};

// What is found for a file: true, and the index is what it should be; or nothing. An error is nothing, too.
bool finds(const std::string& path, const Bytes& file, bool& wrong) {
  const Header h = header_of(file);
  OwnScanIndex expected;
  index_scan(file.data(), file.size(), h, expected);
  ScanIndex found;
  std::vector<uint64_t> memory;                            // holds what is found
  const auto take = [&](size_t bytes) { return memory.resize((bytes + 7) / 8), memory.data(); };
  try {
    if (!ps::JpegIndex::open({path})->find(file.data(), file.size(), h, take, found)) return false;
  } catch (const ps::Error&) {
    return false;
  }
  wrong |= found.bits != expected.bits || found.content != expected.content ||
           !same({found.rows, found.rows + found.row_count}, expected.rows) ||
           !same({found.subsequences, found.subsequences + found.subsequence_count}, expected.subsequences);
  return true;
}

bool check_index_files(const std::vector<Bytes>& files, int cases) {
  const auto fail = [](const char* what) { return std::printf("index files: %s\n", what), false; };
  const Temporary made;
  IndexWriter writer(made.path());
  for (int twice = 0; twice < 2; twice++)
    for (const Bytes& file : files)
      if (writer.add(file.data(), file.size()) != Indexed::yes) return fail("a file is not indexed");
  // Two that only differ where the key does not look: neither can be told from the other.
  Bytes twin = files[0];
  const size_t scan = header_of(twin).scan, unseen = scan + FileKey::kSample + 10;
  const bool ambiguous = unseen + FileKey::kSample < twin.size();
  if (ambiguous) {
    for (uint8_t bit = 1; bit; bit = uint8_t(bit << 1)) {
      twin[unseen] = files[0][unseen] ^ bit;
      if (writer.add(twin.data(), twin.size()) == Indexed::yes) break;
    }
  }
  writer.finish();
  bool wrong = false;
  for (size_t i = ambiguous; i < files.size(); i++)
    if (!finds(made.path(), files[i], wrong) || wrong) return fail("a file is not found");
  if (ambiguous && finds(made.path(), files[0], wrong)) return fail("one of two twins is found");

  const Bytes whole = read_file(made.path());
  int found = 0;
  for (int i = 0; i < cases; i++) {
    Bytes broken(whole);
    if (i % 4 == 0) broken.resize(size_t(uniform(0, int(broken.size()) - 1)));
    else if (i % 4 == 1) broken.insert(broken.end(), size_t(uniform(1, 40)), uint8_t(uniform(0, 255)));
    for (int k = i % 4 < 2 ? 0 : uniform(1, 20); k > 0; k--) {
      // Its head and its table are small: half of the faults go there.
      const size_t end = broken.size() - 1, table = end - sizeof(IndexEntry) * files.size();
      const size_t at = uniform(0, 1) ? size_t(uniform(0, int(end))) : size_t(uniform(int(table), int(end)));
      broken[uniform(0, 7) ? at : at % sizeof(IndexHead)] ^= uint8_t(1 << uniform(0, 7));
    }
    const Temporary file(broken);
    found += finds(file.path(), files[size_t(uniform(1, int(files.size()) - 1))], wrong);
  }
  if (wrong) return fail("a damaged one gives a wrong index");
  return found > 0 || cases < 20 || fail("one with little damage gives nothing at all");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Picture> photographs;
  std::vector<Bytes> files;
  int cases = 2000;
  for (int i = 1; i < argc; i++) {
    if (!std::strcmp(argv[i], "--cases") && i + 1 < argc) cases = std::atoi(argv[++i]);
    else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc) random_bits.seed(unsigned(std::atoi(argv[++i])));
    else files.push_back(read_file(argv[i])), photographs.push_back(reference(files.back(), JCS_RGB, true));
  }
  if (files.empty()) return std::fprintf(stderr, "usage: jpeg_index_check PICTURE.jpg... [--cases N] [--seed N]\n"), 2;
  int failures = 0, checked = 0;
  for (const Bytes& file : files) failures += !check_file(file, "photograph " + std::to_string(checked++));
  failures += !check_index_files(files, cases);
  for (int i = 0; i < cases; i++) {
    const Picture part = excerpt(photographs[size_t(uniform(0, int(photographs.size()) - 1))]);
    const Sampling s = kSamplings[uniform(0, int(std::size(kSamplings)) - 1)];
    Encoding e;
    e.quality = uniform(0, 1) ? 100 : uniform(5, 99), e.optimised = uniform(0, 1) == 1;    // of 100: many bytes FF
    e.restart = uniform(0, 1) ? 0 : uniform(1, 20);
    e.h = s.h, e.v = s.v, e.chroma_h = s.chroma_h, e.chroma_v = s.chroma_v;
    char name[128];
    std::snprintf(name, sizeof name, "case %d (quality %d, %dx%d over %dx%d, restart %d%s)", i, e.quality, e.h, e.v,
                  e.chroma_h, e.chroma_v, e.restart, e.optimised ? ", optimised" : "");
    const Bytes file = encode(part, e);
    failures += !check_file(file, name), checked++;
    for (int k = 0; k < 4; k++) failures += !check_broken(file, name);
  }
  std::printf("%d files checked, %d differ\n", checked, failures);
  return failures != 0;
}
