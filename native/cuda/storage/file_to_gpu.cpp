#include "cuda/storage/file_to_gpu.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "core/error.h"
#include "core/waiting.h"
#include "cuda/storage/cufile.h"
#include "cuda/storage/driver.h"

namespace ps::gpu {
namespace {

constexpr int64_t kPage = 4096;                     // of files and memory, for cuFile
constexpr int64_t kGpuPage = int64_t(1) << 16;      // what other devices can be shown of a GPU's memory
constexpr int64_t kLanding = int64_t(4) << 20;      // bytes that are read at a time into registered memory, or where
constexpr int64_t kOfBudget = 64;                   // memory is short a part of it
constexpr int kMostRefusals = 8;                    // running: cuFile takes its time to find out
constexpr int64_t kAtOnce = int64_t(1) << 26;       // into other memory: time limits are about a disk's answers

struct Refused {
  Misfit why;
};

// Reasons live as long as the process: there are no more of them than cuFile and the system have errors.
Misfit kept(const std::string& why) {
  static std::mutex mutex;
  static auto& known = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return known.insert(why).first->c_str();
}

[[noreturn]] void refuse(const std::string& why) { throw Refused{kept(why)}; }

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

}  // namespace

// The same file, opened once more for cuFile, as long as it is read.
class FileToGpu::Registered {
 public:
  Registered(const StoredFile& file, bool past_cache, std::map<dev_t, Refusals>& refusals)
      : name_(file.name()), bytes_(file.bytes()) {
    if (!use_.is_open()) throw Refused{"cuFile's driver is closed"};
    if (file.descriptor() < 0) throw Refused{"it is not a local file"};
    const Wait wait(name_);
    struct stat status{};
    fstat(file.descriptor(), &status);
    Refusals& refused = refusals[status.st_dev];
    if (refused.count >= kMostRefusals) throw Refused{refused.why};
    // By its name it might be another one by now.
    const std::string path = "/proc/self/fd/" + std::to_string(file.descriptor());
    do descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (past_cache ? O_DIRECT : 0));
    while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) {
      if (errno == EINVAL) throw Refused{"its file system does not open files with O_DIRECT"};
      refuse(std::string("it cannot be opened again: ") + std::strerror(errno));
    }
    cufile::Description description{};
    description.type = cufile::kDescriptor;
    description.descriptor = descriptor_;
    const int code = cufile::api().cuFileHandleRegister(&handle_, &description).code;
    refused.count = code == cufile::kOk ? 0 : refused.count + 1;
    if (code == cufile::kOk) return;
    ::close(descriptor_);
    refused.why = kept("cuFile does not take the file: " + cufile::meaning(code));
    throw Refused{refused.why};
  }
  ~Registered() {
    const Wait wait(name_);
    cufile::api().cuFileHandleDeregister(handle_);
    ::close(descriptor_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  int64_t bytes() const { return bytes_; }

  // At least `least` bytes, and no more than `most`.
  void read(int64_t at, void* to, int64_t least, int64_t most) const {
    for (int64_t done = 0; done < least;) {
      const ssize_t n = [&] {
        const Wait wait(name_);
        return cufile::api().cuFileRead(handle_, to, size_t(most - done), off_t(at + done), off_t(done));
      }();
      if (n == 0) throw Refused{"the file became shorter while it was read"};
      if (n == -1 && errno == EINTR) continue;
      if (n == -1) refuse(std::string("cuFile cannot read the file: ") + std::strerror(errno));
      if (n < 0) refuse("cuFile does not read the file: " + cufile::meaning(int(-n)));
      done += n;
    }
  }

 private:
  StorageDriver::Use use_;
  const char* name_;
  int64_t bytes_;
  int descriptor_ = -1;
  cufile::Handle handle_ = nullptr;
};

// Memory of the GPU that cuFile knows.
struct FileToGpu::Landing {
  explicit Landing(DeviceRef d) : device(d), bytes(bytes_for(int64_t(d->memory()->budget()))) {
    try {
      memory = device->memory()->take(size_t(bytes + kGpuPage));
    } catch (const Error&) {
      throw Refused{"there is no room in the GPU's memory for whole pages of files"};
    }
    const auto address = reinterpret_cast<uintptr_t>(memory->data());
    at = memory->data() + (uintptr_t(kGpuPage) - address % uintptr_t(kGpuPage)) % uintptr_t(kGpuPage);
    // Where that fails, whole pages still go there: they are what cuFile reads best.
    registered = use.is_open() && cufile::api().cuFileBufRegister(at, size_t(bytes), 0).code == cufile::kOk;
  }
  ~Landing() {
    if (!registered) return;
    try {
      const Current current(*device);
      cufile::api().cuFileBufDeregister(at);
    } catch (const Error&) {
      // The GPU has failed: there is nothing to be given back.
    }
  }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  static int64_t bytes_for(int64_t budget) {
    return budget ? std::clamp(budget / kOfBudget / kGpuPage * kGpuPage, kGpuPage, kLanding) : kLanding;
  }

  DeviceRef device;
  int64_t bytes;
  StorageDriver::Use use;
  BufferRef memory;
  uint8_t* at = nullptr;
  bool registered = false;
};

FileToGpu::FileToGpu(DeviceRef device, bool direct, bool register_buffers, bool past_cache)
    : device_(device), register_buffers_(register_buffers), past_cache_(past_cache || direct) {}

FileToGpu::~FileToGpu() = default;

const Stream& FileToGpu::stream() {
  if (!stream_) stream_ = std::make_unique<Stream>(device_, 0);
  return *stream_;
}

FileToGpu::Landing& FileToGpu::landing() {
  if (!landing_) landing_ = std::make_unique<Landing>(device_);
  return *landing_;
}

void FileToGpu::land(const Registered& file, int64_t at, uint8_t* to, int64_t bytes) {
  uint8_t* const landed = landing().at;
  const int64_t room = landing().bytes;
  for (const int64_t end = at + bytes; at < end;) {
    const int64_t begin = at / kPage * kPage;
    const int64_t part = std::min(end, begin + room) - at;       // that is wanted of what lands
    const int64_t most = std::min((at + part + kPage - 1) / kPage * kPage, std::max(file.bytes(), at + part)) - begin;
    file.read(begin, landed, at + part - begin, most);
    check(driver().cuMemcpyDtoDAsync_v2(address(to), address(landed + (at - begin)), size_t(part), stream()),
          "cuMemcpyDtoDAsync");
    check(driver().cuStreamSynchronize(stream()), "cuStreamSynchronize");
    at += part, to += part;
  }
}

Misfit FileToGpu::read(const StoredFile& file, int64_t at, void* to, int64_t bytes) {
  const Current current(*device_);
  try {
    const Registered registered(file, past_cache_, refusals_);
    if (register_buffers_) {
      land(registered, at, static_cast<uint8_t*>(to), bytes);
      return fits;
    }
    for (int64_t done = 0; done < bytes;) {
      const int64_t part = std::min(bytes - done, kAtOnce);
      registered.read(at + done, static_cast<uint8_t*>(to) + done, part, part);
      done += part;
    }
    return fits;
  } catch (const Refused& refused) {
    return refused.why;
  }
}

void FileToGpu::copy(const void* from, void* to, size_t bytes) {
  const Current current(*device_);
  check(driver().cuMemcpyHtoDAsync_v2(address(to), from, bytes, stream()), "cuMemcpyHtoDAsync");
  check(driver().cuStreamSynchronize(stream()), "cuStreamSynchronize");
}

}  // namespace ps::gpu
