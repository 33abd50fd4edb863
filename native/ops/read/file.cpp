// The name of a file -> its bytes.
#include <cstring>
#include <string>
#include <vector>

#include "core/foresees.h"
#include "core/operator.h"
#include "ops/read/limit.h"
#include "read/storage.h"

namespace ps {
namespace {

class ReadFile : public Operator, public Foresees {
 public:
  explicit ReadFile(const Spec&) : most_(most_file_bytes()) {}

  std::unique_ptr<State> make_state() const override { return std::make_unique<Reading>(); }

  // Names that are given from outside. What is wrong with them, setup() says.
  void foresee(std::span<const Tensor> names, Foreseen& kept) const override {
    std::vector<ByteRange> ranges;
    for (const Tensor& name : names) {
      if (size_of(name.dtype) != 1 || name.shape.ndim != 1 || !name.data) continue;
      auto text = std::make_shared<std::string>(name.as<char>(), strnlen(name.as<char>(), name.bytes()));
      if (scheme_of(*text).empty()) continue;
      ranges.push_back({text->c_str()});
      kept.push_back(std::move(text));
    }
    for (const ByteRange& one : ranges) {
      const Storage* storage = find_storage(one.name);
      if (storage && storage->is_far()) storage->foresee({&one, 1}, kept);
    }
  }

  // The file stays open between the two calls, which come one right after the other on one thread.
  void setup(const Context& c) const override {
    const Tensor& name = c.in(0);
    Reading& r = c.st<Reading>();
    r.file.reset();
    if (size_of(name.dtype) != 1 || name.shape.ndim != 1)
      fail(ErrorKind::type, std::string("expected the name of a file (1-D, UINT8), got ") + name_of(name.dtype) +
           " of shape " + to_string(name.shape));
    const auto* text = name.as<char>();
    const size_t length = strnlen(text, name.bytes());
    if (length == 0) fail(ErrorKind::argument, "the name of the file is empty");
    const char* source = c.texts->keep(std::string(text, length));
    c.out(0).source = source;
    r.file = open_file(source);
    const int64_t bytes = r.file->bytes();
    if (size_t(bytes) > most_) refuse_size(source, bytes, most_);
    c.out(0).dtype = DType::u8;
    c.out(0).shape = {bytes};
    c.out(0).layout = {};
  }

  void run(const Context& c) const override {
    Reading& r = c.st<Reading>();
    if (c.out(0).bytes()) r.file->read_all(0, c.out(0).data, c.out(0).shape[0]);
    r.file.reset();
  }

 private:
  struct Reading : State {
    std::unique_ptr<StoredFile> file;
  };
  size_t most_;
};

PS_OPERATOR("read_file", ReadFile)

}  // namespace
}  // namespace ps
