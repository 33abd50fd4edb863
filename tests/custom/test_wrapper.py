"""operator.hpp: all kinds of arguments, several outputs, shapes that depend on data, random numbers, exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, plugin_manager, types
from tests.custom import build, conftest
from tests.small import made

SOURCE = r"""
#include <penstock/operator.hpp>

#include <cmath>

using namespace penstock;

// Tells what it is given, as a text.
struct Tell {
  explicit Tell(const Arguments& a) {
    if (a.given("numbers") && a.numbers("numbers").size() > 3) throw std::invalid_argument("at most 3 numbers");
    made = "made with " + std::to_string(a.integer("whole")) + ": ";
  }
  static Declaration declare() {
    return Declaration("tests.tell", "Tells what it is given.")
        .inputs(0, 2)
        .argument<bool>("yes", "One.", true, per_sample)
        .argument<int64_t>("whole", "One.", 1234567890123456789)
        .argument<double>("number", "One.", 0.5, per_sample)
        .argument<std::string>("text", "One.", "a \"text\"")
        .argument<DType>("dtype", "One.", DType::float32)
        .argument<std::vector<int64_t>>("wholes", "Some.", {1, 2}, per_sample)
        .optional<std::vector<double>>("numbers", "Some.")
        .argument<std::vector<std::string>>("texts", "Some.", {"x", "yz"})
        .required<int64_t>("needed", "One.");
  }
  std::string tell(const Sample& s) const {
    std::string t = made + std::to_string(s.num_inputs()) + " " + std::to_string(s.flag("yes"));
    t += " " + std::to_string(s.integer("whole")) + " " + std::to_string(s.number("number")) + " " + s.text("text");
    t += " " + std::to_string(int(s.dtype("dtype")));
    for (int64_t v : s.integers("wholes")) t += " " + std::to_string(v);
    if (s.given("numbers")) for (double v : s.numbers("numbers")) t += " " + std::to_string(v);
    for (const std::string& v : s.texts("texts")) t += " " + v;
    return t + " " + std::to_string(s.integer("needed"));
  }
  void setup(const Sample& s) const {
    s.output(0).set_dtype(DType::uint8);
    s.output(0).set_shape({int64_t(tell(s).size())});
  }
  void run(const Sample& s) const {
    const std::string t = tell(s);
    std::copy(t.begin(), t.end(), s.output(0).data<uint8_t>());
  }
  std::string made;
};

// The first n elements, n being the second input, and the rest: elements of any type.
struct Cut {
  struct Params { int64_t first; };
  static Declaration declare() {
    return Declaration("tests.cut", "Cuts in two.").inputs(2).outputs(2).setup_reads(1).params<Params>();
  }
  void setup(const Sample& s) const {
    const int64_t first = s.input(1).data<int64_t>()[0], all = s.input(0).volume();
    if (first < 0 || first > all) throw std::invalid_argument("there are not so many elements");
    for (int k = 0; k < 2; k++) {
      s.output(k).set_dtype(s.input(0).dtype());
      s.output(k).set_shape({k ? all - first : first}, "X");
    }
    s.params<Params>().first = first;
  }
  void run(const Sample& s) const {
    visit(s.input(0).dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = s.input(0).data<const T>();
      const int64_t first = s.params<Params>().first;
      std::copy(from, from + first, s.output(0).data<T>());
      std::copy(from + first, from + s.input(0).volume(), s.output(1).data<T>());
    });
  }
};

struct Seed {
  static Declaration declare() { return Declaration("tests.seed", "A random number.").inputs(0).random(); }
  void setup(const Sample& s) const {
    s.output(0).set_dtype(DType::uint64);
    s.output(0).set_shape({});
  }
  void run(const Sample& s) const { *s.output(0).data<uint64_t>() = s.random(); }
};

// Each element by itself.
struct Power {
  struct Functor {
    float exponent;
    float operator()(float v) const { return std::pow(v, exponent); }
  };
  static Declaration declare() {
    return Declaration("tests.power", "Powers.")
        .argument<double>("exponent", "Of all.", 2.0, per_sample)
        .argument<bool>("real", "Whether results are floats.", false);
  }
  Functor functor(const Sample& s) const {
    if (s.flag("real")) s.output(0).set_dtype(DType::float32);
    return {float(s.number("exponent"))};
  }
};

