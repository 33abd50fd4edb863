// Masks of a picture's objects, polygons and run lengths, as the label of each pixel.
//
// Pixels are numbered from top to bottom and then from left to right, as run lengths have them: so a mask is a list of
// pixels at which it begins or ends, by turns. Polygons become such a list as in COCO's own tools, whose pixels these
// are: an edge is stepped through on a grid five times as fine, and ends or begins the mask in each column of pixels
// whose middle it crosses.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/operator.h"
#include "decode/limit.h"

namespace ps {
namespace {

constexpr int kFine = 5;                 // steps of the grid to a pixel
constexpr int kMiddle = kFine / 2;
constexpr float kFarthest = 1e6f;        // of a vertex, in pixels: each step to it is taken
constexpr int64_t kTile = 32;

struct Scratch : State {
  std::vector<int64_t> turns;            // pixels at which a mask begins or ends
  std::vector<int64_t> order;            // of the objects
  std::vector<int32_t> columns;          // the picture, column by column
};

struct Point {
  int x, y;
};

Point on_grid(const float* vertex) {
  return {int(double(kFine) * double(vertex[0]) + .5), int(double(kFine) * double(vertex[1]) + .5)};
}

class Drawing {
 public:
  Drawing(Scratch& state, int64_t height, int64_t width) : s_(state), height_(height), width_(width) {
    s_.columns.assign(size_t(height * width), 0);
  }

  void polygon(const float* vertices, int64_t n, int32_t label) {
    s_.turns.clear();
    if (n == 0) return;
    const Point first = on_grid(vertices);
    Point from = first;
    for (int64_t i = 1; i <= n; i++) {
      const Point to = i < n ? on_grid(vertices + 2 * i) : first;
      edge(from, to);
      from = to;
    }
    std::sort(s_.turns.begin(), s_.turns.end());
    fill(label);
  }

  // `differences`: counts from the fourth on tell how much they differ from the last but one.
  void runs(const int64_t* counts, int64_t n, bool differences, int32_t label) {
    const int64_t all = height_ * width_;
    s_.turns.clear();
    int64_t at = 0, before[2] = {0, 0};            // the last count, and the one before that
    for (int64_t i = 0; i < n; i++) {
      int64_t count = counts[i];
      if (differences && i > 2) count += before[1];
      before[1] = before[0], before[0] = count;
      if (count < 0 || count > all - at)
        fail(ErrorKind::read, "the run lengths of a mask do not fit a picture of " + std::to_string(height_) + " x " +
             std::to_string(width_) + " pixels");
      at += count;
      s_.turns.push_back(at);
    }
    fill(label);
  }

  // Column by column to row by row.
  void store(int32_t* to) const {
    for (int64_t y0 = 0; y0 < height_; y0 += kTile)
      for (int64_t x0 = 0; x0 < width_; x0 += kTile) {
        const int64_t y1 = std::min(height_, y0 + kTile), x1 = std::min(width_, x0 + kTile);
        for (int64_t y = y0; y < y1; y++)
          for (int64_t x = x0; x < x1; x++) to[y * width_ + x] = s_.columns[size_t(x * height_ + y)];
      }
  }

 private:
  // Steps through an edge, always from its lower end on, whichever way it is gone, so that polygons which share an edge
  // share its pixels.
  void edge(Point a, Point b) {
    const int dx = std::abs(b.x - a.x), dy = std::abs(b.y - a.y);
    if (dx == 0) return;                           // it stays in its column
    const bool flat = dx >= dy;
    const bool back = flat ? a.x > b.x : a.y > b.y;
    if (back) std::swap(a, b);
    const int steps = flat ? dx : dy;
    const double slope = flat ? double(b.y - a.y) / dx : double(b.x - a.x) / dy;
    Point before{};
    for (int i = 0; i <= steps; i++) {
      const int t = back ? steps - i : i;
      const Point p = flat ? Point{t + a.x, int(a.y + slope * t + .5)} : Point{int(a.x + slope * t + .5), t + a.y};
      if (i && p.x != before.x) cross(before, p);
      before = p;
    }
  }

  void cross(Point a, Point b) {
    const int left = std::min(a.x, b.x);
    if (left < kMiddle || (left - kMiddle) % kFine) return;
    const int64_t column = (left - kMiddle) / kFine;
    if (column > width_ - 1) return;
    const double y = (double(std::min(a.y, b.y)) + .5) / kFine - .5;
    const auto row = int64_t(std::ceil(std::clamp(y, 0., double(height_))));
    s_.turns.push_back(column * height_ + row);
  }

