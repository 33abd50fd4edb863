#include "read/requests.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/waiting.h"
#include "read/storage.h"

namespace ps {

struct Requests::Shared {
  mutable std::mutex mutex;
  std::condition_variable work;                    // for the client
  pid_t process = 0;                               // that the client is of; 0: there is none
  bool closed = false;
  int64_t next_id = 0;
  std::map<std::string, std::multimap<int64_t, std::weak_ptr<Request>>, std::less<>> live;   // by object and beginning
  std::deque<std::weak_ptr<Request>> urgent, queued;
  std::unordered_map<int64_t, std::weak_ptr<Request>> given;
  std::deque<int64_t> released;
  std::unordered_map<uint64_t, Version> versions;  // by the hash of the name: there may be millions
};

namespace {

constexpr const char* kForked =
    "cannot be read: this process was forked from one that reads from object stores: start it by spawn or forkserver";
constexpr const char* kNoClient = "cannot be read: nothing in this process reads from object stores";
constexpr std::chrono::milliseconds kLook{50};     // how soon who waits sees that nobody wants the answer
constexpr const char* kClosed = "cannot be read: the process is ending";

}  // namespace

uint64_t hash_of(std::string_view text, uint64_t seed) {
  uint64_t h = 0x9e3779b97f4a7c15 ^ seed;          // FNV-1a, whose bits are mixed at the end
  for (const char c : text) h = (h ^ uint8_t(c)) * 0x100000001b3;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93;
  return h ^ (h >> 32);
}

Requests& Requests::all() {
  static Requests& one = *new Requests;
  return one;
}

Requests::Requests() : s_(*new Shared) {}

Request::~Request() { Requests::all().forget(*this); }

void Requests::forget(Request& request) {
  std::lock_guard lock(s_.mutex);
  if (const auto object = s_.live.find(request.name); object != s_.live.end()) {
    std::erase_if(object->second, [](const auto& one) { return one.second.expired(); });
    if (object->second.empty()) s_.live.erase(object);
  }
  if (request.state_ == Request::State::queued || !s_.given.erase(request.id)) return;
  s_.released.push_back(request.id);
  if (s_.released.size() == 1) s_.work.notify_one();
}

RequestRef Requests::ask(std::string_view name, int64_t begin, int64_t bytes) {
  std::vector<RequestRef> looked_at;               // let go of without the lock, which a request's end takes
  std::lock_guard lock(s_.mutex);
  auto object = s_.live.find(name);
  if (object == s_.live.end()) object = s_.live.emplace(name, std::multimap<int64_t, std::weak_ptr<Request>>()).first;
  const auto [first, last] = object->second.equal_range(begin);
  for (auto one = first; one != last; ++one) {
    RequestRef same = one->second.lock();
    if (same && same->bytes == bytes && same->state_ != Request::State::failed) return same;
    looked_at.push_back(std::move(same));
  }
  auto made = std::make_shared<Request>(name, begin, bytes, s_.next_id++);
  object->second.emplace(begin, made);
  if (s_.closed || s_.process != ::getpid()) {
    made->state_ = Request::State::failed;
    made->error_ = !s_.process ? kNoClient : s_.closed ? kClosed : kForked;
    return made;
  }
  s_.queued.push_back(made);
  s_.work.notify_one();
  return made;
}

RequestRef Requests::find(std::string_view name, int64_t at) {
  std::vector<RequestRef> looked_at;
  std::lock_guard lock(s_.mutex);
  const auto object = s_.live.find(name);
  if (object == s_.live.end()) return nullptr;
  for (auto one = object->second.upper_bound(at); one != object->second.begin();) {
    RequestRef found = (--one)->second.lock();
    if (found && found->has(at)) return found;
    looked_at.push_back(std::move(found));
  }
  return nullptr;
}

RequestRef Requests::find(std::string_view name) {
  std::vector<RequestRef> looked_at;
  std::lock_guard lock(s_.mutex);
  const auto object = s_.live.find(name);
  if (object == s_.live.end()) return nullptr;
  for (const auto& [begin, one] : object->second) {
    RequestRef found = one.lock();
    if (found && found->state_ != Request::State::failed) return found;
    looked_at.push_back(std::move(found));
  }
  return nullptr;
}

void Requests::wait(const RequestRef& request, const char* name) {
  const Wait wait(name);
  std::unique_lock lock(s_.mutex);
  Request& r = *request;
  if (r.state_ == Request::State::queued)
    s_.urgent.push_back(request);                  // somebody waits for it: it goes before what is only foreseen
  const auto answered = [&] { return r.state_ >= Request::State::done; };
  while (!r.answered_.wait_for(lock, kLook, answered)) {
    const std::atomic<bool>* cancelled = waiting().cancelled;
    if (!cancelled || !*cancelled) continue;
    lock.unlock();
    fail(ErrorKind::read, std::string("the file ") + name + " is not wanted any more");
  }
  if (r.state_ == Request::State::done) return;
  const std::string error = r.error_;
  const bool missing = r.missing_;
  lock.unlock();
  if (missing) refuse_file(name, "cannot be opened", ENOENT);
  refuse_file(name, error.c_str(), 0);
}

void Requests::note(std::string_view name, Version version) {
  std::lock_guard lock(s_.mutex);
  s_.versions[hash_of(name)] = version;
}

Version Requests::version(std::string_view name) const {
  std::lock_guard lock(s_.mutex);
  const auto found = s_.versions.find(hash_of(name));
  return found == s_.versions.end() ? Version{} : found->second;
}

void Requests::open() {
  std::lock_guard lock(s_.mutex);
  if (!s_.process) s_.process = ::getpid();
  s_.closed = false;
}

bool Requests::is_closed() const {
  std::lock_guard lock(s_.mutex);
  return s_.closed;
}

void Requests::close() {
  std::vector<RequestRef> looked_at;
  std::lock_guard lock(s_.mutex);
  s_.closed = true;
  s_.work.notify_all();
  for (auto& [name, requests] : s_.live)
    for (auto& [begin, one] : requests) {
      RequestRef& r = looked_at.emplace_back(one.lock());
      if (!r || r->state_ >= Request::State::done) continue;
      r->state_ = Request::State::failed;
      r->error_ = kClosed;
      r->answered_.notify_all();
    }
}

RequestRef Requests::take() {
  std::vector<RequestRef> looked_at;
  std::unique_lock lock(s_.mutex);
  while (true) {
    for (auto* queue : {&s_.urgent, &s_.queued})
      while (!queue->empty()) {
        RequestRef next = queue->front().lock();
        queue->pop_front();
        if (next && next->state_ == Request::State::queued) {
          next->state_ = Request::State::given;
          s_.given[next->id] = next;
          return next;
        }
        looked_at.push_back(std::move(next));
      }
    if (!looked_at.empty()) {                      // their end takes the lock
      lock.unlock();
      looked_at.clear();
      lock.lock();
      continue;
    }
    if (s_.closed || !s_.released.empty()) return nullptr;
    s_.work.wait(lock);
  }
}

int64_t Requests::take_released() {
  std::lock_guard lock(s_.mutex);
  if (s_.released.empty()) return -1;
  const int64_t id = s_.released.front();
  s_.released.pop_front();
  return id;
}

bool Requests::answer(int64_t id, const uint8_t* data, int64_t count, Version version) {
  RequestRef r;
  std::lock_guard lock(s_.mutex);
  const auto found = s_.given.find(id);
  if (found == s_.given.end() || !(r = found->second.lock()) || r->state_ != Request::State::given) return false;
  r->data = data;
  r->count = count;
  r->version = version;
  r->state_ = Request::State::done;
  r->answered_.notify_all();
  return true;
}

void Requests::refuse(int64_t id, std::string error, bool missing) {
  RequestRef r;
  std::lock_guard lock(s_.mutex);
  const auto found = s_.given.find(id);
  if (found == s_.given.end() || !(r = found->second.lock()) || r->state_ != Request::State::given) return;
  r->error_ = std::move(error);
  r->missing_ = missing;
  r->state_ = Request::State::failed;
  r->answered_.notify_all();
}

}  // namespace ps