struct Reshaped {
  struct Functor {
    float unused;
    float operator()(float v) const { return v; }
  };
  static Declaration declare() { return Declaration("tests.reshaped", "Wrong."); }
  Functor functor(const Sample& s) const {
    s.output(0).set_shape({1});
    return {};
  }
};

struct Thrower {
  static Declaration declare() {
    return Declaration("tests.thrower", "Throws.")
        .argument<std::string>("where", "It throws.", "")
        .argument<std::string>("what", "It throws.", "");
  }
  explicit Thrower(const Arguments& a) { at(a, "create"); }
  void setup(const Sample& s) const { at(s, "setup"), s.output(0).like(s.input(0)); }
  void run(const Sample& s) const { at(s, "run"); }
  static void at(const Arguments& a, const char* where) {
    if (a.text("where") != where) return;
    const std::string what = a.text("what");
    if (what == "runtime") throw std::runtime_error("a runtime error");
    if (what == "invalid") throw std::invalid_argument("an invalid argument");
    if (what == "memory") throw std::bad_alloc();
    if (what == "number") throw 5;
    if (what == "unknown") (void)a.number("nothing");
    if (what == "kind") (void)a.number("where");
  }
};

PENSTOCK_OPERATORS(Tell, Cut, Seed, Power, Reshaped, Thrower)
"""

any_fn: Any = fn


@pytest.fixture(scope="module")
def tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = build.library(SOURCE, tmp_path_factory.mktemp("wrapper") / "wrapper.so")
    restoring = conftest._restoring()
    next(restoring)
    plugin_manager.load_library(path)
    yield any_fn.tests
    next(restoring, None)


def one(define: Any, **arguments: Any) -> Any:
    """The first sample of all outputs."""
    return [np.array(o.at(0)) for o in made(define, **{"batch_size": 1, **arguments}).run()]


def fed(value: Any) -> Any:
    return fn.external_source(lambda: [value], batch=True)


def text(node: Any) -> str:
    (found,) = one(lambda: node())
    return bytes(found).decode()


def test_defaults(tests: Any) -> None:
    whole = 1234567890123456789
    wanted = f'made with {whole}: 0 1 {whole} 0.500000 a "text" 9 1 2 x yz 7'
    assert text(lambda: tests.tell(needed=7)) == wanted


def test_arguments_of_all_kinds(tests: Any) -> None:
    def node() -> Any:
        return tests.tell(
            1, np.ones(3), yes=False, whole=-(2**62), number=3, text="ä", dtype=types.UINT8, wholes=5,
            numbers=[1, 2.5], texts="q", needed=2**62,
        )  # fmt: skip

    low = -(2**62)
    assert text(node) == f"made with {low}: 2 0 {low} 3.000000 ä 0 5 1.000000 2.500000 q {2**62}"


def test_arguments_per_sample(tests: Any) -> None:
    def node() -> Any:
        wholes = fed(np.array([2**62 + 1, 5, 6]))
        return tests.tell(yes=fed(np.bool_(False)), number=fed(np.float16(1.25)), wholes=wholes, needed=1)

    assert text(node).endswith(f'0 0 1234567890123456789 1.250000 a "text" 9 {2**62 + 1} 5 6 x yz 1')


def test_several_values_where_one_is_expected(tests: Any) -> None:
    two = np.array([1.0, 2.0], np.float32)
    with pytest.raises(errors.InputError, match=r"tests\.tell: number: expected one value for each sample, got 2"):
        one(lambda: tests.tell(number=fed(two), needed=1))


def test_a_required_argument(tests: Any) -> None:
    with pytest.raises(errors.ArgumentError, match=r"tests\.tell: the argument 'needed' is required: One\."):
        made(lambda: tests.tell())
    with pytest.raises(errors.ArgumentTypeError, match=r"tests\.tell: needed must be a constant"):
        made(lambda: tests.tell(needed=fn.random.coin_flip()))


def test_what_a_constructor_refuses(tests: Any) -> None:
    with pytest.raises(errors.InputError, match=r"tests\.tell: at most 3 numbers\n  operator made at .*test_wrapper"):
        one(lambda: tests.tell(numbers=[1, 2, 3, 4], needed=1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.float64, np.bool_])
def test_shapes_that_depend_on_data(tests: Any, dtype: Any) -> None:
    data = np.arange(10).astype(dtype)
    first, rest = one(lambda: tests.cut(fed(data), fed(np.int64(3))))
    assert (first.dtype, rest.dtype) == (dtype, dtype)
    np.testing.assert_array_equal(np.concatenate([first, rest]), data)
    assert first.shape == (3,)
    (output, _) = made(lambda: tests.cut(fed(data), fed(np.int64(0))), batch_size=1).run()
    assert output.layout() == "X"
    with pytest.raises(errors.InputError, match=r"tests\.cut: there are not so many elements"):
        one(lambda: tests.cut(fed(data), fed(np.int64(11))))


def test_elements_of_another_type(tests: Any) -> None:
    with pytest.raises(errors.InputError, match=r"tests\.cut: the elements are of type INT32, expected INT64"):
        one(lambda: tests.cut(np.arange(3), fed(np.int32(1))))


def test_random_numbers_are_the_same_again(tests: Any) -> None:
    def numbers(**arguments: Any) -> list[int]:
        pipe = made(lambda: tests.seed(**arguments), batch_size=4)
        return [int(v) for _ in range(2) for v in pipe.run()[0].as_array()]

    assert len(set(numbers())) == 8
    assert numbers() == numbers()
    assert numbers(seed=5) != numbers()
    assert numbers(seed=5) == numbers(seed=5)


def test_elements_of_any_shape(tests: Any) -> None:
    for shape in [(7,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (0, 3), ()]:
        data = np.random.default_rng(1).integers(0, 20, shape).astype(np.int16)
        (found,) = one(lambda data=data: tests.power(data, exponent=2))
        np.testing.assert_array_equal(found, data**2)
    (found,) = one(lambda: tests.power(np.full((3, 2000), 20, np.uint8)))
    assert (found == 255).all()
    (found,) = one(lambda: tests.power(np.array([4, 9], np.uint8), exponent=0.5, real=True))
    assert (found.dtype, found.tolist()) == (np.float32, [2.0, 3.0])


def test_a_pixel_operator_keeps_the_shape(tests: Any) -> None:
    with pytest.raises(errors.OperatorError, match=r"tests\.reshaped: its setup\(\) .* may change the type alone"):
        one(lambda: tests.reshaped(np.ones((2, 3), np.float32)))


def test_without_source_for_gpus_it_runs_on_the_cpu_alone(tests: Any) -> None:
    with pytest.raises(errors.DeviceError, match=r"tests\.power: device='gpu': this operator runs on 'cpu'"):
        made(lambda: tests.power(np.ones(3), device="gpu"), device_id=0)


@pytest.mark.parametrize("where", ["create", "setup", "run"])
@pytest.mark.parametrize(
    ("what", "kind", "reason"),
    [
        ("runtime", errors.OperatorError, "a runtime error"),
        ("invalid", errors.InputError, "an invalid argument"),
        ("memory", errors.OutOfMemoryError, "the system refused memory"),
        ("number", errors.OperatorError, "it threw what is no std::exception"),
        ("unknown", errors.OperatorError, "the operator declares no argument 'nothing'"),
        ("kind", errors.InputError, "the argument 'where' is of another kind"),
    ],
)
def test_what_is_thrown(where: str, what: str, kind: type[Exception], reason: str, tests: Any) -> None:
    with pytest.raises(errors.PenstockError, match=rf"tests\.thrower: {reason}") as caught:
        one(lambda: tests.thrower(np.ones(3), where=where, what=what))
    assert type(caught.value) is kind


RAW = r"""
#include <stdexcept>
#include <penstock/operator.h>
static int setup(void*, const penstock_sample* s, penstock_error*) {
  const penstock_value& v = *s->arguments[0];
  if (v.integers[0] == 1) throw std::runtime_error("out of setup");
  s->outputs[0]->dtype = PENSTOCK_UINT8;
  s->outputs[0]->ndim = 0;
  return PENSTOCK_OK;
}
static int run(void*, const penstock_sample* s, penstock_error*) {
  if (s->index == 3) throw 7;
  return PENSTOCK_OK;
}
static const penstock_argument where = {sizeof where,  PENSTOCK_INTEGER, PENSTOCK_REQUIRED, 0,
                                        "where",       "It throws.",     nullptr};
