"""`penstock.operator`: operators of a few lines of C++ in a script, through the whole library."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

import penstock
from penstock import Pipeline, errors, fn, ops, pipeline_def, types
from tests.custom.test_example import (
    SIZES,
    any_fn,
    any_ops,
    normalized,
    pictures,
    resized,
    run,
    source,
    strengths,
    toned,
)
from tests.small import made

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Those of this module, kept in a folder of the tests' own."""
    from tests.custom.conftest import _restoring

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_CACHE", str(tmp_path_factory.mktemp("cache")))
        restoring = _restoring()
        next(restoring)
        define()
        yield
        next(restoring, None)


def define() -> None:
    @penstock.operator
    class sepia_tone:
        """Makes pictures look old."""

        strength: Annotated[float, "From 0, which changes nothing, to 1."] = 1.0
        tint: tuple[float, float, float] = (1.2, 1.0, 0.8)
        channels = 3
        setup = 'if (!(strength >= 0 && strength <= 1)) throw std::invalid_argument("strength: expected 0 to 1");'
        pixel = """
            const float grey = 0.299f * in[0] + 0.587f * in[1] + 0.114f * in[2];
            for (int k = 0; k < 3; k++) out[k] = in[k] + strength * (tint[k] * grey - in[k]);
        """

    @penstock.operator
    def scaled(factor: float, shift: int = 0, dtype: types.DALIDataType | None = None) -> str:  # type: ignore[valid-type]
        """Multiplies, and adds."""
        return "v * factor + shift"

    @penstock.operator
    class Halves:
        takes = (types.UINT8, types.INT16)
        gives = types.FLOAT
        header = "PENSTOCK_FN float half_of(float v) { return 0.5f * v; }"
        element = "return half_of(v);"

    @penstock.operator(name="mine.shifted")
    class shifted:
        """Moves pictures."""

        dx: float
        dy: float = 0.0
        where = "sx = x - dx; sy = height - (y - dy);"

    @penstock.operator
    class weighed:
        """The weighted sum of two, and their difference as text says."""

        weights: list[float] = [1.0, 1.0]  # noqa: RUF012
        mode: str = "absolute"
        inputs = 2
        outputs = 2
        takes = types.UINT8
        setup = """
            if (in0.volume() != in1.volume()) throw std::invalid_argument("the inputs have other sizes");
            out0.set_dtype(penstock::DType::float32);
            out1.set_shape({in0.volume()}, "X");
        """
        run = """
            const uint8_t *a = in0.data<uint8_t>(), *b = in1.data<uint8_t>();
            for (int64_t i = 0; i < in0.volume(); i++) {
              out0.data<float>()[i] = float(weights.at(0) * a[i] + weights.at(1) * b[i]);
              out1.data<uint8_t>()[i] = mode == "absolute" ? std::abs(a[i] - b[i]) : a[i] - b[i];
            }
        """

    @penstock.operator
    class noisy:
        random = True
        inputs = 0
        setup = 'out.set_dtype(penstock::DType::uint64); out.set_shape({}, "");'
        run = "*out.data<uint64_t>() = s.random();"


def test_pixels_join_their_neighbours() -> None:
    def training() -> Any:
        return normalized(any_fn.sepia_tone(resized(), strength=strengths()))

    pipe = made(training, batch_size=len(SIZES))
    pipe.build()
    assert "in one pass over rows: resize → sepia_tone → crop_mirror_normalize" in pipe.explain()
    between = [toned(a, k / (len(SIZES) - 1)) for k, a in enumerate(run(resized))]
    for a, b in zip(run(training), run(lambda: normalized(source(between))), strict=True):
        assert a.tobytes() == b.tobytes()


def test_arguments() -> None:
    assert (
        "strength (number, or a node, default 1.0): From 0, which changes nothing, to 1." in any_fn.sepia_tone.__doc__
    )
    x = np.arange(4, dtype=np.int16)
    per_sample = lambda: fn.external_source(lambda i: np.arange(4, dtype=np.int32))  # noqa: E731
    (output,) = made(lambda: any_fn.scaled(x, factor=3, shift=per_sample())).run()
    assert [output.at(k).tolist() for k in range(4)] == [[k, 3 + k, 6 + k, 9 + k] for k in range(4)]
    (output,) = made(lambda: any_ops.Scaled(factor=0.5, dtype=types.FLOAT)(x)).run()
    assert output.at(0).tolist() == [0, 0.5, 1, 1.5]
    tinted = run(lambda: any_fn.sepia_tone(source(pictures()), tint=[1.0, 0.0, 0.0]))
    assert all((a[..., 1:] == 0).all() for a in tinted)


