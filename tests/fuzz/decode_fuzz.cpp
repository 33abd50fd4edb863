// Decodes broken files, which it makes of the sound ones that it is given: whatever the bytes are, either all rows of
// the window come, in order and the same ones each time, or an Error(decode) does, in bounded time and memory. Under
// sanitizers it says more: files are kept in memory of exactly their size.
//
//   decode_fuzz [--files N] [--seed N] [--only N] [--keep FOLDER] [--seconds N] [--megabytes N] FILE...
//
// Files are made by number, so that one can be made again, and kept, alone (--only). They are tried in a child process;
// where it dies or hangs the file is kept, and another child goes on behind it. Exit status 0: all well.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

#include "core/error.h"
#include "cuda/decode/nvimgcodec/image_codec.h"
#include "cuda/decode/nvjpeg/batched.h"
#include "decode/codec.h"
#include "mutation.h"

namespace {

using fuzz::Bytes;

struct Seed {
  std::string name;
  Bytes bytes;
};

struct Format {
  std::string name;
  std::vector<Seed> seeds;
};

struct Settings {
  long files = 2000, seed = 1, only = -1, seconds = 20, megabytes = 1024;
  std::string keep = ".";
};

constexpr size_t kMaxFormats = 16;

// What the child tells the parent, in memory of both.
struct Progress {
  std::atomic<long> file;
  std::atomic<long> decoded[kMaxFormats], refused[kMaxFormats];
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::fflush(stderr);
  _exit(3);
}

Bytes read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) die("cannot open " + path);
  Bytes bytes;
  uint8_t buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file)) bytes.insert(bytes.end(), buffer, buffer + n);
  std::fclose(file);
  return bytes;
}

// A sum of all pixels; every row must come, in order, with its slack.
struct Sum : ps::RowSink {
  ps::Window window;
  size_t bytes;
  int64_t next;
  uint64_t sum = 0;
  Sum(const ps::Window& w, const ps::RowFormat& f)
      : window(w), bytes(f.pixel_bytes() * size_t(w.width())), next(w.y0) {}
  void push(int64_t y, const void* row) override {
    if (y != next++) die("row " + std::to_string(y) + " came instead of row " + std::to_string(next - 1));
    const auto* p = static_cast<const uint8_t*>(row);
    for (size_t i = 0; i < bytes; i++) sum = sum * 31 + p[i];
    volatile uint8_t last = p[bytes + ps::kRowSlack - 1];       // may be read
    (void)last;
  }
};

struct Job {
  const uint8_t* data;
  size_t size;
  ps::ImageInfo info;
  ps::DecodeOptions options;
  ps::Window window;
};

// What came, or what was wrong.
std::string decode(ps::ImageDecoder& decoder, const Job& j) {
  Sum sum(j.window, ps::output_format(j.info, j.options));
  try {
    decoder.decode(j.data, j.size, j.info, j.options, j.window, sum);
  } catch (const ps::Error& e) {
    if (e.kind != ps::ErrorKind::decode || !*e.what()) die(std::string("another error: ") + e.what());
    return std::string("refused: ") + e.what();
  }
  if (sum.next != j.window.y1) die("rows are missing");
  return std::to_string(sum.sum);
}

ps::DecodeOptions any_options(fuzz::Mutator& m) {
  constexpr ps::DType types[] = {ps::DType::u8,  ps::DType::u8,  ps::DType::u8,  ps::DType::i8, ps::DType::u16,
                                 ps::DType::i16, ps::DType::u32, ps::DType::i32, ps::DType::f32};
  ps::DecodeOptions o;
  o.type = ps::ImageType(m.below(5));
  o.dtype = types[m.below(std::size(types))];
  o.adjust_orientation = !m.chance(20);
  o.fast_idct = m.chance(10);
  o.fancy_upsampling = !m.chance(10);
  o.max_pixels = 1 << 20;
  return o;
}

ps::Window any_window(fuzz::Mutator& m, const ps::RowFormat& f) {
  if (m.chance(50)) return {0, 0, f.width, f.height};
  const int64_t x = m.below(uint64_t(f.width)), y = m.below(uint64_t(f.height));
  return {x, y, x + 1 + m.below(uint64_t(f.width - x)), y + 1 + m.below(uint64_t(f.height - y))};
}

// Whether it decoded.
bool attempt(ps::ImageDecoder& decoder, const Bytes& bytes, fuzz::Mutator& m) {
  const std::unique_ptr<uint8_t[]> file(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), file.get());
  Job j{file.get(), bytes.size(), {}, any_options(m), {}};
  ps::gpu::takes_jpeg(j.data, j.size);            // what mixed decoding looks at
  ps::gpu::ImageCodec::knows(j.data, j.size);
  try {
    j.info = ps::peek(j.data, j.size);
    ps::check_size(j.info, j.options.max_pixels);
  } catch (const ps::Error& e) {
    if (e.kind != ps::ErrorKind::decode || !*e.what()) die(std::string("another error: ") + e.what());
    return false;
  }
  j.window = any_window(m, ps::output_format(j.info, j.options));
  const std::string once = decode(decoder, j);
  // Pixels must not depend on what a decoder, or memory, has held before.
  if (m.chance(25)) {
    ps::ImageDecoder fresh;
    const std::string again = decode(m.chance(50) ? decoder : fresh, j);
    if (again != once) die("decoded twice, and not the same: " + once + ", then " + again);
  }
  return once.compare(0, 7, "refused") != 0;
}

