// Arguments with one or several numbers.
#include "core/operator.h"

#include <type_traits>

namespace ps {

namespace {

[[noreturn]] void fail_several(const std::string& argument, int64_t n) {
  fail(ErrorKind::argument, argument + " has " + std::to_string(n) + " values: expected 1");
}

}  // namespace

void fail_missing(const std::string& argument, int64_t i) {
  const std::string which = i > 0 ? "value " + std::to_string(i) + " of it" : "it";
  fail(ErrorKind::argument, "the argument '" + argument + "' is needed, but " + which + " is not given");
}

template <class T>
Arg<T>::Arg(std::string_view name, const ArgValue* v) : name_(name), given_(v != nullptr) {
  if (!v) return;
  input_ = v->input;
  if (v->integers.size() == v->numbers.size())
    for (int64_t x : v->integers) constant_.push_back(T(x));
  else
    for (double x : v->numbers) constant_.push_back(T(x));
}

template <class T> T Arg<T>::get(const Context& c) const {
  if (size(c) > 1) fail_several(name_, size(c));
  return get(c, 0);
}

template <class T> T Arg<T>::get(const Context& c, int64_t i) const {
  if (input_ < 0) {
    if (size_t(i) >= constant_.size()) [[unlikely]] fail_missing(name_, i);
    return constant_[size_t(i)];
  }
  if (!c.args || i < 0 || i >= size(c)) [[unlikely]] fail_missing(name_, i);
  if constexpr (std::is_integral_v<T>) return T(element_i64(*c.args[input_], i, name_));
  else return T(element(*c.args[input_], i, name_));
}

template <class T> void Arg<T>::list(const Context& c, int64_t n, T* to) const {
  const int64_t have = size(c);
  if (have != 1 && have != n)
    fail(ErrorKind::argument, "expected 1 or " + std::to_string(n) + " values, got " + std::to_string(have));
  for (int64_t i = 0; i < n; i++) to[i] = get(c, have == 1 ? 0 : i);
}

template class Arg<bool>;
template class Arg<int>;
template class Arg<int64_t>;
template class Arg<float>;
template class Arg<double>;

}  // namespace ps
