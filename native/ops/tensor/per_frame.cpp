// A layout whose first axis is that of frames. The engine passes the input's memory on.
#include <string>

#include "core/operator.h"

namespace ps {

class PerFrame : public Operator {
 public:
  explicit PerFrame(const Spec& s) : replace_(s.flag("replace")) {}

  void setup(const Context& c) const override {
    const Tensor& in = c.in(0);
    if (in.shape.ndim == 0) fail(ErrorKind::layout, "the input is a single number; expected a value for each frame");
    std::string layout(in.layout.view());
    if (layout.empty()) layout.assign(size_t(in.shape.ndim), '*');
    else if (layout[0] != 'F' && !replace_)
      fail(ErrorKind::layout, "the input's layout is '" + layout +
                                  "'; expected one that begins with 'F', or replace=True");
    layout[0] = 'F';
    Tensor& out = c.out(0);
    out.dtype = in.dtype;
    out.shape = in.shape;
    out.layout = Layout(layout);
  }

  void run(const Context&) const override {}

 private:
  bool replace_;
};

PS_OPERATOR("per_frame", PerFrame)

}  // namespace ps
