#include "decode/jpeg/index_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "core/error.h"
#include "decode/jpeg/index_format.h"

namespace ps {

using jpeg::IndexEntry, jpeg::IndexHead, jpeg::IndexRecord;

// One of them, in memory as the system reads it.
class JpegIndex::File {
 public:
  File(int descriptor, size_t bytes) : bytes_(bytes) {
    if (bytes < sizeof head_) fail(ErrorKind::read, "it is no index of JPEG files");
    void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) fail(ErrorKind::read, std::string("it cannot be mapped: ") + std::strerror(errno));
    memory_ = static_cast<const uint8_t*>(memory);
    try {
      check_head();
    } catch (...) {
      unmap();
      throw;
    }
  }
  ~File() { unmap(); }
  File(const File&) = delete;

  bool find(size_t size, const jpeg::Header& header, const jpeg::FileKey& wanted, jpeg::ScanIndex& found) const {
    const IndexEntry* entry = std::lower_bound(entries_, entries_ + head_.entries, wanted.key,
                                               [](const IndexEntry& e, uint64_t key) { return e.key < key; });
    if (entry == entries_ + head_.entries || entry->key != wanted.key) return false;
    const uint64_t place = entry->place;
    if (place % 8 || place > bytes_ || bytes_ - place < sizeof(IndexRecord)) return false;
    IndexRecord record;
    std::memcpy(&record, memory_ + place, sizeof record);
    if (record.check != wanted.check || record.file_bytes != size || bytes_ - place < record.bytes()) return false;
    const uint8_t* rows = memory_ + place + sizeof record;
    if (record.sum != record.expected_sum(rows)) return false;
    constexpr uint64_t each = jpeg::IndexPart::kBits;
    if (record.row_count != uint32_t(header.mcu_rows()) || record.part_count != (record.bits + each - 1) / each)
      return false;
    found.rows = reinterpret_cast<const jpeg::IndexRow*>(rows);
    found.parts = reinterpret_cast<const jpeg::IndexPart*>(found.rows + record.row_count);
    found.row_count = record.row_count;
    found.part_count = record.part_count;
    found.bits = record.bits;
    found.content = record.content;
    return true;
  }

 private:
  void check_head() {
    std::memcpy(&head_, memory_, sizeof head_);
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
    entries_ = reinterpret_cast<const IndexEntry*>(memory_ + head_.table);
  }
  void unmap() const { ::munmap(const_cast<uint8_t*>(memory_), bytes_); }

  IndexHead head_;
  size_t bytes_;
  const uint8_t* memory_ = nullptr;
  const IndexEntry* entries_ = nullptr;
};

std::shared_ptr<const JpegIndex> JpegIndex::open(const std::vector<std::string>& paths) {
  // A file that was replaced since is another one, even under the same name.
  using Identity = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;
  static auto& mutex = *new std::mutex;            // immortal: pipelines may live longer than what is static
  static auto& known = *new std::map<Identity, std::weak_ptr<const File>>;

  if (paths.empty()) return nullptr;
  auto index = std::make_shared<JpegIndex>();
  for (const std::string& path : paths) {
    struct Descriptor {
      int number;
      ~Descriptor() { if (number >= 0) ::close(number); }
    } file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    try {
      struct stat info;
      if (file.number < 0 || ::fstat(file.number, &info))
        fail(ErrorKind::read, std::string("it cannot be opened: ") + std::strerror(errno));
      if (!S_ISREG(info.st_mode)) fail(ErrorKind::read, "it is no file");
      const Identity identity{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
      const std::lock_guard lock(mutex);
      std::erase_if(known, [](const auto& k) { return k.second.expired(); });
      std::shared_ptr<const File> shared = known[identity].lock();
      if (!shared) {
        shared = std::make_shared<File>(file.number, size_t(info.st_size));
        known[identity] = shared;
      }
      index->files_.push_back(std::move(shared));
    } catch (const Error& e) {
      fail(ErrorKind::read, "jpeg_index='" + path + "': " + e.what());
    }
  }
  return index;
}

bool JpegIndex::find(const uint8_t* data, size_t size, const jpeg::Header& header, jpeg::ScanIndex& found) const {
  const jpeg::FileKey key(data, size, header.scan);
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& file) { return file->find(size, header, key, found); });
}

}  // namespace ps
