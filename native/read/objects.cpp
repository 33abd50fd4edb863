// Files in object stores, and those that web servers give: "s3://bucket/name", "https://host/name".
#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "read/object_cache.h"
#include "read/requests.h"
#include "read/storage.h"

namespace ps {
namespace {

constexpr int64_t kLeast = int64_t(1) << 16;       // bytes that are asked for at least, where nothing was foreseen
constexpr int64_t kPart = int64_t(4) << 20;        // of one request, where a file is gone through
constexpr int64_t kAhead = 4;                      // requests, where it is known that it is
constexpr int64_t kGap = int64_t(1) << 17;         // bytes that are passed over rather than to ask twice
constexpr int64_t kTogether = int64_t(8) << 20;    // of one request for several ranges

class Object : public StoredFile {
 public:
  explicit Object(const char* name) : StoredFile(name), cache_(ObjectCache::current()) { settle(); }
  int64_t bytes() const override { return version_.bytes; }

  int64_t read(int64_t at, void* to, int64_t most) override {
    most = std::min(most, version_.bytes - at);
    if (most <= 0) return 0;
    if (kept_) return copy(kept_->data, 0, kept_->count, at, to, most);
    if (const RequestRef found = requests_.find(name(), at)) {
      wait(found);
      if (cache_) keep(*found, at, most);
      return copy(found->data, found->begin, found->count, at, to, most);
    }
    if (cache_)
      if (const auto entry = cache_->load(name(), at, most, version_))
        return copy(entry->data, at, entry->count, at, to, most);
    return read_on(at, to, most);
  }

 private:
  // Finds the object's version out, from what was asked for already if there is something.
  void settle() {
    if (const RequestRef some = requests_.find(name())) {
      requests_.wait(some, name());
      version_ = some->version;
      const Version known = requests_.version(name());
      if (some->bytes == Request::kWhole || known.bytes < 0 || known == version_) return;
      refuse_file(name(), "was changed since its samples were counted", 0);
    }
    version_ = requests_.version(name());
    if (cache_ && (kept_ = cache_->load(name(), 0, Request::kWhole, version_))) version_ = kept_->version;
    if (version_.bytes >= 0) return;
    const RequestRef head = requests_.ask(name(), 0, Request::kVersion);
    requests_.wait(head, name());
    version_ = head->version;
    requests_.note(name(), version_);
  }

  void wait(const RequestRef& request) {
    requests_.wait(request, name());
    if (request->version != version_) refuse_file(name(), "was changed while it was read", 0);
  }

  int64_t copy(const uint8_t* data, int64_t begin, int64_t count, int64_t at, void* to, int64_t most) const {
    const int64_t n = std::min(most, begin + count - at);
    if (n > 0) std::memcpy(to, data + (at - begin), size_t(n));
    return n;
  }

  void keep(const Request& r, int64_t at, int64_t most) {
    const bool whole = r.bytes == Request::kWhole;
    if (whole && std::exchange(stored_, true)) return;
    if (whole) cache_->store(name(), 0, r.bytes, r.data, r.count, r.version);
    else if (at + most <= r.begin + r.count) cache_->store(name(), at, most, r.data + (at - r.begin), most, r.version);
  }

  // What nobody foresaw: more at a time, and ahead, where one place follows the other.
  int64_t read_on(int64_t at, void* to, int64_t most) {
    while (!coming_.empty() && !coming_.front()->has(at) && coming_.front()->begin < at) coming_.pop_front();
    if (coming_.empty() || !coming_.front()->has(at)) {
      const bool near = at >= end_ && at - end_ <= last_;
      last_ = near ? std::min(2 * last_, kPart) : kLeast;
      coming_.clear();
      end_ = at;
      ask(std::max(most, last_));
    } else if (const int64_t left = end_ - at - most; left < (last_ < kPart ? last_ / 2 : kAhead * kPart)) {
      last_ = std::min(2 * last_, kPart);
      ask(last_);
    }
    const RequestRef first = coming_.front();
    wait(first);
    return copy(first->data, first->begin, first->count, at, to, most);
  }

  void ask(int64_t bytes) {
    const int64_t end = std::min(end_ + bytes, version_.bytes);
    while (end_ < end) {
      const int64_t n = std::min(kPart, end - end_);
      coming_.push_back(requests_.ask(name(), end_, n));
      end_ += n;
    }
  }

  Requests& requests_ = Requests::all();
  std::shared_ptr<ObjectCache> cache_;
  Version version_;
  std::optional<ObjectCache::Entry> kept_;         // the whole object, from the disk
  bool stored_ = false;
  std::deque<RequestRef> coming_;                  // one behind the other, up to end_
  int64_t end_ = -1, last_ = kLeast;               // and how many bytes were asked for last
};

class Objects : public Storage {
 public:
  std::unique_ptr<StoredFile> open(const char* name) const override { return std::make_unique<Object>(name); }
  bool is_far() const override { return true; }
  void renew(const char* name) const override { Requests::all().note(name, {}); }

  void foresee(std::span<const ByteRange> ranges, Foreseen& kept) const override {
    const std::shared_ptr<ObjectCache> cache = ObjectCache::current();
    struct Wanted : ByteRange {
      size_t rank;                                 // of the first sample in it
    };
    std::vector<Wanted> all, together;
    for (size_t i = 0; i < ranges.size(); i++)
      if (const ByteRange& e = ranges[i]; e.bytes && !(cache && cache->has(e.name, e.begin, e.bytes)))
        all.push_back({e, i});
    std::stable_sort(all.begin(), all.end(), [](const Wanted& a, const Wanted& b) {
      return a.name != b.name ? std::less<>()(a.name, b.name) : a.begin < b.begin;
    });
    for (const Wanted& one : all) {
      if (!together.empty() && joins(together.back(), one)) {
        Wanted& last = together.back();
        if (last.bytes != Request::kWhole) last.bytes = std::max(last.bytes, one.begin + one.bytes - last.begin);
        last.rank = std::min(last.rank, one.rank);
      } else {
        together.push_back(one);
      }
    }
    std::sort(together.begin(), together.end(), [](const Wanted& a, const Wanted& b) { return a.rank < b.rank; });
    for (const Wanted& one : together) kept.push_back(Requests::all().ask(one.name, one.begin, one.bytes));
  }

 private:
  static bool joins(const ByteRange& first, const ByteRange& next) {
    if (first.name != next.name) return false;
    if (first.bytes == Request::kWhole) return true;
    if (next.bytes == Request::kWhole) return false;
    const int64_t end = first.begin + first.bytes;
    return next.begin <= end + kGap && next.begin + next.bytes - first.begin <= kTogether;
  }
};

[[maybe_unused]] const bool registered = [] {
  for (const char* scheme : {"s3", "gs", "az", "http", "https"})
    add_storage(scheme, []() -> std::unique_ptr<Storage> { return std::make_unique<Objects>(); });
  return true;
}();

}  // namespace
}  // namespace ps
