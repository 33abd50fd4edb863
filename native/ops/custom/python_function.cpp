// A node of a segment in Python (run/python_calls.h): the engine asks for its outputs there.
#include "core/operator.h"

namespace ps {

class PythonFunction : public Operator {
 public:
  static constexpr Count kInputs{0, kMany}, kOutputs{0, kMany};
  explicit PythonFunction(const Spec&) {}
  void setup(const Context&) const override { refuse(); }
  void run(const Context&) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() { fail(ErrorKind::internal, "only Python can call it"); }
};

PS_OPERATOR("python_function", PythonFunction)

}  // namespace ps
