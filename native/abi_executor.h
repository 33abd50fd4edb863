// An executor across the C ABI.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock.h"
#include "run/executor.h"

struct ps_executor {
  std::shared_ptr<ps::Executor> executor;
  std::vector<std::pair<int, ps::FedRef>> fed;   // for the iteration to come
  std::vector<std::string> sources;
};
