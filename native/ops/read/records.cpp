#include "ops/read/records.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/bytes_setting.h"

namespace ps {
namespace {

constexpr const char* kVariable = "PENSTOCK_MAX_FILE_BYTES";
constexpr size_t kMost = size_t(2) << 30;
constexpr size_t kIdle = 64;                       // files that are kept open for samples to come
constexpr size_t kKept = size_t(16) << 20;         // bytes that a thread keeps between samples
constexpr size_t kLarge = size_t(48) << 10;        // bytes of records whose middle may be left out
constexpr size_t kFirst = 4096;                    // bytes of these that tell what there is

}  // namespace

struct RecordReader::Reading : State {
  std::unique_ptr<uint8_t[]> memory;
  size_t room = 0;
  Record record;
  Middle middle;                                   // not read yet, if it has bytes
  int64_t begin = 0;                               // of the record in its file
  std::unique_ptr<Open> open;                      // that file, while there is a middle
  int direct = -1;                                 // the output that the middle is
  std::vector<Found> found;
};

RecordReader::RecordReader(const Spec& s)
    : names_(s.table("names", DType::u8)), shown_(s.table("shown", DType::u8)), keys_(s.table("keys", DType::u8)),
      containers_(s.table("containers", DType::i32)), offsets_(s.table("offsets", DType::i64)),
      lengths_(s.table("lengths", DType::i64)), samples_(offsets_.rows()), most_(bytes_setting(kVariable, kMost)),
      idle_(kIdle) {
  at_ = keys_.size() ? " at key " : " at index ";
  check_table(shown_.size() == 0 || shown_.size() == names_.size(), "some files have no name to show");
  check_table(keys_.size() == 0 || keys_.size() == samples_, "some records have no key");
  check_table(containers_.rows() == samples_ && lengths_.rows() == samples_, "records are incomplete");
  for (int64_t i = 0; i < names_.size(); i++) far_ |= storage_of(names_[i]).is_far();
  for (int64_t i = 0; i < samples_; i++) {
    const int32_t container = containers_.as<int32_t>()[i];
    check_table(container >= 0 && container < names_.size(), "a record is of no file");
    check_table(offsets_.as<int64_t>()[i] >= 0, "a record begins before its file");
  }
  check_table(std::is_sorted(containers_.as<int32_t>(), containers_.as<int32_t>() + samples_),
              "the records of a file do not lie together");
}

std::unique_ptr<State> RecordReader::make_state() const { return std::make_unique<Reading>(); }

void RecordReader::foresee(std::span<const Tensor> numbers, Foreseen& kept) const {
  if (!far_) return;
  foresee_samples(numbers, samples_, kept, [&](int64_t sample, std::vector<ByteRange>& wanted) {
    const int64_t begin = offsets_.as<int64_t>()[sample], bytes = lengths_.as<int64_t>()[sample];
    if (bytes >= 0) wanted.push_back({names_[containers_.as<int32_t>()[sample]], begin, bytes});
  });
}

// Errors say which record they are of.
template <class F> void RecordReader::placed(int64_t sample, F work) const {
  try {
    work();
  } catch (const Error& e) {
    if (e.kind != ErrorKind::read) throw;
    fail(e.kind, place(sample) + ": " + e.what());
  }
}

void RecordReader::setup(const Context& c) const {
  Reading& r = c.st<Reading>();
  for (int k = 0; k < c.num_outputs; k++) c.out(k).source = nullptr;
  const int64_t sample = element_i64(c.in(0), 0);
  if (sample < 0 || sample >= samples_)
    fail(ErrorKind::argument,
         "there is no record " + std::to_string(sample) + ": there are " + std::to_string(samples_));
  const char* source = named(c, sample);
  for (int k = 0; k < c.num_outputs; k++) c.out(k).source = source;
  r.found.clear();
  placed(sample, [&] {
    read(r, sample);
    look(r);
  });
  for (int k = 0; k < c.num_outputs; k++) {
    const Found& found = r.found[size_t(k)];
    c.out(k).dtype = found.dtype;
    c.out(k).shape = found.shape;
    c.out(k).layout = {};
  }
}

void RecordReader::run(const Context& c) const {
  Reading& r = c.st<Reading>();
  placed(element_i64(c.in(0), 0), [&] {            // numbers are counted first, and read here
    for (int k = 0; k < c.num_outputs; k++)
      if (k != r.direct) write(r.found[size_t(k)], k, c.out(k));
    if (r.direct < 0) return;
    auto* to = c.out(r.direct).as<uint8_t>();
    r.open->file->read_all(r.begin + int64_t(r.middle.begin), to, int64_t(r.middle.bytes));
    idle_.give_back(std::move(r.open));
    const Bytes stretches[] = {
        r.record.first(r.middle.begin), {to, r.middle.bytes}, r.record.subspan(r.middle.end())};
    check(stretches);
  });
  if (r.room > kKept) {
    r.memory.reset();
    r.room = 0;
  }
}

// Finds what the outputs are. A checksum that does not fit is told before what it is likely to have led to.
void RecordReader::look(Reading& r) const {
  const auto whole = [&] {
    fill(r);
    const Bytes all = r.record;
    check({&all, 1});
  };
  r.direct = -1;
  try {
    parse(r.record, r.found);
  } catch (const Error& e) {
    if (e.kind == ErrorKind::read) whole();
    throw;
  }
  if (!r.middle.bytes) return whole();
  const uint8_t* begin = r.record.data() + r.middle.begin;
  int within = 0;
  for (size_t k = 0; k < r.found.size(); k++) {
    const Bytes bytes = r.found[k].bytes;
    if (bytes.data() >= begin + r.middle.bytes || bytes.data() + bytes.size() <= begin) continue;
    within++;
    if (bytes.data() == begin && bytes.size() == r.middle.bytes) r.direct = int(k);
  }
  if (within == 1 && r.direct >= 0) return;
  r.direct = -1;                                   // nobody wants it, or it is but a part of what somebody wants
  whole();
}

void RecordReader::fill(Reading& r) const {
  if (!r.middle.bytes) return;
  r.open->file->read_all(r.begin + int64_t(r.middle.begin), r.record.data() + r.middle.begin, int64_t(r.middle.bytes));
  r.middle = {};
  idle_.give_back(std::move(r.open));
}

void RecordReader::write(const Found& found, int, Tensor& to) const {
  if (!found.bytes.empty()) std::memcpy(to.data, found.bytes.data(), found.bytes.size());
}

void RecordReader::read(Reading& r, int64_t sample) const {
  const int64_t container = containers_.as<int32_t>()[sample], begin = offsets_.as<int64_t>()[sample];
  std::unique_ptr<Open> one = idle_.take(container, begin);
  if (!one) {
    one = std::make_unique<Open>();
    one->container = container;
    one->file = open_file(names_[container]);
  }
  const int64_t left = one->file->bytes() - begin, told = lengths_.as<int64_t>()[sample];
  const int64_t bytes = told < 0 ? left : told;
  if (left < 0 || bytes < 0 || bytes > left)
    fail(ErrorKind::read, "it has " + std::to_string(bytes) + " bytes, but its file ends " +
         (left > 0 ? std::to_string(left) + " bytes behind its beginning" : "before it"));
  if (size_t(bytes) > most_)
    fail(ErrorKind::read, "it has " + std::to_string(bytes) + " bytes, and records are read whole: " + kVariable +
         " allows " + std::to_string(most_));
  if (size_t(bytes) > r.room) {
    r.room = 0;
    r.memory.reset(new uint8_t[size_t(bytes) + size_t(bytes) / 2]);
    r.room = size_t(bytes) + size_t(bytes) / 2;
  }
  const size_t size = size_t(bytes), first = far_ || size < kLarge ? size : kFirst;
  one->file->read_all(begin, r.memory.get(), int64_t(first));
  r.middle = {};
  if (first < size) {
    r.middle = middle({r.memory.get(), first}, size);
    if (r.middle.bytes < kLarge / 2 || r.middle.begin > first) r.middle = {};
    const size_t next = r.middle.bytes ? r.middle.end() : first;
    one->file->read_all(begin + int64_t(next), r.memory.get() + next, int64_t(size - next));
  }
  one->place = begin + bytes;
  r.record = {r.memory.get(), size};
  r.begin = begin;
  if (r.open) idle_.give_back(std::move(r.open));  // of a sample whose run() never came
  if (r.middle.bytes) r.open = std::move(one);
  else idle_.give_back(std::move(one));
}

// What errors and source_info() show: the file, and by what its records are told.
const char* RecordReader::named(const Context& c, int64_t sample) const {
  const int32_t container = containers_.as<int32_t>()[sample];
  std::string text = shown_.size() ? shown_[container] : names_[container];
  text.append(at_).append(keys_.size() ? keys_[sample] : std::to_string(offsets_.as<int64_t>()[sample]));
  return c.texts->keep(std::move(text));
}

std::string RecordReader::place(int64_t sample) const {
  const int32_t* begin = containers_.as<int32_t>();
  const int64_t first = std::lower_bound(begin, begin + samples_, begin[sample]) - begin;
  return "record " + std::to_string(sample - first) + " of " + names_[begin[sample]] + " (from byte " +
         std::to_string(offsets_.as<int64_t>()[sample]) + " on)";
}

}  // namespace ps
