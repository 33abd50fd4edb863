// Operators that come while the process runs: those of others' libraries.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/operator.h"

namespace ps {

using Maker = std::function<std::unique_ptr<Operator>(const Spec&)>;
// In place of what had this name before. From any thread.
void put_operator(const std::string& name, Maker make, Count inputs, Count outputs);

}  // namespace ps