static const penstock_argument* const arguments[] = {&where};
extern "C" PENSTOCK_EXPORT const penstock_library* penstock_operators(void) {
  static penstock_operator op{};
  op.size = sizeof op;
  op.name = "raw";
  op.doc = "Throws.";
  op.num_outputs = 1;
  op.num_arguments = 1;
  op.arguments = arguments;
  op.setup = setup;
  op.run = run;
  static const penstock_operator* const operators[] = {&op};
  static const penstock_library library = {PENSTOCK_OPERATOR_ABI, sizeof library, 1, 0, operators};
  return &library;
}
"""


def test_what_is_thrown_without_the_wrapper(tmp_path: Path, registered: None) -> None:
    plugin_manager.load_library(build.library(RAW, tmp_path / "raw.so"))
    with pytest.raises(errors.OperatorError, match=r"raw: an exception comes out of its setup\(\): out of setup"):
        one(lambda: any_fn.raw(where=1))
    with pytest.raises(errors.OperatorError, match=r"raw: an exception comes out of its run\(\), and is no") as caught:
        one(lambda: any_fn.raw(where=0), batch_size=4)
    assert caught.value.sample == 3


def test_a_table_that_cannot_be_made(tmp_path: Path, registered: None) -> None:
    source = "#include <penstock/operator.hpp>\nstruct A {\n  static penstock::Declaration declare() {"
    source += ' throw std::runtime_error("no"); }\n  void setup(const penstock::Sample&) const {}\n'
    source += "  void run(const penstock::Sample&) const {}\n};\nPENSTOCK_OPERATORS(A)\n"
    with pytest.raises(errors.PluginError, match=r"a\.so: an exception comes out of its penstock_operators\(\): no"):
        plugin_manager.load_library(build.library(source, tmp_path / "a.so"))


def test_two_libraries_with_classes_of_one_name(tmp_path: Path, registered: None) -> None:
    source = """
