// The samples of a batch in another order. The engine passes the input's memory on.
#include "core/operator.h"

namespace ps {

class PermuteBatch : public Operator {
 public:
  explicit PermuteBatch(const Spec& s) : indices_(s.arg<int64_t>("indices")) {}

  void setup(const Context& c) const override {
    const int64_t from = wanted(c);
    if (from < 0 || from >= c.batch)
      fail(ErrorKind::axis, "indices: " + std::to_string(from) + " is no sample of a batch of " +
                                std::to_string(c.batch) + "; expected 0 to " + std::to_string(c.batch - 1));
    c.out(0) = c.in(0, int(from));
  }

  void run(const Context&) const override {}

 private:
  int64_t wanted(const Context& c) const {
    const int64_t given = indices_.size(c), needed = indices_.per_sample() ? 1 : c.batch;
    if (given != needed)
      fail(ErrorKind::argument,
           "indices has " + std::to_string(given) + " elements" +
               (indices_.per_sample() ? " for one sample; expected 1"
                                      : ", but the batch has " + std::to_string(c.batch) + " samples"));
    return indices_.get(c, indices_.per_sample() ? 0 : c.index);
  }

  Arg<int64_t> indices_;
};

PS_OPERATOR("permute_batch", PermuteBatch)

}  // namespace ps
