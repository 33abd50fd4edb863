// Where the values of an LMDB data base lie. Its library maps the file into memory and trusts what is there, so that a
// broken file ends the process; here pages are read, and everything that they say is checked. All numbers are as the
// machines that write such files have them: little-endian, of 64 bits.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "read/records.h"
#include "read/storage.h"

namespace ps {
namespace {

constexpr uint32_t kMagic = 0xbeefc0de, kVersion = 1;
constexpr size_t kHead = 16;                       // of a page, and of an overflow page before its value
constexpr size_t kMetaBytes = 136;
constexpr size_t kNodeHead = 8;
constexpr uint32_t kBranch = 1, kLeaf = 2, kMeta = 8;      // kinds of pages
constexpr uint32_t kBig = 1, kNamed = 2, kSeveral = 4;     // kinds of nodes
constexpr int kDeepest = 64;

using Page = std::vector<uint8_t>;

class Database {
 public:
  explicit Database(const char* path) : path_(path), file_(open_file(path)) {
    page_bytes_ = 4096;
    Meta best = meta(0);
    if (best.page_bytes < 512 || best.page_bytes > 65536 || (best.page_bytes & (best.page_bytes - 1)))
      refuse("its pages would have " + std::to_string(best.page_bytes) + " bytes");
    page_bytes_ = best.page_bytes;
    const Meta other = meta(1);                    // transactions are noted in turn on both
    if (other.transaction > best.transaction) best = other;
    entries_ = best.entries;
    root_ = best.root;
    pages_ = file_->bytes() / int64_t(page_bytes_);
  }

  RecordTable values() {
    if (root_ != UINT64_MAX) walk(root_, 0);
    if (found_.offsets.size() != entries_)
      refuse("it has " + std::to_string(found_.offsets.size()) + " values, but says that there are " +
             std::to_string(entries_));
    return std::move(found_);
  }

 private:
  struct Meta {
    uint64_t entries, root, transaction;
    size_t page_bytes;
  };

  Meta meta(int number) {
    const Page page = read(int64_t(number) * int64_t(page_bytes_), kHead + kMetaBytes);
    const uint8_t* at = page.data() + kHead;
    if (!(le16(page.data() + 10) & kMeta) || le32(at) != kMagic) refuse("its page " + std::to_string(number) +
                                                                        " is not the first of such a file");
    if (le32(at + 4) != kVersion) refuse("it is of version " + std::to_string(le32(at + 4)) + ", not 1");
    const uint8_t* base = at + 24 + 48;            // behind that of free pages
    return {le64(base + 32), le64(base + 40), le64(at + 24 + 96 + 8), le32(at + 24)};
  }

  void walk(uint64_t number, int depth) {
    if (++visited_ > pages_ || depth > kDeepest) refuse("its pages lead to each other in a circle");
    if (number < 2 || number >= uint64_t(pages_)) refuse_page(number, "lies behind the end of the file");
    const int64_t begin = int64_t(number) * int64_t(page_bytes_);
    const Page page = read(begin, page_bytes_);
    const uint32_t kind = le16(page.data() + 10) & 0x7f;
    if (le64(page.data()) != number || (kind != kBranch && kind != kLeaf)) refuse_page(number, "is no page of a tree");
    const size_t lower = le16(page.data() + 12);
    if (lower < kHead || lower > page_bytes_ || lower % 2) refuse_page(number, "has no list of nodes");
    for (size_t k = kHead; k < lower; k += 2) {
      const size_t node = le16(page.data() + k);
      if (node < lower || node + kNodeHead > page_bytes_) refuse_page(number, "has a node outside it");
      const uint8_t* at = page.data() + node;
      const size_t key = le16(at + 6), room = page_bytes_ - node - kNodeHead;
      if (key > room) refuse_page(number, "has a node outside it");
      if (kind == kBranch) walk(le32(at) | uint64_t(le16(at + 4)) << 32, depth + 1);
      else add(number, begin + int64_t(node), at, key, room - key);
    }
  }

  // The value of a node of a leaf, which begins at `place` in the file.
  void add(uint64_t number, int64_t place, const uint8_t* node, size_t key, size_t room) {
    const int64_t bytes = le32(node);
    const uint32_t kind = le16(node + 4);
    if (kind & (kNamed | kSeveral)) refuse_page(number, "has data bases within this one, or several values for a key");
    name(node + kNodeHead, key);
    if (!(kind & kBig)) {
      if (size_t(bytes) > room) refuse_page(number, "has a value outside it");
      found_.add(place + int64_t(kNodeHead + key), bytes);
      return;
    }
    if (room < 8) refuse_page(number, "has a node outside it");
    const uint64_t first = le64(node + kNodeHead + key);
    // Where there is no such page, nothing is read but an error: the file is too short.
    found_.add(int64_t(std::min(first, uint64_t(pages_)) * page_bytes_ + kHead), bytes);
  }

  // Keys may be any bytes: those that are not to be printed are written as C does.
  void name(const uint8_t* key, size_t bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes; i++) {
      if (key[i] >= 0x20 && key[i] < 0x7f && key[i] != '\\') found_.names += char(key[i]);
      else found_.names.append("\\x").append(1, digits[key[i] >> 4]).append(1, digits[key[i] & 15]);
    }
    found_.names += '\0';
  }

  Page read(int64_t at, size_t bytes) const {
    Page page(bytes);
    if (at + int64_t(bytes) > file_->bytes()) refuse("it ends after " + std::to_string(file_->bytes()) + " bytes");
    file_->read_all(at, page.data(), int64_t(bytes));
    return page;
  }

  [[noreturn]] void refuse_page(uint64_t number, const char* problem) const {
    refuse("its page " + std::to_string(number) + " " + problem);
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    fail(ErrorKind::read, "the file " + path_ + " is no LMDB data base, or a broken one: " + problem);
  }

  std::string path_;
  std::unique_ptr<StoredFile> file_;
  size_t page_bytes_ = 0;
  uint64_t entries_ = 0, root_ = 0;
  int64_t pages_ = 0, visited_ = 0;
  RecordTable found_;
};

}  // namespace

RecordTable scan_lmdb(const char* path) { return Database(path).values(); }

}  // namespace ps
