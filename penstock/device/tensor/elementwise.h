// Functions of one to three operands (device/tensor/functions.h), element by element: as a kernel of its own, whose
// operands are broadcast as NumPy does, and as a stage of a fused kernel of pictures.
#pragma once

#include "device/picture/picture.h"
#include "device/tensor/elements.h"
#include "device/tensor/functions.h"

namespace ps::device {

// Bytes of a number that the host has put among the fields.
struct alignas(8) NumberBits {
  unsigned char bytes[8];
  template <class T> PS_FN T as() const { return *reinterpret_cast<const T*>(bytes); }
};

// A kernel of its own. The result's axes are merged into G groups, outermost first; a stride is 0 where an operand is
// broadcast. What elements.h calls an element is a packet of them here.
inline constexpr int kPacket = 4;

template <int G> struct Operand {
  const void* data;
  NumberBits number;
  int64_t stride[G];
};
template <int G, int N> struct ElementwiseFields {
  void* out;
  int64_t count;
  int64_t extent[G];
  Operand<G> operand[N];
};

// A stage of a fused kernel. Where an operand is in memory, the pictures have one frame.
inline constexpr int kMaxNumbers = 4;    // one per channel

struct StageOperand {
  const void* data;
  Strides stride;
  NumberBits number[kMaxNumbers];
  int64_t step;                          // from one channel's number to the next one's: 0 or 1
};
template <int N> struct StageFields {    // N: all but the one from above
  StageOperand operand[N];
};
template <> struct StageFields<0> {};

// Where an operand comes from. It takes part as a C.
template <class C> struct Number { using Type = C; };               // among the fields
template <class T, class C> struct Stored { using Type = C; };      // elements of type T in memory
template <class C> struct Above { using Type = C; };                // from the stage above
struct None {};

// Index: an unsigned type that can count the elements.
template <class F, class Out, class Index, int G, class A, class B = None, class C = None> struct Elementwise;
template <class F, class Out, class A, class B = None, class C = None> struct ElementwiseStage;

#if !PS_HOST
template <class T> inline constexpr bool kIsAbove = false;
template <class C> inline constexpr bool kIsAbove<Above<C>> = true;

// Integers of the same size keep their bits.
template <class C, class T> PS_FN C as_operand(T v) {
  if constexpr (!is_real<C> && !is_real<T> && sizeof(C) == sizeof(T) && !kFlag<C>) return C(v);
  else return convert<C>(v);
}

template <class T> struct alignas(sizeof(T) * kPacket > 16 ? 16 : sizeof(T) * kPacket) Packet {
  T v[kPacket];
};

template <class F, class Out, class Index, int G, class A, class B, class C> struct Elementwise {
  static constexpr int N = 1 + !is_same<B, None> + !is_same<C, None>;
  ElementwiseFields<G, N> fields;

  PS_FN void element(int64_t packet) const {
    const int64_t begin = packet * kPacket;
    const auto a = read(A(), fields.operand[0], begin);
    if constexpr (N == 1) {
      write(begin, a);
    } else {
      const auto b = read(B(), fields.operand[1], begin);
      if constexpr (N == 2) write(begin, a, b);
      else write(begin, a, b, read(C(), fields.operand[N - 1], begin));
    }
  }

 private:
  template <class T> PS_FN Packet<T> read(Number<T>, const Operand<G>& operand, int64_t) const {
    Packet<T> packet;
    PS_UNROLL
    for (int k = 0; k < kPacket; k++) packet.v[k] = operand.number.template as<T>();
    return packet;
  }
  template <class T, class To> PS_FN Packet<To> read(Stored<T, To>, const Operand<G>& operand, int64_t begin) const {
    const T* data = static_cast<const T*>(operand.data);
    Packet<T> from;
    Packet<To> packet;
    if (G == 1 && operand.stride[0] == 1 && at_once(data + begin, begin)) {
      from = *reinterpret_cast<const Packet<T>*>(data + begin);
    } else {
      PS_UNROLL
      for (int k = 0; k < kPacket; k++) from.v[k] = data[place(Index(min(begin + k, fields.count - 1)), operand)];
    }
    PS_UNROLL
    for (int k = 0; k < kPacket; k++) packet.v[k] = as_operand<To>(from.v[k]);
    return packet;
  }

  // Where element i of the result is in an operand's memory.
  PS_FN int64_t place(Index i, const Operand<G>& operand) const {
    int64_t at = 0;
    PS_UNROLL
    for (int g = G - 1; g > 0; g--) {
      const Index extent = Index(fields.extent[g]), outer = i / extent;
      at += int64_t(i - outer * extent) * operand.stride[g];
      i = outer;
    }
    return at + int64_t(i) * operand.stride[0];
  }

  template <class... Packets> PS_FN void write(int64_t begin, const Packets&... packets) const {
    Packet<Out> result;
    PS_UNROLL
    for (int k = 0; k < kPacket; k++) result.v[k] = convert<Out>(F::of(packets.v[k]...));
    Out* out = static_cast<Out*>(fields.out) + begin;
    if (at_once(out, begin)) {
      *reinterpret_cast<Packet<Out>*>(out) = result;
    } else {
      PS_UNROLL
      for (int k = 0; k < kPacket; k++)
        if (begin + k < fields.count) out[k] = result.v[k];
    }
  }

  template <class T> PS_FN bool at_once(const T* at, int64_t begin) const {
    return begin + kPacket <= fields.count && reinterpret_cast<uint64_t>(at) % alignof(Packet<T>) == 0;
  }
};

template <class F, class Out, class A, class B, class C> struct ElementwiseStage {
  static constexpr int N = 1 + !is_same<B, None> + !is_same<C, None>;
  static constexpr int kPlace = kIsAbove<A> ? 0 : kIsAbove<B> ? 1 : 2;       // of the operand from above
  StageFields<N - 1> fields;

  template <class Up> PS_FN Vec<Out, Up::kChannels> at(const Up& up, int x, int y, int c) const {
    const auto pixel = up.at(x, y, c);
    Vec<Out, Up::kChannels> result;
    PS_UNROLL
    for (int i = 0; i < Up::kChannels; i++) {
      const auto get = [&](auto from, int k) { return read(from, k, pixel[i], x, y, c + i); };
      if constexpr (N == 1) result[i] = convert<Out>(F::of(get(A(), 0)));
      else if constexpr (N == 2) result[i] = convert<Out>(F::of(get(A(), 0), get(B(), 1)));
      else result[i] = convert<Out>(F::of(get(A(), 0), get(B(), 1), get(C(), 2)));
    }
    return result;
  }

 private:
  PS_FN const StageOperand& operand(int k) const { return fields.operand[k - (k > kPlace)]; }

  template <class To, class T> PS_FN To read(Above<To>, int, T v, int, int, int) const { return as_operand<To>(v); }
  template <class To, class T> PS_FN To read(Number<To>, int k, T, int, int, int c) const {
    return operand(k).number[c * operand(k).step].template as<To>();
  }
  template <class From, class To, class T> PS_FN To read(Stored<From, To>, int k, T, int x, int y, int c) const {
    const Strides& s = operand(k).stride;
    return as_operand<To>(static_cast<const From*>(operand(k).data)[x * s.x + y * s.y + c * s.c]);
  }
};
#endif

}  // namespace ps::device
