// The table that a library of operators exports, made of C++ classes: the second half of operator.hpp.
#pragma once

#include "penstock/operator.hpp"

// Nothing here is seen outside of the library: two may have classes of one name.
#pragma GCC visibility push(hidden)

// A struct that is compiled twice, by this compiler and by the GPU's: PENSTOCK_SHARED(Tone, struct Tone { ... };). It
// uses nothing but itself and functions such as sqrtf, and has no preprocessor's lines in it. Its functions are
// PENSTOCK_FN.
#if defined(__CUDACC__)
#define PENSTOCK_FN __host__ __device__ inline
#else
#define PENSTOCK_FN inline
#endif
#define PENSTOCK_SHARED(Name, ...) \
  __VA_ARGS__                      \
  __attribute__((visibility("hidden"))) inline const char* penstock_source_of(const Name*) { return #__VA_ARGS__; } \
  __attribute__((visibility("hidden"))) inline const char* penstock_name_of(const Name*) { return #Name; }

// What the library exports: PENSTOCK_OPERATORS(Roll, Sepia), once.
#define PENSTOCK_OPERATORS(...) \
  extern "C" PENSTOCK_EXPORT const penstock_library* penstock_operators(void) {  \
    return ::penstock::library<__VA_ARGS__>();                                    \
  }

namespace penstock {
namespace detail {

template <class F> int guarded(penstock_error* error, F f) noexcept {
  const auto tell = [&](const char* text, int result, int sample = -1) {
    error->sample = sample;
    const size_t n = std::min(std::strlen(text), sizeof error->text - 1);
    std::memcpy(error->text, text, n);
    error->text[n] = 0;
    return result;
  };
  try {
    f();
    return PENSTOCK_OK;
  } catch (const SampleError& e) {
    return tell(e.what(), PENSTOCK_FAILED, e.sample);
  } catch (const std::invalid_argument& e) {
    return tell(e.what(), PENSTOCK_WRONG_INPUT);
  } catch (const std::bad_alloc&) {
    return tell("the system refused memory", PENSTOCK_NO_MEMORY);
  } catch (const std::exception& e) {
    return tell(e.what(), PENSTOCK_FAILED);
  } catch (...) {
    return tell("it threw what is no std::exception", PENSTOCK_FAILED);
  }
}

// Which of the functions a class has.
template <class T, class = void> struct HasRun : std::false_type {};
template <class T> struct HasRun<T, std::void_t<decltype(&T::run)>> : std::true_type {};
template <class T, class = void> struct HasRunGpu : std::false_type {};
template <class T> struct HasRunGpu<T, std::void_t<decltype(&T::run_gpu)>> : std::true_type {};
template <class T, class = void> struct IsPixel : std::false_type {};
template <class T> struct IsPixel<T, std::void_t<typename T::Functor>> : std::true_type {};
template <class T, class = void> struct IsSampler : std::false_type {};
template <class T> struct IsSampler<T, std::void_t<decltype(T::moves)>> : std::bool_constant<T::moves> {};
template <class F, class = void> struct IsShared : std::false_type {};
template <class F> struct IsShared<F, std::void_t<decltype(penstock_source_of(static_cast<const F*>(nullptr)))>>
    : std::true_type {};
template <class T, class = void> struct Channels { static constexpr int value = 0; };
template <class T> struct Channels<T, std::void_t<decltype(T::channels)>> { static constexpr int value = T::channels; };

template <class T> const T& self_of(void* self) { return *static_cast<const T*>(self); }

template <class T> int create(const penstock_value* const* arguments, int32_t n, void** self, penstock_error* error) {
  return guarded(error, [&] {
    if constexpr (std::is_constructible_v<T, const Arguments&>) *self = new T(Arguments(arguments, n));
    else *self = new T();
  });
}
template <class T> void destroy(void* self) { delete static_cast<T*>(self); }

template <class T> int setup(void* self, const penstock_sample* s, penstock_error* error) {
  return guarded(error, [&] {
    if constexpr (IsPixel<T>::value) {
      const typename T::Functor functor = self_of<T>(self).functor(Sample(*s));
      std::memcpy(s->params, &functor, sizeof functor);
    } else {
      self_of<T>(self).setup(Sample(*s));
    }
  });
}
template <class T> int run(void* self, const penstock_sample* s, penstock_error* error) {
  return guarded(error, [&] { self_of<T>(self).run(Sample(*s)); });
}
template <class T> int run_gpu(void* self, const penstock_batch* b, penstock_error* error) {
  return guarded(error, [&] { self_of<T>(self).run_gpu(Batch(*b)); });
}
template <class T> void row(const void* params, const float* __restrict from, float* __restrict to, int64_t n) {
  using F = typename T::Functor;
  constexpr int channels = Channels<T>::value;
  F functor;
  std::memcpy(static_cast<void*>(&functor), params, sizeof functor);
  if constexpr (channels == 0)
    for (int64_t i = 0; i < n; i++) to[i] = functor(from[i]);
  else
    for (int64_t i = 0; i < n; i++) {
      float in[channels], out[channels];             // in registers, so that compilers vectorise over pixels
      for (int k = 0; k < channels; k++) in[k] = from[i * channels + k];
      functor(static_cast<const float*>(in), out);
      for (int k = 0; k < channels; k++) to[i * channels + k] = out[k];
    }
}

template <class T>
void positions(const void* params, int64_t x, int64_t y, int64_t n, float* __restrict from_x,
               float* __restrict from_y) {
  typename T::Functor functor;
  std::memcpy(static_cast<void*>(&functor), params, sizeof functor);
  const float row = float(y) + 0.5f;
  for (int64_t i = 0; i < n; i++) {
    const float column = float(x + i) + 0.5f;
    float to_x = column, to_y = row;
    functor(column, row, to_x, to_y);
    from_x[i] = to_x, from_y[i] = to_y;
  }
}

template <class T> penstock_operator* make() {
  static Declaration declaration = T::declare();
  static penstock_operator op = declaration.c_struct();
  op.create = create<T>;
  op.destroy = destroy<T>;
  op.setup = setup<T>;
  if constexpr (IsPixel<T>::value) {
    using F = typename T::Functor;
    static_assert(std::is_trivially_copyable_v<F> && std::is_default_constructible_v<F>, "a functor is numbers alone");
    op.params_bytes = sizeof(F);
    op.params_align = alignof(F);
    if constexpr (IsSampler<T>::value) {
      op.kind = PENSTOCK_SAMPLER;
      op.positions = positions<T>;
    } else {
      op.kind = PENSTOCK_PIXEL;
      op.channels = Channels<T>::value;
      op.row = row<T>;
    }
    if constexpr (IsShared<F>::value) {
      op.device_source = penstock_source_of(static_cast<const F*>(nullptr));
      op.device_type = penstock_name_of(static_cast<const F*>(nullptr));
    }
  } else {
    op.kind = PENSTOCK_GENERAL;
    if constexpr (HasRun<T>::value) op.run = run<T>;
    if constexpr (HasRunGpu<T>::value) op.run_gpu = run_gpu<T>;
  }
  return &op;
}

}  // namespace detail

template <class... Ts> const penstock_library* library() {
  static const penstock_operator* const operators[] = {detail::make<Ts>()...};
  static const penstock_library table = {PENSTOCK_OPERATOR_ABI, sizeof(penstock_library), int32_t(sizeof...(Ts)), 0,
                                         operators};
  return &table;
}

}  // namespace penstock

#pragma GCC visibility pop