  void fill(int32_t label) {
    const auto all = height_ * width_;
    for (size_t i = 0; i < s_.turns.size(); i += 2) {
      const int64_t end = i + 1 < s_.turns.size() ? s_.turns[i + 1] : all;
      std::fill(s_.columns.begin() + s_.turns[i], s_.columns.begin() + end, label);
    }
  }

  Scratch& s_;
  int64_t height_, width_;
};

class CocoMasks : public Operator {
 public:
  static constexpr Count kInputs{6, 6};
  explicit CocoMasks(const Spec&) : most_(max_decoded_pixels()) {}

  std::unique_ptr<State> make_state() const override { return std::make_unique<Scratch>(); }

  void setup(const Context& c) const override {
    const int64_t height = element_i64(c.in(1), 0), width = element_i64(c.in(1), 1);
    if (height < 1 || width < 1 || height > most_ / width)
      fail(ErrorKind::read, "the annotations tell of a picture of " + std::to_string(height) + " x " +
           std::to_string(width) + " pixels: " + std::to_string(most_) + " are allowed");
    c.out(0).dtype = DType::i32;
    c.out(0).shape = {height, width, 1};
    c.out(0).layout = "HWC";
  }

  void run(const Context& c) const override {
    const Tensor &labels = c.in(0), &polygons = c.in(2), &vertices = c.in(3), &runs = c.in(4), &counts = c.in(5);
    Scratch& s = c.st<Scratch>();
    Drawing drawing(s, c.out(0).shape[0], c.out(0).shape[1]);
    const auto* label = labels.as<int32_t>();
    const auto* polygon = polygons.as<int32_t>();
    const auto* run = runs.as<int32_t>();
    s.order.resize(size_t(labels.shape[0]));
    std::iota(s.order.begin(), s.order.end(), 0);
    std::stable_sort(s.order.begin(), s.order.end(), [&](int64_t a, int64_t b) { return label[a] < label[b]; });
    const auto [first, many] = grouped(polygons, 3, labels.shape[0]);
    const auto [first_run, many_runs] = grouped(runs, 4, labels.shape[0]);
    for (const int64_t object : s.order) {
      for (int64_t p = first[size_t(object)]; p < first[size_t(object)] + many[size_t(object)]; p++) {
        const int64_t from = polygon[3 * p + 1], to = polygon[3 * p + 2];
        check(from, to, vertices.shape[0]);
        check_near(vertices.as<float>() + 2 * from, 2 * (to - from));
        drawing.polygon(vertices.as<float>() + 2 * from, to - from, label[object]);
      }
      for (int64_t r = first_run[size_t(object)]; r < first_run[size_t(object)] + many_runs[size_t(object)]; r++) {
        const int64_t from = run[4 * r + 1], to = run[4 * r + 2];
        check(from, to, counts.shape[0]);
        drawing.runs(counts.as<int64_t>() + from, to - from, run[4 * r + 3] != 0, label[object]);
      }
    }
    drawing.store(c.out(0).as<int32_t>());
  }

 private:
  // Where the rows of each object begin, and how many there are: they lie one behind the other.
  static std::pair<std::vector<int64_t>, std::vector<int64_t>> grouped(const Tensor& rows, int columns,
                                                                       int64_t objects) {
    std::vector<int64_t> first(size_t(objects), 0), many(size_t(objects), 0);
    for (int64_t i = 0; i < rows.shape[0]; i++) {
      const int64_t object = rows.as<int32_t>()[columns * i];
      if (object < 0 || object >= objects || (many[size_t(object)] && rows.as<int32_t>()[columns * (i - 1)] != object))
        fail(ErrorKind::read, "the masks of the objects are not in order");
      if (!many[size_t(object)]++) first[size_t(object)] = i;
    }
    return {std::move(first), std::move(many)};
  }
  static void check(int64_t from, int64_t to, int64_t all) {
    if (from < 0 || from > to || to > all) fail(ErrorKind::read, "a mask is of vertices or counts that are not there");
  }
  static void check_near(const float* coordinates, int64_t n) {
    for (int64_t i = 0; i < n; i++)
      if (!(std::fabs(coordinates[i]) <= kFarthest))
        fail(ErrorKind::read, "a polygon has a vertex at " + std::to_string(coordinates[i]) + ", far from any picture");
  }

  int64_t most_;                         // pixels
};

PS_OPERATOR("coco_masks", CocoMasks)

}  // namespace
}  // namespace ps
