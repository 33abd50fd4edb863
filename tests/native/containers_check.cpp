// Checks that a source of many samples may keep what it knows of a container between them (native/read/containers.h):
// an operator that decodes a toy video, of which a frame depends on all frames since the last key frame. Its sequences
// come out the same in any order, on any number of threads; in order none of the frames is decoded twice, and in any
// order a sample costs at most the frames since a key frame.
//
//   containers_check                        exit status 0: all is well (arguments are ignored)
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/operator.h"
#include "penstock.h"
#include "read/containers.h"
#include "read/memory_files.h"
#include "read/storage.h"

using namespace ps;

namespace {

constexpr int64_t kKeyEvery = 8, kSequence = 5;
std::atomic<int64_t> frames_decoded{0};

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("%s\n", what);
  std::exit(1);
}

uint64_t following(uint64_t frame, uint64_t delta) { return (frame ^ delta) * 0x9e3779b97f4a7c15 + 1; }

// A file of numbers: key frames as they are, others as what makes them of the frame before.
struct Video {
  int64_t container = 0, place = 0;                // the frame that comes next
  std::unique_ptr<StoredFile> file;
  uint64_t frame = 0;                              // the last one

  void go_to(int64_t wanted) {
    const int64_t key = wanted / kKeyEvery * kKeyEvery;
    if (place > wanted || place < key) place = key;
    while (place < wanted) decode();
  }
  uint64_t decode() {
    uint64_t stored;
    file->read_all(place * 8, &stored, 8);
    frame = place++ % kKeyEvery ? following(frame, stored) : stored;
    frames_decoded++;
    return frame;
  }
};

// Number of a sample -> the frames of a sequence: sample i of a video begins at frame i.
class ReadToyVideo : public Operator {
 public:
  explicit ReadToyVideo(const Spec& s)
      : containers_(s.table("containers", DType::i64)), frames_(s.table("frames", DType::i64)) {
    const auto* containers = containers_.as<int64_t>();
    for (int64_t i = 0; i <= *std::max_element(containers, containers + containers_.rows()); i++)
      names_.push_back("memory://video/" + std::to_string(i));
  }
  void setup(const Context& c) const override {
    c.out(0).dtype = DType::u64;
    c.out(0).shape = {kSequence};
  }
  void run(const Context& c) const override {
    const int64_t sample = element_i64(c.in(0), 0);
    const int64_t container = containers_.as<int64_t>()[sample], first = frames_.as<int64_t>()[sample];
    auto video = videos_.take(container, first);
    if (!video) {
      video = std::make_unique<Video>();
      video->container = container;
      video->file = open_file(names_[size_t(container)].c_str());
    }
    video->go_to(first);
    for (int64_t i = 0; i < kSequence; i++) c.out(0).as<uint64_t>()[i] = video->decode();
    videos_.give_back(std::move(video));
  }

 private:
  Table containers_, frames_;
  std::vector<std::string> names_;
  mutable Containers<Video> videos_{4};
};

PS_OPERATOR("read_toy_video", ReadToyVideo)

using Frames = std::vector<uint64_t>;

Frames make_video(int number, int64_t count) {
  std::mt19937_64 random(uint64_t(number) + 1);
  Frames stored, frames;
  for (int64_t i = 0; i < count; i++) {
    stored.push_back(random());
    frames.push_back(i % kKeyEvery ? following(frames.back(), stored.back()) : stored.back());
  }
  put_memory_file("memory://video/" + std::to_string(number), stored.data(), stored.size() * 8);
  return frames;
}

ps_tensor table(const std::vector<int64_t>& values) {
  ps_tensor t{};
  t.data = const_cast<int64_t*>(values.data());
  t.dtype = int32_t(DType::i64);
  t.ndim = 1;
  t.shape[0] = int64_t(values.size());
  return t;
}

