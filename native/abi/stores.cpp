// The C ABI of those who answer requests to object stores.
#include "abi/guard.h"
#include "penstock.h"
#include "read/object_cache.h"
#include "read/requests.h"
#include "read/storage.h"

using namespace ps;

struct ps_contents {
  std::vector<uint8_t> bytes;
};

namespace {

Version version_of(int64_t bytes, const char* tag) {
  return {bytes, bytes < 0 ? 0 : hash_of(std::string(tag ? tag : "") + '\n' + std::to_string(bytes))};
}

}  // namespace

int ps_stores_open(void) {
  return guarded([] { Requests::all().open(); return 0; });
}

void ps_stores_close(void) { Requests::all().close(); }

int ps_stores_cache(const char* folder, int64_t bytes) {
  return guarded([&] { ObjectCache::use(folder ? folder : "", bytes); return 0; });
}

int ps_stores_take(ps_request* to) {
  return guarded([&] {
    thread_local RequestRef taken;                 // its name is looked at until the next call
    taken.reset();
    taken = Requests::all().take();
    if (!taken) return Requests::all().is_closed() ? -1 : 0;
    *to = {taken->id, taken->begin, taken->bytes, taken->name.c_str()};
    return 1;
  });
}

int64_t ps_stores_released(void) { return Requests::all().take_released(); }

int ps_stores_answer(int64_t id, const void* data, int64_t count, int64_t bytes, const char* tag) {
  return Requests::all().answer(id, static_cast<const uint8_t*>(data), count, version_of(bytes, tag));
}

void ps_stores_refuse(int64_t id, const char* error, int missing) {
  Requests::all().refuse(id, error, missing != 0);
}

void ps_stores_note(const char* name, int64_t bytes, const char* tag) {
  Requests::all().note(name, version_of(bytes, tag));
}

ps_contents* ps_contents_read(const char* name, const void** data, int64_t* bytes) {
  std::unique_ptr<ps_contents> read = std::make_unique<ps_contents>();
  const int state = guarded([&] {
    storage_of(name).renew(name);
    const std::unique_ptr<StoredFile> file = open_file(name);
    read->bytes.resize(size_t(file->bytes()));
    file->read_all(0, read->bytes.data(), file->bytes());
    return 0;
  });
  if (state < 0) return nullptr;
  *data = read->bytes.data();
  *bytes = int64_t(read->bytes.size());
  return read.release();
}

void ps_contents_destroy(ps_contents* contents) { delete contents; }
