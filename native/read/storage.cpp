#include "read/storage.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "core/error.h"

namespace ps {
namespace {

using Storages = std::map<std::string, std::unique_ptr<Storage>, std::less<>>;

// Never destroyed: threads that wait for a file may come back while the process ends.
Storages& storages() {
  static Storages& all = *new Storages;
  return all;
}

}  // namespace

void StoredFile::read_all(int64_t at, void* to, int64_t bytes) {
  auto* next = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const int64_t n = read(at, next, bytes);
    if (n <= 0) refuse_file(name_, "became shorter while it was read", 0);
    at += n, next += n, bytes -= n;
  }
}

bool add_storage(const char* scheme, StorageFactory make) { return storages().emplace(scheme, make()).second; }

std::string_view scheme_of(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
  const size_t end = name.find_first_not_of(letters);
  const bool found = end != name.npos && end > 0 && name.substr(end).starts_with("://");
  return found ? name.substr(0, end) : std::string_view();
}

const Storage* find_storage(std::string_view name) {
  const auto found = storages().find(scheme_of(name));
  return found == storages().end() ? nullptr : found->second.get();
}

const Storage& storage_of(std::string_view name) {
  if (const Storage* found = find_storage(name)) return *found;
  const std::string_view scheme = scheme_of(name);
  std::string known;
  for (const auto& [other, storage] : storages())
    if (!other.empty()) known += ", " + other + "://";
  fail(ErrorKind::argument, "the file " + std::string(name) + ": there is no storage for names that begin with " +
       std::string(scheme) + "://; there are: local files" + known);
}

void refuse_file(const char* name, const char* what, int error) {
  const std::string text = std::string("the file ") + name + " " + what;
  const bool shortage = error == EMFILE || error == ENFILE || error == ENOMEM;   // another file would fare no better
  fail(shortage ? ErrorKind::system : ErrorKind::read, error ? text + ": " + std::strerror(error) : text);
}

}  // namespace ps
