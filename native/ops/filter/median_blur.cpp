// The median of the pixels around each.

#include "device/filter/median_blur.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/convert.h"
#include "cuda/record/operator.h"
#include "ops/arguments/frames.h"
#include "ops/arguments/planes.h"

namespace ps {

// Calls f(tag) for the types that pixels may have.
template <class F> decltype(auto) visit_median(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(std::type_identity<uint8_t>{});
    case DType::u16: return f(std::type_identity<uint16_t>{});
    case DType::i16: return f(std::type_identity<int16_t>{});
    case DType::i32: return f(std::type_identity<int32_t>{});
    case DType::f32: return f(std::type_identity<float>{});
    default:
      fail(ErrorKind::type,
           std::string("the input is ") + name_of(t) + ": expected UINT8, UINT16, INT16, INT32 or FLOAT");
  }
}

class MedianBlur : public Operator, public GpuOperator {
 public:
  explicit MedianBlur(const Spec& s) : window_(s, "window_size") {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    visit_median(in.dtype, [](auto) {});
    const Planes p = planes_of(in);
    if (p.height > INT32_MAX || p.width > INT32_MAX) fail(ErrorKind::unsupported, "an extent is too large");
    c.out(0).dtype = in.dtype;
    c.out(0).shape = in.shape;
    c.out(0).layout = p.layout;
    window_.expect_frames(c, p.frames);
    windows(c, p);
  }

  void run(const Context& c) const override {
    if (!c.in(0).bytes()) return;
    visit_median(c.in(0).dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const Planes p = planes_of(c.in(0));
      const std::vector<int32_t> all = windows(c, p);
      for (int64_t k = 0; k < p.count; k++) {
        const int32_t* window = all.data() + (all.size() > 2 ? 2 * (k / p.per_frame) : 0);
        const T* from = c.in(0).as<T>() + k * p.elements();
        T* to = c.out(0).as<T>() + k * p.elements();
        if (window[0] == 3 && window[1] == 3) of_nine(p, from, to);
        else of_many(p, window[0], window[1], from, to);
      }
    });
  }

  void record(gpu::Recorder& r) const override {
    using Job = device::MedianBlur<uint8_t>;         // of any type the same fields
    r.elements(PS_FUNCTOR_TEMPLATE(MedianBlur, "filter/median_blur.h", uint8_t).of(gpu::cpp_type(r[0].in(0).dtype)),
               [&](const Context& c, void* to) {
                 const Planes p = planes_of(c.in(0));
                 const int64_t all = c.in(0).shape.volume();
                 if (!all) return all;
                 const std::vector<int32_t> w = windows(c, p);
                 *static_cast<Job*>(to) = {
                     c.in(0).as<uint8_t>(), c.out(0).as<uint8_t>(),
                     static_cast<const int32_t*>(r.constant(w.data(), w.size() * sizeof(int32_t))), int32_t(p.height),
                     int32_t(p.width), device::Divisor(uint64_t(p.channels)), device::Divisor(uint64_t(p.width)),
                     device::Divisor(uint64_t(p.height)), device::Divisor(uint64_t(all / (int64_t(w.size()) / 2)))};
                 return all;
               });
  }

 private:
  static constexpr int64_t kLargest = 1023;

  // Height and width of the window: of each frame, or once.
  std::vector<int32_t> windows(const Context& c, const Planes& p) const {
    std::vector<int32_t> found;
    for (int64_t f = 0; f < (window_.frames(c) >= 0 ? p.frames : 1); f++) {
      float sizes[2];                                // of width and height
      window_.list(c, f, 2, sizes);
      for (int i = 2; i-- > 0;) {
        if (!(sizes[i] >= 1 && sizes[i] <= float(kLargest)) || int64_t(sizes[i]) % 2 == 0)
          fail(ErrorKind::argument, "window_size is " + std::to_string(int64_t(sizes[i])) +
                                        ": expected an odd number up to " + std::to_string(kLargest));
        found.push_back(int32_t(sizes[i]));
      }
    }
    return found;
  }

  template <class T> static void sort(T& a, T& b) {
    const T low = b < a ? b : a, high = b < a ? a : b;
    a = low, b = high;
  }
  // The middle one of nine: sorts no more than that needs, without a branch. The three rows are sorted, then compared
  // column by column.
  template <class T>
  static void nine_row(const T* __restrict a, const T* __restrict b, const T* __restrict c, T* __restrict to, int64_t n,
                       int64_t step) {
    for (int64_t i = 0; i < n; i++) {
      T v[3][3];
      for (int64_t k = 0; k < 3; k++) v[0][k] = a[i + k * step], v[1][k] = b[i + k * step], v[2][k] = c[i + k * step];
      for (auto& row : v) sort(row[0], row[1]), sort(row[1], row[2]), sort(row[0], row[1]);
      const T lowest = std::max(std::max(v[0][0], v[1][0]), v[2][0]);
      const T highest = std::min(std::min(v[0][2], v[1][2]), v[2][2]);
      sort(v[0][1], v[1][1]), sort(v[1][1], v[2][1]), sort(v[0][1], v[1][1]);
      T x = lowest, y = v[1][1], z = highest;
      sort(x, y), sort(y, z), sort(x, y);
      to[i] = device::median_of(y);
    }
  }
  template <class T> static void of_nine(const Planes& p, const T* from, T* to) {
    const int64_t n = p.width * p.channels, c = p.channels;
    std::vector<T> rows[3];
    const auto fill = [&](std::vector<T>& row, int64_t y) {
      const T* at = from + std::clamp<int64_t>(y, 0, p.height - 1) * n;
      row.resize(size_t(n + 2 * c));
      std::copy_n(at, c, row.data());
      std::copy_n(at, n, row.data() + c);
      std::copy_n(at + n - c, c, row.data() + c + n);
    };
    fill(rows[2], -1), fill(rows[0], 0);
    for (int64_t y = 0; y < p.height; y++, to += n) {
      fill(rows[(y + 1) % 3], y + 1);
      nine_row(rows[(y + 2) % 3].data(), rows[y % 3].data(), rows[(y + 1) % 3].data(), to, n, c);
    }
  }

  template <class T> static void of_many(const Planes& p, int64_t height, int64_t width, const T* from, T* to) {
    std::vector<T> window(size_t(height * width));
    for (int64_t y = 0; y < p.height; y++)
      for (int64_t x = 0; x < p.width; x++)
        for (int64_t k = 0; k < p.channels; k++) {
          size_t n = 0;
          for (int64_t v = y - height / 2; v <= y + height / 2; v++) {
            const T* row = from + std::clamp<int64_t>(v, 0, p.height - 1) * p.width * p.channels + k;
            for (int64_t u = x - width / 2; u <= x + width / 2; u++)
              window[n++] = row[std::clamp<int64_t>(u, 0, p.width - 1) * p.channels];
          }
          std::nth_element(window.begin(), window.begin() + std::ptrdiff_t(n / 2), window.end());
          *to++ = device::median_of(window[n / 2]);
        }
  }

  FrameArg window_;
};

PS_OPERATOR("median_blur", MedianBlur)

}  // namespace ps
