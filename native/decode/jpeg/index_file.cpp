#include "decode/jpeg/index_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "decode/jpeg/index_format.h"

namespace ps {

using jpeg::IndexEntry, jpeg::IndexHead, jpeg::IndexRecord;

namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~Descriptor() { if (descriptor_ >= 0) ::close(descriptor_); }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  operator int() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

// One of them, open: its table in memory, and records read when they are wanted. It is not mapped, since a mapped file
// that is truncated ends the process.
class JpegIndex::File {
 public:
  File(std::string path, Descriptor descriptor, size_t bytes)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), bytes_(bytes) {
    if (bytes < sizeof head_) fail(ErrorKind::read, "it is no index of JPEG files");
    read(&head_, sizeof head_, 0);
    check_head();
    entries_.resize(head_.entries);
    read(entries_.data(), head_.entries * sizeof(IndexEntry), head_.table);
  }

  bool find(size_t size, const jpeg::Header& header, const jpeg::FileKey& wanted, const Take& take,
            jpeg::ScanIndex& found) const {
    const auto entry = std::lower_bound(entries_.begin(), entries_.end(), wanted.key,
                                        [](const IndexEntry& e, uint64_t key) { return e.key < key; });
    if (entry == entries_.end() || entry->key != wanted.key) return false;
    const uint64_t place = entry->place;
    if (place % 8 || place > bytes_ || bytes_ - place < sizeof(IndexRecord)) return false;
    IndexRecord record;
    again(&record, sizeof record, place);
    if (record.check != wanted.check || record.file_bytes != size || bytes_ - place < record.bytes()) return false;
    constexpr uint64_t each = jpeg::IndexSubsequence::kBits;
    if (record.row_count != uint32_t(header.mcu_rows()) ||
        record.subsequence_count != (record.bits + each - 1) / each || record.bits / 8 > size)
      return false;
    void* rows = take(record.bytes() - sizeof record);
    again(rows, record.bytes() - sizeof record, place + sizeof record);
    if (record.sum != record.expected_sum(rows)) return false;
    found.rows = static_cast<const jpeg::IndexRow*>(rows);
    found.subsequences = reinterpret_cast<const jpeg::IndexSubsequence*>(found.rows + record.row_count);
    found.row_count = record.row_count;
    found.subsequence_count = record.subsequence_count;
    found.bits = record.bits;
    found.content = record.content;
    return true;
  }

 private:
  void read(void* to, size_t bytes, uint64_t at) const {
    auto* next = static_cast<uint8_t*>(to);
    while (bytes > 0) {
      const ssize_t n = ::pread(descriptor_, next, bytes, off_t(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(ErrorKind::system, std::string("it cannot be read: ") + std::strerror(errno));
      if (n == 0) fail(ErrorKind::system, "it became shorter while it was in use: build it again");
      next += n, at += uint64_t(n), bytes -= size_t(n);
    }
  }
  // After it has been opened, when no caller adds the path to the error.
  void again(void* to, size_t bytes, uint64_t at) const {
    try {
      read(to, bytes, at);
    } catch (const Error& e) {
      fail(e.kind, "jpeg_index='" + path_ + "': " + e.what());
    }
  }
  void check_head() const {
    if (std::memcmp(head_.magic, IndexHead::kMagic, sizeof head_.magic) != 0)
      fail(ErrorKind::read, "it is no index of JPEG files");
    if (head_.version != IndexHead::kVersion)
      fail(ErrorKind::read, "it has version " + std::to_string(head_.version) + ", and " +
           std::to_string(IndexHead::kVersion) + " is expected: build it again");
    if (head_.sum != head_.expected_sum()) fail(ErrorKind::read, "it is damaged: build it again");
    if (head_.bytes != bytes_ || head_.table > bytes_ || head_.table % 8 ||
        head_.entries != (bytes_ - head_.table) / sizeof(IndexEntry))
      fail(ErrorKind::read, "it should have " + std::to_string(head_.bytes) + " bytes and has " +
           std::to_string(bytes_) + ": build it again");
  }

  std::string path_;
  Descriptor descriptor_;
  size_t bytes_;
  IndexHead head_;
  std::vector<IndexEntry> entries_;
};

std::shared_ptr<const JpegIndex> JpegIndex::open(const std::vector<std::string>& paths) {
  // A file that was replaced since is another one, even under the same name.
  using Identity = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;
  static auto& mutex = *new std::mutex;            // immortal: pipelines may live longer than what is static
  static auto& known = *new std::map<Identity, std::weak_ptr<const File>>;

  if (paths.empty()) return nullptr;
  auto index = std::make_shared<JpegIndex>();
  for (const std::string& path : paths) {
    Descriptor file(path);
    try {
      struct stat info;
      if (file < 0 || ::fstat(file, &info))
        fail(ErrorKind::read, std::string("it cannot be opened: ") + std::strerror(errno));
      if (!S_ISREG(info.st_mode)) fail(ErrorKind::read, "it is no file");
      const Identity identity{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
      const std::lock_guard lock(mutex);
      std::erase_if(known, [](const auto& k) { return k.second.expired(); });
      std::shared_ptr<const File> shared = known[identity].lock();
      if (!shared) {
        shared = std::make_shared<File>(path, std::move(file), size_t(info.st_size));
        known[identity] = shared;
      }
      index->files_.push_back(std::move(shared));
    } catch (const Error& e) {
      fail(ErrorKind::read, "jpeg_index='" + path + "': " + e.what());
    }
  }
  return index;
}

bool JpegIndex::find(const uint8_t* data, size_t size, const jpeg::Header& header, const Take& take,
                     jpeg::ScanIndex& found) const {
  const jpeg::FileKey key(data, size, header.scan);
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& file) { return file->find(size, header, key, take, found); });
}

}  // namespace ps
