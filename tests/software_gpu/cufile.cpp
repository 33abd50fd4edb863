// cuFile as native/cuda/storage/cufile.h names it, for the software GPU. It is as strict as the real one, or more so: a
// driver that is closed, a handle that was deregistered and memory that is not the GPU's are found out, and no byte may
// be written beyond what was asked for. What it reads goes into the GPU's memory by a stream of its own.
//
// Of the environment: SOFTWARE_CUFILE_DIRECT=0 has neither nvidia-fs nor P2PDMA, SOFTWARE_CUFILE_CLOSED=5007 does not
// open its driver.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cuda/storage/cufile.h"

using namespace ps::gpu;
using namespace ps::gpu::cufile;

namespace {

enum Call { kOpen, kRegister, kBuffer, kRead };

std::mutex mutex;                                  // guards what follows
std::map<uintptr_t, int> files;                    // by handle: descriptors
std::map<uintptr_t, size_t> buffers;               // bytes, by address
std::set<int> descriptors;
uintptr_t last = 0;
int uses = 0;
std::atomic<int> opened, asked, registered, read_calls, whole_pages, most_files;
std::atomic<int> fails[4];                         // what the calls answer: 0: they work
std::atomic<int> short_reads;                      // bytes that one call reads at most; 0: any number
std::atomic<int> hangs;                            // milliseconds in which reads do not answer

int setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

Status status(int code) { return {code, 0}; }

bool in_device(const void* p) {
  int device = -1;
  const auto address = reinterpret_cast<CUdeviceptr>(p);
  return driver().cuPointerGetAttribute(&device, kPointerDevice, address) == 0 && device >= 0;
}

bool upload(void* to, const void* from, size_t bytes) {
  CUstream stream = nullptr;
  if (driver().cuStreamCreateWithPriority(&stream, kStreamNonBlocking, 0)) return false;
  const auto there = reinterpret_cast<CUdeviceptr>(to);
  const bool done = !driver().cuMemcpyHtoDAsync_v2(there, from, bytes, stream) &&
                    !driver().cuStreamSynchronize(stream);
  driver().cuStreamDestroy_v2(stream);
  return done;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

#define DECLARE(name, ...) std::type_identity_t<__VA_ARGS__> name;
PS_CUFILE_FUNCTIONS(DECLARE)
#undef DECLARE

// Of this library alone. What calls answer from now on: a code, or of reads minus an errno, too.
void software_cufile_fail(int call, int code) { fails[call] = code; }
void software_cufile_hang(int milliseconds) { hangs = milliseconds; }
void software_cufile_short(int bytes) { short_reads = bytes; }
// Uses of the driver, files and buffers that are registered now; files and reads so far; reads of whole pages into
// registered memory; the most files at a time; how often the driver was opened, and files were to be registered: as
// many of them as there is room for.
void software_cufile_counts(int* to, int room) {
  std::lock_guard lock(mutex);
  const int now[] = {uses, int(files.size()), int(buffers.size()), registered, read_calls, whole_pages, most_files,
                     opened, asked};
  std::copy_n(now, std::min<size_t>(size_t(room), std::size(now)), to);
}

Status cuFileDriverOpen() {
  if (const int code = setting("SOFTWARE_CUFILE_CLOSED", 0)) return status(code);
  std::lock_guard lock(mutex);
  uses++, opened++;
  return status(kOk);
}

Status cuFileDriverClose_v2() {
  std::lock_guard lock(mutex);
  if (uses == 0 || !files.empty() || !buffers.empty()) std::abort();   // something was left behind
  uses--;
  return status(kOk);
}

Status cuFileDriverGetProperties(Properties* to) {
  std::lock_guard lock(mutex);
  if (!uses) return status(5001);
  *to = {};
  to->major = setting("SOFTWARE_CUFILE_DIRECT", 1) ? 2 : 0;
  return status(kOk);
}

Status cuFileHandleRegister(Handle* handle, Description* of) {
  asked++;
  if (const int code = fails[kRegister]) return status(code);
  std::lock_guard lock(mutex);
  if (!uses) return status(5001);
  if (of->type != kDescriptor || of->operations || fcntl(of->descriptor, F_GETFD) < 0) return status(5022);
  if (!descriptors.insert(of->descriptor).second) return status(5028);
  last += 16;
  files[last] = of->descriptor;
  registered++;
  most_files = std::max(most_files.load(), int(files.size()));
  *handle = reinterpret_cast<Handle>(last);
  return status(kOk);
}

void cuFileHandleDeregister(Handle handle) {
  std::lock_guard lock(mutex);
  const auto found = files.find(reinterpret_cast<uintptr_t>(handle));
  if (found == files.end() || fcntl(found->second, F_GETFD) < 0) std::abort();   // closed before
  descriptors.erase(found->second);
  files.erase(found);
}

Status cuFileBufRegister(const void* at, size_t bytes, int flags) {
  if (const int code = fails[kBuffer]) return status(code);
  if (!bytes || flags || !in_device(at)) return status(5022);
  std::lock_guard lock(mutex);
  if (!uses) return status(5001);
  return status(buffers.emplace(reinterpret_cast<uintptr_t>(at), bytes).second ? kOk : 5023);
}

Status cuFileBufDeregister(const void* at) {
  std::lock_guard lock(mutex);
  if (!in_device(at)) std::abort();                // freed before
  return status(buffers.erase(reinterpret_cast<uintptr_t>(at)) ? kOk : 5024);
}

ssize_t cuFileRead(Handle handle, void* base, size_t bytes, off_t at, off_t offset) {
  if (const int code = fails[kRead]) {
    errno = -code;
    return code < 0 ? -1 : -code;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(hangs));
  int descriptor = -1;
  {
    std::lock_guard lock(mutex);
    const auto found = files.find(reinterpret_cast<uintptr_t>(handle));
    if (!uses || found == files.end()) return -5027;
    descriptor = found->second;
    const auto buffer = buffers.find(reinterpret_cast<uintptr_t>(base));
    if (buffer != buffers.end()) {
      if (size_t(offset) + bytes > buffer->second) return -5017;
      if (at % 4096 == 0 && offset % 4096 == 0) whole_pages++;
    }
  }
  read_calls++;
  if (!in_device(base)) return -5012;
  const int reopened = open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDONLY | O_CLOEXEC);
  if (reopened < 0) return -1;
  std::vector<char> here(short_reads ? std::min(bytes, size_t(short_reads)) : bytes);
  const ssize_t n = pread(reopened, here.data(), here.size(), at);   // without O_DIRECT, which memory here is not for
  close(reopened);
  if (n <= 0) return n;
  return upload(static_cast<char*>(base) + offset, here.data(), size_t(n)) ? n : -5014;
}

}  // extern "C"
#pragma GCC visibility pop
