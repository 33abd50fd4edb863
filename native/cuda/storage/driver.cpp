#include "cuda/storage/driver.h"

#include <mutex>
#include <optional>

#include "core/error.h"
#include "cuda/storage/cufile.h"

namespace ps::gpu {
namespace {

std::mutex mutex;                                  // guards what follows
std::optional<bool> direct;                        // none: it is not open
int uses = 0;

}  // namespace

bool StorageDriver::open() {
  std::lock_guard lock(mutex);
  if (direct) return *direct;
  driver();                                        // CUDA's, which cuFile is for
  const cufile::Api& api = cufile::api();
  if (const int code = api.cuFileDriverOpen().code; code != cufile::kOk)
    fail(ErrorKind::device, "cuFile's driver does not open: " + cufile::meaning(code));
  cufile::Properties found{};
  const bool known = api.cuFileDriverGetProperties(&found).code == cufile::kOk;
  direct = known && (found.major > 0 || (found.features & cufile::kPeerToPeer));
  return *direct;
}

void StorageDriver::close() {
  std::lock_guard lock(mutex);
  if (!direct || uses) return;
  cufile::api().cuFileDriverClose_v2();
  direct.reset();
}

StorageDriver::Use::Use() {
  std::lock_guard lock(mutex);
  open_ = direct.has_value();
  uses += open_;
}

StorageDriver::Use::~Use() {
  std::lock_guard lock(mutex);
  uses -= open_;
}

}  // namespace ps::gpu
