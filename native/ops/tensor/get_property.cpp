// The layout of a tensor, or where it comes from, as text.
#include <cstring>
#include <string>
#include <string_view>

#include "ops/tensor/metadata.h"

namespace ps {

class GetProperty : public Metadata {
 public:
  explicit GetProperty(const Spec& s) : layout_(s.string("key") == "layout") {}

  void setup(const Context& c) const override {
    c.out(0).dtype = DType::u8;
    c.out(0).shape = {int64_t(text(c).size())};
    c.out(0).layout = {};
  }

 protected:
  void write(const Context& c, uint8_t* to) const override {
    const std::string_view t = text(c);
    if (!t.empty()) std::memcpy(to, t.data(), t.size());
  }

 private:
  std::string_view text(const Context& c) const {
    const Tensor& in = c.in(0);
    if (layout_) return in.layout.view();
    return in.source ? std::string_view(in.source) : std::string_view();
  }

  bool layout_;
};

PS_OPERATOR("get_property", GetProperty)

}  // namespace ps
