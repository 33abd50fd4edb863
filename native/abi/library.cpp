// The C ABI's part for operators of others' libraries.
#include "abi/guard.h"
#include "ops/custom/operators.h"
#include "penstock.h"

int ps_library_load(const char* path, int global_symbols, const penstock_operator* const** operators) {
  return ps::guarded([&] {
    const ps::custom::Table& table = ps::custom::load_library(path, global_symbols != 0);
    *operators = table.data();
    return int(table.size());
  });
}

int ps_library_take(const penstock_library* library, const penstock_operator* const** operators) {
  return ps::guarded([&] {
    const ps::custom::Table& table = ps::custom::take_library(library);
    *operators = table.data();
    return int(table.size());
  });
}

int ps_library_add(const penstock_operator* op, const char* kernel) {
  return ps::guarded([&] { ps::custom::add(*op, kernel); return 0; });
}
