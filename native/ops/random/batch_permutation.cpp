// A random permutation of a batch: for each sample an index.
#include <numeric>
#include <utility>
#include <vector>

#include "core/operator.h"

namespace ps {

class BatchPermutation : public Operator {
 public:
  static constexpr Count kInputs{0, 0};
  explicit BatchPermutation(const Spec& s)
      : repetitions_(s.flag("allow_repetitions")), moves_all_(s.flag("no_fixed_points")) {}

  void setup(const Context& c) const override {
    Tensor& out = c.out(0);
    out.dtype = DType::i32;
    out.shape = {};
    out.layout = {};
  }

  // Every sample draws the same, all of it, and takes its own part: a thread that has drawn it once has it for others.
  void run(const Context& c) const override {
    Drawn& drawn = c.st<Drawn>();
    if (drawn.key != c.key || drawn.first_id != c.first_id || drawn.first_epoch != c.first_epoch ||
        int(drawn.indices.size()) != c.batch) {
      drawn.indices.resize(size_t(c.batch));
      draw(Philox(c.key, c.first_id, c.first_epoch), drawn.indices);
      drawn.key = c.key;
      drawn.first_id = c.first_id;
      drawn.first_epoch = c.first_epoch;
    }
    *c.out(0).as<int32_t>() = drawn.indices[size_t(c.index)];
  }

  std::unique_ptr<State> make_state() const override { return std::make_unique<Drawn>(); }

 private:
  struct Drawn : State {
    uint64_t key = 0;
    int64_t first_id = -1, first_epoch = -1;
    std::vector<int32_t> indices;
  };

  void draw(Philox random, std::vector<int32_t>& to) const {
    const auto n = uint64_t(to.size());
    const bool moves = moves_all_ && n > 1;
    if (repetitions_) {
      for (uint64_t i = 0; i < n; i++) {
        const uint64_t drawn = random.below(moves ? n - 1 : n);
        to[i] = int32_t(drawn + (moves && drawn >= i));
      }
      return;
    }
    // Of the permutations of more than one sample, every third moves all of them, or nearly so.
    do std::iota(to.begin(), to.end(), 0);
    while (!shuffled(random, to, moves));
  }

  // From the end, so that what is put there stays. False: as soon as something stays in its place that may not.
  static bool shuffled(Philox& random, std::vector<int32_t>& to, bool moves) {
    for (uint64_t i = to.size(); i-- > 0;) {
      std::swap(to[i], to[random.below(i + 1)]);
      if (moves && to[i] == int32_t(i)) return false;
    }
    return true;
  }

  bool repetitions_, moves_all_;
};

PS_OPERATOR("batch_permutation", BatchPermutation)

}  // namespace ps
