// Elements reduced to one: what becomes of each (a fold), how two results become one, and what is made of the last.
// A block reduces a piece of the elements that make some neighbouring outputs; a second kernel joins the pieces. Which
// elements are joined in which order does not depend on the number of threads.
#pragma once

#include "device/base/divisor.h"
#include "device/base/truncate.h"
#include "device/tensor/functions.h"

namespace ps::device {

enum class Reduction : int32_t { sum, mean, mean_square, rms, min, max, variance, std_dev };

// Integers are summed up exactly (modulo 2^64), others as doubles.
template <class T, bool real = is_real<T>> struct SumType { using type = double; };
template <class T> struct SumType<T, false> { using type = either<is_signed<T>, int64_t, uint64_t>; };
template <class T> using sum_type = typename SumType<T>::type;

// Each fold has a type of results, the term that an element gives, and says how to join. The caller chooses the type
// of the terms: a smaller one than Result where that is known to suffice.
struct AddFold {
  static constexpr bool kExtreme = false;
  template <class A> PS_FN static A none() { return A(0); }
  template <class A> PS_FN static A join(A a, A b) { return Add::of(a, b); }
};
template <class T> struct SumFold : AddFold {
  using Result = sum_type<T>;
  template <class A> PS_FN static A term(T x, double) { return convert<A>(x); }
};
template <class T> struct SquareFold : AddFold {
  using Result = either<(sizeof(T) <= 2), sum_type<T>, double>;
  template <class A> PS_FN static A term(T x, double) {
    const A v = convert<A>(x);
    return Mul::of(v, v);
  }
};
template <class T> struct DeviationFold : AddFold {    // from a mean, squared
  using Result = double;
  template <class A> PS_FN static A term(T x, double mean) {
    const double v = convert<double>(x) - mean;
    return v * v;
  }
};
// Not-a-number is ignored unless all elements are. Without elements, the result is what any number replaces.
template <class T> struct MinFold {
  static constexpr bool kExtreme = true;
  using Result = either<is_same<T, half>, float, T>;
  template <class A> PS_FN static A none() {
    if constexpr (is_real<A>) return A(1) / A(0);
    else return Limits<A>::max;
  }
  template <class A> PS_FN static A join(A a, A b) { return b < a ? b : a; }
  template <class A> PS_FN static A term(T x, double) { return convert<A>(x); }
};
template <class T> struct MaxFold {
  static constexpr bool kExtreme = true;
  using Result = either<is_same<T, half>, float, T>;
  template <class A> PS_FN static A none() {
    if constexpr (is_real<A>) return A(-1) / A(0);
    else return Limits<A>::min;
  }
  template <class A> PS_FN static A join(A a, A b) { return a < b ? b : a; }
  template <class A> PS_FN static A term(T x, double) { return convert<A>(x); }
};
template <class Fold> struct JoinFold : Fold {         // of results of it
  template <class A> PS_FN static A term(A x, double) { return x; }
};

// What a reduction of `count` elements ends with. Integers are cut off towards zero, and a sum that is too large for
// its type wraps round.
template <class Out, class A> PS_FN Out quotient(A sum, int64_t count) {
  if constexpr (is_real<Out> || is_real<A>) {
    const double q = double(sum) / double(count);
    if constexpr (is_real<Out>) return convert<Out>(q);
    else return truncate<Out>(q);
  } else {
    return count ? convert<Out>(sum / A(count)) : Out(0);
  }
}
template <class Out, class A> PS_FN Out finished(Reduction r, A v, int64_t count, int64_t ddof) {
  switch (r) {
    case Reduction::mean:
    case Reduction::mean_square: return quotient<Out>(v, count);
    case Reduction::variance: return quotient<Out>(v, count - ddof);
    case Reduction::rms:
    case Reduction::std_dev: {
      const double root = Sqrt::of(double(v) / double(count - ddof));
      if constexpr (is_real<Out>) return convert<Out>(root);
      else return truncate<Out>(root);
    }
    case Reduction::sum:
      if constexpr (!is_real<A> && !is_real<Out> && !is_same<Out, bool>) return Out(v);
      else return convert<Out>(v);
    default: return convert<Out>(v);
  }
}

inline constexpr int kReduceThreads = 256, kReduceAxes = 6;

struct ReduceAxis {
  Divisor extent;
  int64_t stride;
};

struct ReduceJob {
  const void* in;
  const void* mean;                    // for Deviations: of each output, or (mean_step 0) of all
  void* out;
  int64_t outputs, count, piece;       // `count` elements make one output, `piece` of them are for one block
  int64_t elements;                    // that a finished output has been made of
  int64_t ddof, mean_step;
  Divisor column_blocks;               // blocks for all outputs
  int32_t columns, lanes;              // outputs of one block, and how many at a time work on one
  int32_t kept_axes, reduced_axes;
  ReduceAxis kept[kReduceAxes], reduced[kReduceAxes];  // of the input, innermost first
};

struct NoMean;                         // deviations are from none
struct Partial;                        // what is stored: results of pieces, or finished ones
template <Reduction R, class Out> struct Finished;

#if !PS_HOST
PS_FN int64_t reduce_place(const ReduceAxis* axes, int n, int64_t index) {
  if (n == 0) return 0;
  auto rest = uint64_t(index);
  int64_t at = 0;
  PS_LOOP
  for (int k = 0; k < n - 1; k++) {
    const uint64_t above = axes[k].extent.quotient(rest);
    at += int64_t(rest - above * axes[k].extent.number()) * axes[k].stride;
    rest = above;
  }
  return at + int64_t(rest) * axes[n - 1].stride;
}

struct NoMean {};
template <class M> PS_FN double reduce_mean(const M* mean, int64_t i) { return convert<double>(mean[i]); }
PS_FN double reduce_mean(const NoMean*, int64_t) { return 0; }

struct Partial {                       // stores what a block has found, as it is
  template <class A> PS_FN static void store(const ReduceJob& job, int64_t piece, int64_t output, A v) {
    static_cast<A*>(job.out)[piece * job.outputs + output] = v;
  }
};
template <Reduction R, class Out> struct Finished {
  template <class A> PS_FN static void store(const ReduceJob& job, int64_t, int64_t output, A v) {
    static_cast<Out*>(job.out)[output] = finished<Out>(R, v, job.elements, job.ddof);
  }
};

// M: the mean's type.
template <class Fold, class T, class Store, class M> PS_FN void run_reduce(const Launch& l) {
  using A = typename Fold::Result;
  PS_SHARED_MEMORY(memory);
  A* slots = reinterpret_cast<A*>(memory);
  const int sample = find_sample(l);
  const auto& job = *reinterpret_cast<const ReduceJob*>(l.jobs + int64_t(l.stride) * sample);
  const auto number = uint64_t(block() - l.first_block[sample]);
  const auto piece = int64_t(job.column_blocks.quotient(number));
  const int64_t first = int64_t(number - uint64_t(piece) * job.column_blocks.number()) * job.columns;
  const int64_t begin = piece * job.piece, end = min(begin + job.piece, job.count);
  const int columns = int(min(int64_t(job.columns), job.outputs - first)), lanes = job.lanes;
  for (int v = thread(); v < columns * lanes; v += threads()) {
    const int lane = v / columns, column = v - lane * columns;
    const T* in = static_cast<const T*>(job.in) + reduce_place(job.kept, job.kept_axes, first + column);
    const double mean = reduce_mean(static_cast<const M*>(job.mean), (first + column) * job.mean_step);
    A a = Fold::template none<A>();
    for (int64_t i = begin + lane; i < end; i += lanes)
      a = Fold::template join<A>(a, Fold::template term<A>(in[reduce_place(job.reduced, job.reduced_axes, i)], mean));
    if constexpr (Fold::kExtreme)
      if (job.count == 1) a = Fold::template term<A>(*in, mean);
    slots[v] = a;
  }
  sync();
  for (int left = lanes; left > 1;) {
    const int half_way = (left + 1) / 2;
    for (int v = thread(); v < columns * (left - half_way); v += threads())
      slots[v] = Fold::template join<A>(slots[v], slots[v + half_way * columns]);
    sync();
    left = half_way;
  }
  for (int v = thread(); v < columns; v += threads()) Store::store(job, piece, first + v, slots[v]);
}
#define PS_REDUCE_KERNEL(...) \
  PS_KERNEL kernel(ps::device::Launch launch) { ps::device::run_reduce<__VA_ARGS__>(launch); }
#endif

}  // namespace ps::device
