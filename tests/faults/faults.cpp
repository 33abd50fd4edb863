// A disk and a system that fail on demand. Preloaded, its functions stand before those of the C library; the process
// steers them through the faults_*() functions at the end (tests/faults/steering.py).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum What : int { none, open_fails, open_blocks, read_fails, read_blocks, reads_are_short, size_is };

// One rule at a time is all that a test needs. Never destroyed: threads may be blocked while the process ends.
struct Rule {
  std::mutex mutex;
  std::string suffix;                     // of the file's name
  What what = none;
  long value = 0;                         // errno, or bytes
  long after = 0, times = 0;              // calls to let pass before, and to harm; -1: all
};
Rule& rule() {
  static Rule& one = *new Rule;
  return one;
}
std::atomic<bool> active{false}, blocking{false};
std::atomic<int> blocked{0};
std::atomic<size_t> refused_bytes{0};     // requests of at least so many are refused; 0: none
std::atomic<long> granted{0};             // of these, so many first are not
std::atomic<int> refusals{0};

// Whether this call is to be harmed, and how.
bool harms(std::string_view file, What a, What b, What& what, long& value) {
  if (!active) return false;
  std::lock_guard lock(rule().mutex);
  Rule& r = rule();
  if ((r.what != a && r.what != b) || !file.ends_with(r.suffix)) return false;
  if (r.after > 0) return r.after--, false;
  if (r.times == 0) return false;
  r.times -= r.times > 0;
  what = r.what;
  value = r.value;
  return true;
}

std::string name_of(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path);
  return n < 0 ? std::string() : std::string(path, size_t(n));
}

void block() {
  blocked++;
  const timespec moment{0, 1'000'000};
  while (blocking) nanosleep(&moment, nullptr);
  blocked--;
}

bool refuses(size_t bytes) {
  const size_t least = refused_bytes;
  if (!least || bytes < least || granted.fetch_sub(1) > 0) return false;
  refusals++;
  errno = ENOMEM;
  return true;
}

int open_file(int folder, const char* path, int flags, mode_t mode) {
  What what = none;
  long value = 0;
  if (harms(path, open_fails, open_blocks, what, value)) {
    if (what == open_fails) return errno = int(value), -1;
    block();
  }
  return int(syscall(SYS_openat, folder, path, flags, mode));
}

// The bytes that may be read; -1: none, with errno.
ssize_t before_reading(int fd, size_t bytes) {
  What what = none;
  long value = 0;
  if (!active) return ssize_t(bytes);
  const std::string file = name_of(fd);
  if (harms(file, read_fails, read_blocks, what, value)) {
    if (what == read_fails) return errno = int(value), -1;
    block();
  } else if (harms(file, reads_are_short, none, what, value)) {
    return ssize_t(std::min(bytes, size_t(value)));
  }
  return ssize_t(bytes);
}

void after_stat(int fd, off_t& size) {
  What what = none;
  long value = 0;
  if (active && harms(name_of(fd), size_is, none, what, value)) size = value;
}

template <class F> F* next(const char* name) { return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name)); }

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return open_file(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return open_file(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  return open_file(folder, path, flags, mode);
}

ssize_t read(int fd, void* to, size_t bytes) {
  const ssize_t n = before_reading(fd, bytes);
  return n < 0 ? n : syscall(SYS_read, fd, to, n);
}
ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  const ssize_t n = before_reading(fd, bytes);
  return n < 0 ? n : syscall(SYS_pread64, fd, to, n, at);
}
ssize_t pread64(int fd, void* to, size_t bytes, off64_t at) { return pread(fd, to, bytes, at); }

int fstat(int fd, struct stat* info) noexcept {
  static auto* const real = next<int(int, struct stat*)>("fstat");
  const int rc = real(fd, info);
  if (!rc) after_stat(fd, info->st_size);
  return rc;
}
int fstat64(int fd, struct stat64* info) noexcept {
  static auto* const real = next<int(int, struct stat64*)>("fstat64");
  const int rc = real(fd, info);
  if (!rc) after_stat(fd, info->st_size);
  return rc;
}

void* malloc(size_t bytes) noexcept { return refuses(bytes) ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) noexcept { return refuses(n * bytes) ? nullptr : __libc_calloc(n, bytes); }
void* realloc(void* p, size_t bytes) noexcept { return refuses(bytes) ? nullptr : __libc_realloc(p, bytes); }
int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
  *p = refuses(bytes) ? nullptr : __libc_memalign(alignment, bytes);
  return *p ? 0 : ENOMEM;
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if ((flags & MAP_ANONYMOUS) && refuses(bytes)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

// Steering.
void faults_file(const char* suffix, int what, long value, long after, long times) {
  std::lock_guard lock(rule().mutex);
  rule().suffix = suffix;
  rule().what = What(what);
  rule().value = value;
  rule().after = after;
  rule().times = times;
  blocking = what == open_blocks || what == read_blocks;
  active = what != none;
}
void faults_unblock() { blocking = false; }
int faults_blocked() { return blocked; }
void faults_memory(size_t bytes, long after) {
  granted = after;
  refused_bytes = bytes;
}
int faults_refusals() { return refusals; }

}
