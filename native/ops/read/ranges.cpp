// Reads ranges of files: the number of a sample -> the bytes that the data set's index says it has, and its columns.
//
// The index comes as tables (penstock/read/index.py). A *container* is a file of any storage; a *range* is bytes of a
// container; an output of a sample is one range, several one behind the other, or none. *Columns* are what is known
// without reading anything: labels, boxes, texts.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/operator.h"
#include "ops/read/limit.h"
#include "ops/read/open.h"
#include "ops/read/tables.h"
#include "read/containers.h"
#include "read/storage.h"

namespace ps {
namespace {

constexpr size_t kOpen = 8;                        // files that a thread has open at a time
constexpr size_t kIdle = 64;                       // files that all of them keep open for samples to come

// What a thread has open of the sample in hand, and what it found out about it.
struct Reading : State {
  std::vector<std::unique_ptr<Open>> open;
  std::vector<int64_t> sizes;                      // of the ranges, by output
};

class ReadRanges : public Operator, public Foresees {
 public:
  static constexpr Count kOutputs{1, kMany};

  explicit ReadRanges(const Spec& s)
      : names_(s.table("names", DType::u8)), members_(s.table("members", DType::u8)),
        containers_(s.table("containers", DType::i32)), offsets_(s.table("offsets", DType::i64)),
        lengths_(s.table("lengths", DType::i64)), picks_(s.table("picks", DType::i64)),
        starts_(s.table("pick_starts", DType::i64)), most_(most_file_bytes()), idle_(kIdle) {
    for (int64_t number : s.get("types").integers) {
      types_.push_back(DType(number));
      check_table(size_of(types_.back()) > 0, "an output is of no type");
    }
    const auto outputs = int64_t(types_.size());
    for (int k = int(outputs) * (starts_ ? 2 : 1); k < s.num_outputs; k++)
      columns_.emplace_back(s, k - int(outputs) * (starts_ ? 2 : 1));
    for (int64_t i = 0; i < names_.size(); i++) far_ |= storage_of(names_[i]).is_far();
    check_ranges();
    const int64_t cells = starts_ ? starts_.rows() - 1 : picks_ ? picks_.rows() : ranges();
    check_table(cells >= 0 && cells % outputs == 0, "the outputs of some sample are not there");
    samples_ = cells / outputs;
    if (starts_) check_starts(starts_, cells, picks_ ? picks_.rows() : ranges());
    for (const Column& column : columns_) column.check(samples_);
    keeps_open_ = containers_ && ranges() > names_.size();
  }

  std::unique_ptr<State> make_state() const override { return std::make_unique<Reading>(); }

  void foresee(std::span<const Tensor> numbers, Foreseen& kept) const override {
    if (!far_) return;
    foresee_samples(numbers, samples_, kept, [&](int64_t sample, std::vector<ByteRange>& wanted) {
      for (size_t k = 0; k < types_.size(); k++) {
        const auto [first, last] = picked(sample, k);
        for (int64_t p = first; p < last; p++)
          if (const int64_t range = pick(p); range >= 0 && (length(range) >= 0 || !offset(range)))
            wanted.push_back({names_[container(range)], offset(range), length(range)});
      }
    });
  }

  // Files stay open between the two calls, which come one right after the other on one thread.
  void setup(const Context& c) const override {
    Reading& r = c.st<Reading>();
    r.open.clear();                                // what a sample that failed has left
    r.sizes.clear();
    const int64_t sample = number(c);
    for (int k = 0; k < c.num_outputs; k++) c.out(k).source = nullptr;
    int at = 0;
    for (size_t k = 0; k < types_.size(); k++) {
      const auto [first, last] = picked(sample, k);
      const char* source = nullptr;
      int64_t total = 0;
      for (int64_t p = first; p < last; p++) {
        const int64_t range = pick(p);
        if (range < 0) continue;
        if (!source) c.out(at).source = source = named(c, range);
        r.sizes.push_back(size(r, range));
        total += r.sizes.back();
        if (size_t(total) > most_) refuse_size(range, total, last - first);
      }
      if (total % int64_t(size_of(types_[k])))
        fail(ErrorKind::read,
             std::to_string(total) + " bytes are no whole number of elements of " + name_of(types_[k]));
      c.out(at).dtype = types_[k];
      c.out(at).shape = {total / int64_t(size_of(types_[k]))};
      c.out(at).layout = {};
      if (starts_) {
        c.out(++at).dtype = DType::i64;
        c.out(at).shape = {last - first};
        c.out(at).layout = {};
        c.out(at).source = source;
      }
      at++;
    }
    for (const Column& column : columns_) {
      c.out(at).source = c.out(0).source;
      column.setup(sample, c.out(at++));
    }
  }

  void run(const Context& c) const override {
    Reading& r = c.st<Reading>();
    const int64_t sample = number(c);
    auto next = r.sizes.begin();
    int at = 0;
    for (size_t k = 0; k < types_.size(); k++) {
      const auto [first, last] = picked(sample, k);
      auto* to = c.out(at).as<uint8_t>();
      auto* sizes = starts_ ? c.out(++at).as<int64_t>() : nullptr;
      for (int64_t p = first; p < last; p++) {
        const int64_t range = pick(p), bytes = range < 0 ? 0 : *next++;
        if (bytes) read(r, range, to, bytes);
        if (sizes) *sizes++ = bytes;
        to += bytes;
      }
      at++;
    }
    for (const Column& column : columns_) column.run(sample, c.out(at++));
    while (!r.open.empty()) let_go(r);
  }