def test_wrong_calls() -> None:
    x = np.arange(4, dtype=np.int16)
    for call, error, text in [
        (lambda: any_fn.scaled(x), errors.ArgumentError, "scaled: the argument 'factor' is required"),
        (lambda: any_fn.scaled(x, factor=1, shfit=2), errors.UnknownArgumentError, "Did you mean 'shift'"),
        (lambda: any_fn.scaled(x, factor="a"), errors.ArgumentTypeError, "scaled: factor='a': expected"),
        (lambda: any_fn.scaled(x, factor=1, shift=2**40), errors.InputError, "shift: 1099511627776 is too large"),
        (lambda: any_fn.halves(np.float32(x)), errors.InputError, "halves: input 0 is FLOAT, expected UINT8 or INT16"),
        (lambda: any_fn.sepia_tone(source(pictures()), strength=2), errors.InputError, "strength: expected 0 to 1"),
        (
            lambda: any_fn.sepia_tone(source(pictures()), tint=[1, 2]),
            errors.InputError,
            "tint: expected 3 numbers, got 2",
        ),
        (lambda: any_fn.weighed(np.uint8([1]), np.uint8([1, 2])), errors.InputError, "weighed: .*other sizes"),
    ]:
        with pytest.raises(error, match=text):
            made(call, batch_size=len(SIZES)).run()


def test_elements_of_another_type() -> None:
    (output,) = made(lambda: any_fn.halves(np.uint8([1, 2, 255]))).run()
    assert output.dtype == types.FLOAT
    assert output.at(2).tolist() == [0.5, 1, 127.5]


def test_several_inputs_and_outputs() -> None:
    a, b = np.uint8([[1, 9], [5, 0]]), np.uint8([[2, 3], [4, 5]])
    total, difference = made(lambda: any_fn.weighed(a, b, weights=[2, 0.5])).run()
    np.testing.assert_array_equal(total.at(1), 2 * a.astype(np.float32) + 0.5 * b)
    assert difference.at(0).tolist() == [1, 6, 1, 5]
    assert difference.layout() == "X"
    _, difference = made(lambda: any_fn.weighed(a, b, mode="signed")).run()
    assert difference.at(0).tolist() == [255, 6, 1, 251]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32])
def test_positions(dtype: Any) -> None:
    """The picture is turned upside down and moved by whole pixels; what comes in is filled."""
    arrays = [a.astype(dtype) for a in pictures()]
    moved = run(lambda: any_fn.mine.shifted(source(arrays), dx=2, fill_value=7))
    for found, given in zip(moved, arrays, strict=True):
        wanted = np.full_like(given, 7)
        wanted[:, 2:] = given[::-1, :-2]
        np.testing.assert_array_equal(found, wanted)
    # Half-way between two pixels, in floats.
    (half,) = run(
        lambda: any_fn.mine.shifted(source([arrays[0]]), dx=0.5, interp_type=types.INTERP_LINEAR), batch_size=1
    )
    given = arrays[0][::-1].astype(np.float64)
    mean = (given[:, 1:] + given[:, :-1]) / 2
    np.testing.assert_allclose(half[:, 1:], mean if dtype is np.float32 else np.trunc(mean + 0.5), rtol=1e-6)
    masked = run(lambda: any_fn.mine.shifted(source(arrays), dx=2, mask=0))
    assert all((a == b).all() for a, b in zip(masked, arrays, strict=True))


def test_positions_join_their_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    def chain() -> Any:
        moved = any_fn.mine.shifted(resized(), dx=strengths() * 5, interp_type=types.INTERP_LINEAR)
        return normalized(any_fn.sepia_tone(moved))

    pipe = made(chain, batch_size=len(SIZES))
    pipe.build()
    assert "resize → mine.shifted → sepia_tone → crop_mirror_normalize" in pipe.explain()
    fused = run(chain)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    assert [a.tobytes() for a in run(chain)] == [a.tobytes() for a in fused]


def test_random_numbers_are_the_samples() -> None:
    def numbers(**arguments: Any) -> list[int]:
        pipe = made(lambda: any_fn.noisy(**arguments), batch_size=3)
        return [int(pipe.run()[0].at(k)) for _ in range(2) for k in range(3)]

    assert len(set(numbers())) == 6
    assert numbers(seed=5) == numbers(seed=5) != numbers(seed=6)


def test_in_branches() -> None:
    @pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_conditionals=True)
    def pipeline() -> Any:
        x = fn.external_source(lambda i: np.arange(4, dtype=np.int32))
        if x > 1:
            y = any_fn.scaled(x, factor=10)
        else:
            y = x
        return y

    assert pipeline().run()[0].as_array().tolist() == [0, 1, 20, 30]