struct Case {
  size_t format;
  const Seed* seed;
  Bytes bytes;
  fuzz::Mutator random;
};

Case make_case(const std::vector<Format>& formats, const Settings& s, long number) {
  fuzz::Mutator m(uint64_t(s.seed) * 0x9E3779B97F4A7C15u + uint64_t(number));
  const size_t format = size_t(number) % formats.size();
  const auto any_of = [&](const Format& f) { return &f.seeds[m.below(f.seeds.size())]; };
  const Seed* seed = any_of(formats[format]);
  const Seed* other = any_of(m.chance(70) ? formats[format] : formats[m.below(formats.size())]);
  Bytes bytes = m.mutate(seed->bytes, other->bytes);
  return {format, seed, std::move(bytes), std::move(m)};
}

long peak_megabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

[[noreturn]] void run_child(const std::vector<Format>& formats, const Settings& s, Progress& progress, long end) {
  ps::ImageDecoder decoder;
  for (; progress.file < end; progress.file++) {
    Case c = make_case(formats, s, progress.file);
    const bool decoded = attempt(decoder, c.bytes, c.random);
    (decoded ? progress.decoded : progress.refused)[c.format]++;
    if (peak_megabytes() > s.megabytes) die("it took " + std::to_string(peak_megabytes()) + " MB of memory");
  }
  std::fflush(nullptr);
  _exit(0);
}

double cpu_seconds(pid_t child) {
  clockid_t clock;
  timespec t{};
  if (clock_getcpuclockid(child, &clock) == 0) clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// The processor's time: how busy the machine is makes no difference. `slowest` is of any file.
std::string watch(pid_t child, const Progress& progress, long seconds, double& slowest, long& which) {
  long file = -1;
  double since = 0;
  for (int status;;) {
    const pid_t done = waitpid(child, &status, WNOHANG);
    if (done == child) {
      if (WIFEXITED(status)) return WEXITSTATUS(status) ? "exit status " + std::to_string(WEXITSTATUS(status)) : "";
      return std::string("killed by ") + strsignal(WTERMSIG(status));
    }
    const double now = cpu_seconds(child);
    if (progress.file != file) {
      file = progress.file;
      since = now;
    } else if (now - since > slowest) {
      slowest = now - since;
      which = file;
    }
    if (now - since > double(seconds)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "it takes more than " + std::to_string(seconds) + " s";
    }
    usleep(5000);
  }
}

std::string keep(const Case& c, const Settings& s, long number) {
  const std::string path = s.keep + "/fuzz-" + std::to_string(s.seed) + "-" + std::to_string(number) + ".bin";
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(c.bytes.data(), 1, c.bytes.size(), file);
    std::fclose(file);
  }
  return path;
}

void add_seed(std::vector<Format>& formats, const std::string& path) {
  Seed seed{path, read_file(path)};
  const char* name = ps::peek(seed.bytes.data(), seed.bytes.size()).codec->name;
  auto at = std::find_if(formats.begin(), formats.end(), [&](const Format& f) { return f.name == name; });
  if (at == formats.end()) at = formats.insert(at, Format{name, {}});
  at->seeds.push_back(std::move(seed));
}

}  // namespace

int main(int count, char** words) {
  Settings s;
  std::vector<Format> formats;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    const bool more = i + 1 < count;
    if (word == "--keep" && more) s.keep = words[++i];
    else if (word == "--files" && more) s.files = std::atol(words[++i]);
    else if (word == "--seed" && more) s.seed = std::atol(words[++i]);
    else if (word == "--only" && more) s.only = std::atol(words[++i]);
    else if (word == "--seconds" && more) s.seconds = std::atol(words[++i]);
    else if (word == "--megabytes" && more) s.megabytes = std::atol(words[++i]);
    else add_seed(formats, word);
  }
  if (formats.empty() || formats.size() > kMaxFormats) return std::fprintf(stderr, "no files, or too many kinds\n"), 2;

  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::perror("mmap"), 2;
  Progress& progress = *new (shared) Progress{};
  const long end = s.only >= 0 ? s.only + 1 : s.files;
  if (s.only >= 0) {
    progress.file = s.only;
    std::printf("file %ld is %s\n", s.only, keep(make_case(formats, s, s.only), s, s.only).c_str());
  }
  int failures = 0;
  double slowest = 0;
  long which = 0;
  while (progress.file < end && failures < 20) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) return std::perror("fork"), 2;
    if (child == 0) run_child(formats, s, progress, end);
    const std::string why = watch(child, progress, s.seconds, slowest, which);
    if (why.empty()) continue;
    const long number = progress.file++;
    const Case c = make_case(formats, s, number);
    std::printf("file %ld, of %s: %s\n  kept as %s; again: decode_fuzz --seed %ld --only %ld and the same files\n",
                number, c.seed->name.c_str(), why.c_str(), keep(c, s, number).c_str(), s.seed, number);
    failures++;
  }
  long total = 0;
  for (size_t i = 0; i < formats.size(); i++) {
    const long decoded = progress.decoded[i], refused = progress.refused[i];
    std::printf("%-10s %6ld files of %zu seeds: %ld decoded, %ld refused\n", formats[i].name.c_str(),
                decoded + refused, formats[i].seeds.size(), decoded, refused);
    total += decoded + refused;
  }
  std::printf("%ld files in all, %d failures; the slowest, file %ld, took %.2f s\n", total, failures, which, slowest);
  return failures ? 1 : 0;
}