// The sequences of these samples, one behind the other.
Frames read(const std::vector<int64_t>& containers, const std::vector<int64_t>& frames,
            const std::vector<int64_t>& order, int threads, int batch) {
  ps_plan* plan = ps_plan_create();
  const ps_tensor a = table(containers), b = table(frames);
  const int32_t input = ps_plan_source(plan, 0), node = 0, group = 1;
  expect(ps_arg_table(plan, "containers", &a) == 0 && ps_arg_table(plan, "frames", &b) == 0, "no table");
  constexpr int waits_for_files = 4;               // and is not early: its shapes are known before
  const int32_t output = ps_plan_node(plan, "read_toy_video", &input, 1, 1, 0, waits_for_files, -1);
  expect(output > 0 && ps_plan_segment(plan, &node, &group, 1, 1) == 0, "no segment");
  expect(ps_plan_outputs(plan, &output, 1) == 0, "no output");
  ps_options options{};
  options.threads = options.io_threads = threads;
  options.depth = options.gpu_depth = 2;
  options.device = -1;
  options.name = "toy";
  ps_executor* executor = nullptr;
  expect(ps_executor_create(plan, &options, &executor) == 0, "no executor");
  Frames found;
  for (size_t first = 0; first < order.size(); first += size_t(batch)) {
    const int n = int(std::min(order.size() - first, size_t(batch)));
    const std::vector<int64_t> epochs(size_t(n), 0);
    expect(ps_executor_feed_integers(executor, input, order.data() + first, n) == 0, "not fed");
    expect(ps_executor_schedule(executor, n, order.data() + first, epochs.data()) == 0, "not scheduled");
    ps_answer answer{};
    while (!answer.state) ps_executor_wait(executor, 100, 0, &answer);
    expect(answer.state == 1, "a batch has failed");
    std::vector<ps_tensor> samples{size_t(n)};
    ps_batch_samples(answer.batch, output, samples.data());
    for (const ps_tensor& t : samples) {
      const auto* values = static_cast<const uint64_t*>(t.data);
      found.insert(found.end(), values, values + kSequence);
    }
    ps_batch_destroy(answer.batch);
  }
  expect(ps_executor_destroy(&executor) == 0, "not closed");
  return found;
}

struct Thing {
  int64_t container, place;
};

void check_which_is_taken() {
  Containers<Thing> idle(3);
  expect(!idle.take(0, 0), "something comes from nowhere");
  for (Thing t : {Thing{0, 10}, Thing{0, 20}, Thing{1, 15}}) idle.give_back(std::make_unique<Thing>(t));
  expect(idle.take(0, 25)->place == 20, "not the nearest before");
  expect(idle.take(0, 5)->place == 10, "none of the container, though there is one");
  expect(!idle.take(0, 5), "one is given twice");
  for (int64_t i = 0; i < 3; i++) idle.give_back(std::make_unique<Thing>(Thing{2, i}));
  expect(!idle.take(1, 15), "the one that lay there for longest is kept");
}

}  // namespace

int main() {
  check_which_is_taken();
  std::vector<Frames> videos;
  std::vector<int64_t> containers, frames;
  Frames wanted;
  int64_t in_all = 0;
  for (int k = 0; k < 6; k++) {
    videos.push_back(make_video(k, 20 + 7 * k));
    for (int64_t i = 0; i + kSequence <= int64_t(videos.back().size()); i += kSequence) {
      containers.push_back(k);
      frames.push_back(i);
      wanted.insert(wanted.end(), videos.back().begin() + i, videos.back().begin() + i + kSequence);
      in_all += kSequence;
    }
  }
  std::vector<int64_t> order(containers.size());
  std::iota(order.begin(), order.end(), 0);

  expect(read(containers, frames, order, 1, 4) == wanted, "one thread reads other frames");
  expect(frames_decoded == in_all, "in order, on one thread, frames are decoded several times");

  std::mt19937 random(7);
  for (int threads : {1, 3, 8}) {
    for (int batch : {1, 5, 64}) {
      frames_decoded = 0;
      const Frames found = read(containers, frames, order, threads, batch);
      for (size_t i = 0; i < order.size(); i++) {
        const auto at = [&](const Frames& all, size_t sample) { return all.begin() + int64_t(sample) * kSequence; };
        expect(std::equal(at(found, i), at(found, i) + kSequence, at(wanted, size_t(order[i]))), "other frames come");
      }
      const int64_t most = in_all + int64_t(order.size()) * (kKeyEvery - 1);
      expect(frames_decoded <= most, "a sample costs more than the frames since a key frame");
      std::shuffle(order.begin(), order.end(), random);
    }
  }
  std::puts("all is well");
}