def test_serialized_by_name() -> None:
    text = made(lambda: any_fn.scaled(np.int32([1, 2]), factor=5)).serialize()
    assert Pipeline.deserialize(text).run()[0].at(0).tolist() == [5, 10]
    unknown = text.replace(b"scaled", b"scaler") if isinstance(text, bytes) else text.replace("scaled", "scaler")
    with pytest.raises(errors.PenstockError, match=r"scaler.*of the library '@penstock.operator of test_operator.py'"):
        Pipeline.deserialize(unknown)


def test_the_decorator_gives_the_operator_and_may_replace_it() -> None:
    @penstock.operator
    def changing() -> str:
        return "v + 1.0f"

    first = made(lambda: changing(np.int32([1])))
    assert made(lambda: any_fn.changing(np.int32([1]))).run()[0].at(0).tolist() == [2]

    @penstock.operator  # type: ignore[no-redef]
    def changing() -> str:  # noqa: F811
        return "v + 2.0f"

    assert changing is not None
    assert first.run()[0].at(0).tolist() == [2]
    assert made(lambda: changing(np.int32([1]))).run()[0].at(0).tolist() == [3]
    assert made(lambda: any_fn.changing(np.int32([1]))).run()[0].at(0).tolist() == [3]
    assert any_ops.Changing(device="cpu")(np.int32([1])).device == "cpu"


def test_the_compilers_errors_name_the_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import penstock\n\n@penstock.operator\nclass wrong:\n    amount: float = 1.0\n"
        '    element = """\n        float w = v * amount;\n        return w * amout;\n    """\n'
    )
    spec = importlib.util.spec_from_file_location("script", script)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["script"] = module
    with pytest.raises(
        errors.PluginError, match=rf"wrong: .* refuses it:\n(?s:.*){script}:8:\d+: error: .*amout"
    ) as caught:
        spec.loader.exec_module(module)
    assert f"defined at {script}:3" in str(caught.value)
    del sys.modules["script"]
    with pytest.raises(errors.UnknownOperatorError):
        any_fn.wrong  # noqa: B018

    header = tmp_path / "tone.h"
    header.write_text("PENSTOCK_FN float tone(float v)\n{ return v * nothing; }\n")

    class of_file:
        element = "tone(v)"

    of_file.header = header  # type: ignore[attr-defined]
    with pytest.raises(errors.PluginError, match=rf"{header}:2:\d+: error: .*nothing"):
        penstock.operator(of_file)
    header.write_text("PENSTOCK_FN float tone(float v)\n{ return v * 3; }\n")
    tripled = penstock.operator(of_file)
    assert made(lambda: tripled(np.uint8([5]))).run()[0].at(0).tolist() == [15]


def test_definitions_that_are_wrong() -> None:
    def of(**members: Any) -> Any:
        annotations = members.pop("annotations", {})
        return type("wrong", (), {**members, "__annotations__": annotations, "__module__": __name__})

    for definition, error, text in [
        (of(), errors.ArgumentError, "wrong: expected one of element, pixel, where, run, got none"),
        (of(element="v", run=""), errors.ArgumentError, "got element and run"),
        (of(pixel=""), errors.ArgumentError, "wrong: channels=0: of a pixel 2 to 16"),
        (of(element="v", channels=3), errors.ArgumentError, "channels=3: of a pixel"),
        (of(pixel="", channels=17), errors.ArgumentError, "channels=17: expected 16 or less"),
        (of(element="v", inputs=2), errors.ArgumentError, "one input and one output"),
        (of(element=5), errors.ArgumentTypeError, r"element=5: expected C\+\+, or the path"),
        (of(element=Path("no.h")), errors.ArgumentError, "element='no.h': cannot be read"),
        (of(element="v", what=1), errors.ArgumentError, "what=1: an operator has no such member"),
        (of(element="v", annotations={"a": dict}), errors.ArgumentTypeError, "wrong: a: .*expected bool, int"),
        (of(element="v", annotations={"a": str}), errors.ArgumentTypeError, "a: the functor has numbers"),
        (of(element="v", annotations={"name": float}), errors.ArgumentError, "no argument can be called 'name'"),
        (of(element="v", annotations={"a": int}, a="x"), errors.ArgumentTypeError, "a='x': expected"),
        (of(element="v", takes="what"), errors.ArgumentTypeError, "takes and gives are types"),
        (of(where="", annotations={"mask": int}), errors.PluginError, "no argument can be called 'mask'"),
        (5, errors.ArgumentTypeError, "expected a class or a function"),
        (lambda a: "v", errors.ArgumentTypeError, "each parameter needs an annotation"),
    ]:
        with pytest.raises(error, match=text):
            penstock.operator(
                definition,
            )
    with pytest.raises(errors.PluginError, match="there cannot be an operator 'flip'"):
        penstock.operator(name="flip")(of(element="v"))
    assert any_fn.flip is fn.flip
    assert ops.Flip