#include <penstock/operator.hpp>
PENSTOCK_SHARED(F, struct F { float by; PENSTOCK_FN float operator()(float v) const { return v + by; } };)
struct Add {
  using Functor = F;
  static penstock::Declaration declare() { return penstock::Declaration("add_" BY, "Adds."); }
  F functor(const penstock::Sample&) const { return {float(BY[0] - '0')}; }
};
PENSTOCK_OPERATORS(Add)
"""
    for by in ("2", "3"):
        path = build.library(source, tmp_path / f"add{by}.so", f'-DBY="{by}"')
        plugin_manager.load_library(path, global_symbols=True)
    assert one(lambda: [any_fn.add_2(np.float32(1)), any_fn.add_3(np.float32(1))]) == [3, 4]


def test_a_pipeline_may_outlive_what_made_it(tests: Any) -> None:
    pipes = [Pipeline(batch_size=1, num_threads=1, device_id=None) for _ in range(3)]
    for pipe in pipes:
        with pipe:
            pipe.set_outputs(tests.power(np.float32(3)))
    assert [float(pipe.run()[0].as_array()[0]) for pipe in reversed(pipes)] == [9.0] * 3


def test_plugins_of_dali_are_refused(tmp_path: Path) -> None:
    shown = '__attribute__((visibility("default")))'
    source = f"namespace dali {{ void add(); {shown} void plugin() {{ add(); }} }}"
    path = build.library(source, tmp_path / "libdali_mine.so")
    for load in (lambda: plugin_manager.load_library(path), lambda: plugin_manager.load_directory(tmp_path)):
        with pytest.raises(
            errors.PluginError, match=r"libdali_mine.so: it is a plug-in of DALI, which DALI alone can load"
        ):
            load()