 private:
  int64_t ranges() const { return containers_ ? containers_.rows() : names_.size(); }
  int64_t container(int64_t range) const { return containers_ ? containers_.as<int32_t>()[range] : range; }
  int64_t offset(int64_t range) const { return offsets_ ? offsets_.as<int64_t>()[range] : 0; }
  int64_t length(int64_t range) const { return lengths_ ? lengths_.as<int64_t>()[range] : -1; }
  int64_t pick(int64_t p) const { return picks_ ? picks_.as<int64_t>()[p] : p; }
  std::pair<int64_t, int64_t> picked(int64_t sample, size_t output) const {
    const int64_t cell = sample * int64_t(types_.size()) + int64_t(output);
    if (!starts_) return {cell, cell + 1};
    return {starts_.as<int64_t>()[cell], starts_.as<int64_t>()[cell + 1]};
  }

  int64_t number(const Context& c) const {
    const int64_t i = element_i64(c.in(0), 0);
    if (i < 0 || i >= samples_)
      fail(ErrorKind::argument, "there is no file " + std::to_string(i) + ": there are " + std::to_string(samples_));
    return i;
  }

  void check_ranges() const {
    const int64_t n = ranges();
    for (const Table* table : {&offsets_, &lengths_})
      check_table(!*table || table->rows() == n, "ranges are incomplete");
    check_table(members_.size() == 0 || members_.size() == n, "some ranges have names, others have none");
    for (int64_t i = 0; containers_ && i < n; i++)
      check_table(container(i) >= 0 && container(i) < names_.size(), "a range is of no file");
    for (int64_t i = 0; offsets_ && i < n; i++) check_table(offset(i) >= 0, "a range begins before its file");
    for (int64_t i = 0; picks_ && i < picks_.rows(); i++)
      check_table(pick(i) >= -1 && pick(i) < n, "a sample has a range that is not there");
  }

  // What errors and source_info() show: the file, or "archive:offset:member".
  const char* named(const Context& c, int64_t range) const {
    const char* name = names_[container(range)];
    if (!members_.size()) return name;
    std::string text = name;
    text.append(1, ':').append(std::to_string(offset(range))).append(1, ':').append(members_[range]);
    return c.texts->keep(std::move(text));
  }

  Open& opened(Reading& r, int64_t range) const {
    const int64_t wanted = container(range);
    for (auto& one : r.open)
      if (one->container == wanted) return *one;
    if (r.open.size() == kOpen) let_go(r);
    std::unique_ptr<Open> one = keeps_open_ ? idle_.take(wanted, offset(range)) : nullptr;
    if (!one) {
      one = std::make_unique<Open>();
      one->container = wanted;
      one->file = open_file(names_[wanted]);
    }
    return *r.open.emplace_back(std::move(one));
  }

  void let_go(Reading& r) const {
    std::unique_ptr<Open> one = std::move(r.open.front());
    r.open.erase(r.open.begin());
    if (keeps_open_) idle_.give_back(std::move(one));
  }

  // Its bytes; those of a range without a length are all that follow. The file is open from then on.
  int64_t size(Reading& r, int64_t range) const {
    const StoredFile& file = *opened(r, range).file;
    const int64_t begin = offset(range), left = file.bytes() - begin;
    const int64_t length = this->length(range);
    if (left < 0 || length > left) {
      const std::string from = "byte " + std::to_string(begin);
      const std::string bytes =
          length < 0 ? "what follows " + from : std::to_string(length) + " bytes from " + from + " on";
      fail(ErrorKind::read, std::string("the file ") + file.name() + " has " + std::to_string(file.bytes()) +
           " bytes, but its index says that a sample has " + bytes);
    }
    return length < 0 ? left : length;
  }

  void read(Reading& r, int64_t range, uint8_t* to, int64_t bytes) const {
    Open& one = opened(r, range);
    one.file->read_all(offset(range), to, bytes);
    one.place = offset(range) + bytes;
  }

  [[noreturn]] void refuse_size(int64_t range, int64_t bytes, int64_t count) const {
    const std::string what = count > 1 ? "the sample that begins with the file " : offsets_ ? "a sample in the file "
                                                                                            : "the file ";
    fail(ErrorKind::read, what + names_[container(range)] + " has " + std::to_string(bytes) + " bytes, and " +
         (offsets_ || count > 1 ? "samples" : "files") + " are read whole: " + kMostFileBytes + " allows " +
         std::to_string(most_));
  }

  Names names_, members_;                          // of containers, and of ranges, if they have any
  Table containers_, offsets_, lengths_;           // of ranges; none: range i is file i, from its beginning to its end
  Table picks_;                                    // ranges by sample and output, -1: nothing; none: range after range
  Table starts_;                                   // where those of each sample and output begin; none: one each
  std::vector<DType> types_;                       // of the outputs that are read
  std::vector<Column> columns_;
  int64_t samples_ = 0;
  size_t most_;                                    // bytes of an output
  bool far_ = false;                               // some lie in a storage that wants to know of them in advance
  bool keeps_open_ = false;                        // files give many samples
  mutable Containers<Open> idle_;                  // goes first: open files know their names by names_
};

PS_OPERATOR("read_ranges", ReadRanges)

}  // namespace
}  // namespace ps
