// Requests to object stores: readers ask here, and threads of Python's, which have the stores' client, answer.
//
// The two meet in one queue. A reader's thread never waits for Python's lock: it notes what it wants and sleeps until
// the bytes are there, which it then copies from where the client has them. The client's threads, one for each request
// that may be under way, wait here without that lock, too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ps {

// An object's size, and what tells its contents from those that it has at other times; fewer than 0 bytes: unknown.
struct Version {
  int64_t bytes = -1;
  uint64_t tag = 0;
  bool operator==(const Version&) const = default;
};

// Bytes of an object, or only its version. It is taken back when nobody holds it any more.
class Request {
 public:
  static constexpr int64_t kWhole = -1, kVersion = 0;
  enum class State { queued, given, done, failed };

  Request(std::string_view name, int64_t begin, int64_t bytes, int64_t id)
      : name(name), begin(begin), bytes(bytes), id(id) {}
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  const std::string name;
  const int64_t begin, bytes, id;
  bool has(int64_t at) const { return at >= begin && (bytes == kWhole || at < begin + bytes); }

  // From when it is done. There may be fewer bytes than were asked for, where the object ends.
  const uint8_t* data = nullptr;
  int64_t count = 0;
  Version version;

 private:
  friend class Requests;
  State state_ = State::queued;
  std::string error_;
  bool missing_ = false;                           // there is no such object
  std::condition_variable answered_;
};
using RequestRef = std::shared_ptr<Request>;

// Those of the process.
class Requests {
 public:
  static Requests& all();

  // Asks for bytes. One that is under way is taken again, where it has the same bytes.
  RequestRef ask(std::string_view name, int64_t begin, int64_t bytes);
  RequestRef find(std::string_view name, int64_t at);   // one that has this byte, under way or done; or null
  RequestRef find(std::string_view name);               // any of the object
  void wait(const RequestRef& request, const char* name);   // throws Error(read): why there is no answer

  // What is known of objects without asking.
  void note(std::string_view name, Version version);
  Version version(std::string_view name) const;

  // The side of the client.
  void open();
  void close();                                    // fails all that waits, and what is asked later
  bool is_closed() const;
  RequestRef take();                               // waits for one, the most urgent first; null: see to the released
                                                   // ones, or it is closed
  int64_t take_released();                         // one whose bytes nobody needs any more; -1: there is none
  // False: nobody wants it any more. The bytes stay where they are until the request is released.
  bool answer(int64_t id, const uint8_t* data, int64_t count, Version version);
  void refuse(int64_t id, std::string error, bool missing);

 private:
  friend class Request;
  struct Shared;
  Requests();
  void forget(Request& request);
  Shared& s_;                                      // never destroyed: threads may still wait while the process ends
};

uint64_t hash_of(std::string_view text, uint64_t seed = 0);

}  // namespace ps
