// Operators of others' libraries (include/penstock/operator.h) as classes of the engine's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/operator.h"
#include "include/penstock/operator.h"

namespace ps::custom {

using Table = std::vector<const penstock_operator*>;

// Loads a library for as long as the process lives, and checks its table. What the table leaves out, since it is older,
// is 0 in the operators here, which stay. Throws an Error that says what is wrong.
const Table& load_library(const std::string& path, bool global_symbols);
// The same of a table that is in memory already.
const Table& take_library(const penstock_library* given);
// So that plans have the operator by this name. It must be of a table that load_library() gave.
void add(const penstock_operator& op, const std::string& name);

std::unique_ptr<Operator> make_general(const penstock_operator& op, const Spec& spec);
std::unique_ptr<Operator> make_pixel(const penstock_operator& op, const Spec& spec);
std::unique_ptr<Operator> make_sampler(const penstock_operator& op, const Spec& spec);

}  // namespace ps::custom
