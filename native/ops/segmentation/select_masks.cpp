// The polygons of some masks.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/operator.h"

namespace ps {

class SelectMasks : public Operator {
 public:
  static constexpr Count kInputs{3, 3}, kOutputs{2, 2};
  explicit SelectMasks(const Spec& s) : reindex_(s.flag("reindex_masks")) {}

  void setup(const Context& c) const override {
    const Tensor &masks = c.in(0), &polygons = c.in(1), &vertices = c.in(2);
    if (masks.dtype != DType::i32 || masks.shape.ndim != 1) refuse("mask_ids: expected a list of INT32", masks);
    if (polygons.dtype != DType::i32 || polygons.shape.ndim != 2 || polygons.shape[1] != 3)
      refuse("polygons: expected INT32 of the shape (polygons, 3)", polygons);
    if (vertices.shape.ndim != 2) refuse("vertices: expected the shape (vertices, coordinates)", vertices);
    const std::vector<Polygon> kept = selected(c);
    int64_t count = 0;
    for (const Polygon& p : kept) count += p.end - p.begin;
    c.out(0).dtype = DType::i32;
    c.out(0).shape = {int64_t(kept.size()), 3};
    c.out(1).dtype = vertices.dtype;
    c.out(1).shape = {count, vertices.shape[1]};
    c.out(0).layout = c.out(1).layout = {};
  }

  void run(const Context& c) const override {
    const Tensor& vertices = c.in(2);
    const size_t bytes = size_t(vertices.shape[1]) * size_of(vertices.dtype);     // of a vertex
    int32_t* to = c.out(0).as<int32_t>();
    int64_t first = 0;
    for (const Polygon& p : selected(c)) {
      const int64_t count = p.end - p.begin;
      *to++ = p.mask;
      *to++ = int32_t(first);
      *to++ = int32_t(first + count);
      if (count && bytes)
        std::memcpy(c.out(1).as<uint8_t>() + size_t(first) * bytes, vertices.as<uint8_t>() + size_t(p.begin) * bytes,
                    size_t(count) * bytes);
      first += count;
    }
  }

 private:
  struct Polygon {
    int32_t mask;                      // as the output calls it
    int64_t begin, end;                // vertices
  };

  std::vector<Polygon> selected(const Context& c) const {
    const auto *masks = c.in(0).as<int32_t>(), *polygons = c.in(1).as<int32_t>();
    const int64_t n = c.in(0).shape[0], all = c.in(1).shape[0], vertices = c.in(2).shape[0];
    std::vector<Polygon> kept;
    for (int64_t i = 0; i < n; i++) {
      const std::string name = "mask " + std::to_string(masks[i]);
      if (std::find(masks, masks + i, masks[i]) != masks + i)
        fail(ErrorKind::argument, "mask_ids has " + name + " twice");
      const size_t before = kept.size();
      for (const int32_t* p = polygons; p != polygons + 3 * all; p += 3) {
        if (p[0] != masks[i]) continue;
        if (p[1] < 0 || p[2] > vertices || p[1] > p[2])
          fail(ErrorKind::axis, "a polygon of " + name + " has vertices from " + std::to_string(p[1]) + " to " +
                                    std::to_string(p[2]) + ", but there are " + std::to_string(vertices));
        kept.push_back({reindex_ ? int32_t(i) : masks[i], p[1], p[2]});
      }
      if (kept.size() == before) fail(ErrorKind::argument, name + " has no polygon");
    }
    return kept;
  }

  [[noreturn]] static void refuse(const std::string& expected, const Tensor& t) {
    fail(ErrorKind::type, expected + ", got " + name_of(t.dtype) + " of the shape " + to_string(t.shape));
  }

  bool reindex_;
};

PS_OPERATOR("segmentation_select_masks", SelectMasks)

}  // namespace ps
