// What readers of records share: sample i is record i of the index, one range of a file. A record is read whole and
// looked through by setup(), which tells shapes by it, and run() copies what it found. Readers are early, so the two
// come one right after the other on one thread, and what setup() read is still in that thread's memory. Of a large
// record that is mostly one output as it stands, setup() leaves that middle out, and run() reads it to where it stays.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/operator.h"
#include "ops/read/open.h"
#include "ops/read/tables.h"
#include "ops/read/wire.h"
#include "read/containers.h"
#include "read/storage.h"

namespace ps {

// A record in memory: its bytes may be changed. What follows it in its file may be among them, where an index tells
// only where records begin.
using Record = std::span<uint8_t>;

// What an output is to be: bytes that are copied, or what the reader's write() makes of them.
struct Found {
  DType dtype = DType::u8;
  Shape shape;
  Bytes bytes, more;
  int64_t number = 0;
};

// Bytes of a record: where they begin in it, and how many there are.
struct Middle {
  size_t begin = 0, bytes = 0;
  size_t end() const { return begin + bytes; }
};

class RecordReader : public Operator, public Foresees {
 public:
  static constexpr Count kOutputs{1, kMany};
  std::unique_ptr<State> make_state() const override;
  void setup(const Context& c) const override;
  void run(const Context& c) const override;
  void foresee(std::span<const Tensor> numbers, Foreseen& kept) const override;

 protected:
  explicit RecordReader(const Spec& s);
  // Says what the outputs are, as many as `found` has then; throws Error(read) where the record is broken.
  virtual void parse(Record record, std::vector<Found>& found) const = 0;
  // Of a record of `size` bytes, the first of which are these: what parse() does not look into, if it is much.
  virtual Middle middle(Bytes first, size_t size) const { return (void)first, (void)size, Middle{}; }
  // Throws Error(read) where the record, in one or several stretches, does not fit its checksum.
  virtual void check(std::span<const Bytes> stretches) const { (void)stretches; }
  virtual void write(const Found& found, int output, Tensor& to) const;

 private:
  struct Reading;
  void read(Reading& r, int64_t sample) const;
  void look(Reading& r) const;
  void fill(Reading& r) const;
  const char* named(const Context& c, int64_t sample) const;
  std::string place(int64_t sample) const;
  template <class F> void placed(int64_t sample, F work) const;

  Names names_, shown_, keys_;                     // of files; as errors tell them; of records, if they have any
  Table containers_, offsets_, lengths_;
  std::string at_;                                 // between a file's name and what tells the record: " at index "
  int64_t samples_ = 0;
  size_t most_;
  bool far_ = false;                               // some lie in a storage that wants to know of them in advance
  mutable Containers<Open> idle_;                  // goes first: open files know their names by names_
};

// Bytes as an output of one axis.
inline Found bytes_found(Bytes bytes) {
  Found found;
  found.shape = {int64_t(bytes.size())};
  found.bytes = bytes;
  return found;
}

}  // namespace ps
