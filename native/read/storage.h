// Where the bytes of a data set lie: local files, or another storage that registers itself under the scheme of its
// names, such as "s3" for "s3://bucket/name". Readers know nothing else of either.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ps {

// An open file, for one thread at a time; its destructor closes it. There is no mapping into memory: a mapped file that
// is truncated, or a disk that fails, would end the process, where a read that fails is an error of one sample.
class StoredFile {
 public:
  explicit StoredFile(const char* name) : name_(name) {}
  virtual ~StoredFile() = default;
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  const char* name() const { return name_; }
  virtual int64_t bytes() const = 0;               // when it was opened
  virtual int descriptor() const { return -1; }    // of the system's; -1: it is no file of the system
  // Reads some bytes from a place on, as many as are there at once; 0: the file ends here. Throws Error(read).
  virtual int64_t read(int64_t at, void* to, int64_t most) = 0;
  void read_all(int64_t at, void* to, int64_t bytes);   // or throws Error(read): the file became shorter

 private:
  const char* name_;
};

// Bytes of a file that are going to be read; fewer than 0 bytes: the whole of it.
struct ByteRange {
  const char* name;
  int64_t begin = 0, bytes = -1;
};

// What a storage fetches before it is read: to let go of it takes back what has not come yet.
using Foreseen = std::vector<std::shared_ptr<void>>;

// Each call of it and of its files may block for as long as a disk or server likes, and notes that it does (Wait in
// core/waiting.h), so that a limit on the time can be kept.
class Storage {
 public:
  virtual ~Storage() = default;
  // The name, scheme included, must live as long as the file. Throws Error(read), or Error(system) for a shortage.
  virtual std::unique_ptr<StoredFile> open(const char* name) const = 0;
  // The same, and what is read of it is not kept in the system's cache, where there is such and the file system can.
  virtual std::unique_ptr<StoredFile> open_past_cache(const char* name) const { return open(name); }
  // One that is far away fetches what it is told of in advance, in as few requests as will do. Waits for nothing.
  virtual bool is_far() const { return false; }
  // What was known of a file is looked at anew: its samples are about to be counted.
  virtual void renew(const char*) const {}
  virtual void foresee(std::span<const ByteRange>, Foreseen&) const {}
};

using StorageFactory = std::unique_ptr<Storage> (*)();
bool add_storage(const char* scheme, StorageFactory make);
std::string_view scheme_of(std::string_view name);      // "s3" of "s3://bucket/name"; "" of local files
const Storage* find_storage(std::string_view name);     // null: there is none of this scheme
const Storage& storage_of(std::string_view name);       // throws Error(argument) where there is none of this scheme
inline std::unique_ptr<StoredFile> open_file(const char* name) { return storage_of(name).open(name); }

// "the file NAME cannot be opened: No such file or directory"; `error`: an errno, or 0.
[[noreturn]] void refuse_file(const char* name, const char* what, int error);

#define PS_STORAGE(scheme, Class)                                                             \
  namespace {                                                                                 \
  [[maybe_unused]] const bool ps_storage_##Class = ::ps::add_storage(                         \
      scheme, []() -> std::unique_ptr<::ps::Storage> { return std::make_unique<Class>(); });  \
  }

}  // namespace ps
