// DLPack capsules of the host's memory, a batch at a time: lists of Python's, by the C API of the Python that calls.
#include <dlfcn.h>

#include <atomic>

#include "abi/guard.h"
#include "abi/tensor.h"
#include "core/dlpack.h"
#include "cuda/memory/dlpack.h"

using namespace ps;

namespace {

// What is called of Python, whose stable ABI has all of it: the library itself is linked with none.
struct Python {
  using Object = void;
  int (*is_initialized)();
  int (*gil_ensure)();                             // PyGILState_STATE is an enum
  void (*gil_release)(int);
  void (*inc_ref)(Object*);
  void (*dec_ref)(Object*);
  Object* (*capsule)(void*, const char*, void (*)(Object*));
  int (*capsule_is_valid)(Object*, const char*);
  void* (*capsule_pointer)(Object*, const char*);
  int (*capsule_set_name)(Object*, const char*);
  ptrdiff_t (*list_size)(Object*);
  Object* (*list_item)(Object*, ptrdiff_t);
  int (*list_set_item)(Object*, ptrdiff_t, Object*);

  Python() {
    find(is_initialized, "Py_IsInitialized");
    find(gil_ensure, "PyGILState_Ensure");
    find(gil_release, "PyGILState_Release");
    find(inc_ref, "Py_IncRef");
    find(dec_ref, "Py_DecRef");
    find(capsule, "PyCapsule_New");
    find(capsule_is_valid, "PyCapsule_IsValid");
    find(capsule_pointer, "PyCapsule_GetPointer");
    find(capsule_set_name, "PyCapsule_SetName");
    find(list_size, "PyList_Size");
    find(list_item, "PyList_GetItem");
    find(list_set_item, "PyList_SetItem");
  }

  template <class F> static void find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    if (!function) fail(ErrorKind::unsupported, std::string("this Python has no ") + name);
  }
};

const Python& python() {
  static const Python found;
  return found;
}

// A reference to what keeps the samples' memory, for all capsules of a list together.
class Kept {
 public:
  explicit Kept(void* owner) : owner_(owner) { python().inc_ref(owner); }
  ~Kept() {                                        // by any thread, and so perhaps after Python's end
    const Python& py = python();
    if (!py.is_initialized()) return;
    const int state = py.gil_ensure();
    py.dec_ref(owner_);
    py.gil_release(state);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 private:
  void* owner_;
};

struct Lent {
  DLManagedTensor managed{};
  DLDense dense;
  std::shared_ptr<Kept> kept;

  Lent(const Tensor& t, std::shared_ptr<Kept> keeps) : kept(std::move(keeps)) {
    managed.tensor = dense.describe(t, {kDLCpu, 0});
    managed.context = this;
    managed.deleter = [](DLManagedTensor* m) { delete static_cast<Lent*>(m->context); };
  }
};

// The tensor that a capsule holds, in either form.
struct Held {
  void* capsule;
  DLManagedTensor* first = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;

  explicit Held(void* object) : capsule(object) {
    const Python& py = python();
    if (py.capsule_is_valid(object, kDLName))
      first = static_cast<DLManagedTensor*>(py.capsule_pointer(object, kDLName));
    else if (py.capsule_is_valid(object, kDLNameVersioned))
      versioned = static_cast<DLManagedTensorVersioned*>(py.capsule_pointer(object, kDLNameVersioned));
  }
  const DLTensor* tensor() const {
    if (versioned) return versioned->major == 1 ? &versioned->tensor : nullptr;
    return first ? &first->tensor : nullptr;
  }
  void take() const { python().capsule_set_name(capsule, first ? kDLUsedName : kDLUsedNameVersioned); }
  void give_back() const { python().capsule_set_name(capsule, first ? kDLName : kDLNameVersioned); }
  void release() const {
    if (first && first->deleter) first->deleter(first);
    if (versioned && versioned->deleter) versioned->deleter(versioned);
  }
};

// Says whether it is one of a batch like `like`, in the host's memory and dense; and describes it.
bool describe(const DLTensor* t, const ps_tensor* like, ps_tensor& to) {
  if (!t || t->device.type != kDLCpu || t->ndim < 0 || t->ndim > PS_MAX_DIMS || !is_dense(*t)) return false;
  const DType type = type_of(t->dtype);
  if (type == DType::none || (like && (like->dtype != int32_t(type) || like->ndim != t->ndim))) return false;
  to = {};
  to.data = static_cast<uint8_t*>(t->data) + t->byte_offset;
  to.dtype = int32_t(type);
  to.ndim = t->ndim;
  std::copy(t->shape, t->shape + t->ndim, to.shape);
  return true;
}

}  // namespace

struct ps_capsules {
  std::vector<Held> held;

  ~ps_capsules() {
    for (const Held& one : held) one.release();
  }
};

int ps_capsules_lend(void* list, const ps_tensor* samples, int n, void* owner) {
  return guarded([&] {
    const Python& py = python();
    const auto kept = std::make_shared<Kept>(owner);
    for (int i = 0; i < n; i++) {
      auto one = std::make_unique<Lent>(from_c(samples[i]), kept);
      void* capsule = py.capsule(&one->managed, kDLName, gpu::dlpack_capsule_destructor);
      if (!capsule) throw std::bad_alloc();
      one.release();                               // the capsule's from here on
      if (py.list_set_item(list, i, capsule) < 0) fail(ErrorKind::internal, "the list of capsules is too short");
    }
    return 0;
  });
}

ps_capsules* ps_capsules_take(void* list, ps_tensor* samples) {
  std::unique_ptr<ps_capsules> taken;
  const int all = guarded([&] {
    const Python& py = python();
    const ptrdiff_t n = py.list_size(list);
    std::vector<Held> held;
    held.reserve(size_t(n));
    for (ptrdiff_t i = 0; i < n; i++) {
      const Held one(py.list_item(list, i));
      if (!describe(one.tensor(), i ? samples : nullptr, samples[i])) {
        for (const Held& before : held) before.give_back();
        return 0;
      }
      one.take();                                  // at once: it may be in the list once more
      held.push_back(one);
    }
    taken = std::make_unique<ps_capsules>();
    taken->held = std::move(held);
    return 1;
  });
  return all > 0 ? taken.release() : nullptr;
}

void ps_capsules_destroy(ps_capsules* c) { delete c; }
