"""Tries all operators on the cases of their test modules; see tests/cases.py. No operator is named here."""

from __future__ import annotations

import dataclasses
import importlib
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from penstock import DataNode, fn, types
from penstock.errors import PenstockError
from penstock.op import registry
from tests.cases import SAME, Case, Samples
from tests.runners import Nodes, Result, assert_apart, assert_close, assert_equal, dalis, ours

_HERE = Path(__file__).parent
_MODULES = [f"tests.augment.{path.parent.name}.{path.stem}" for path in sorted(_HERE.glob("*/test_*.py"))]
CASES: list[Case] = [case for name in _MODULES for case in getattr(importlib.import_module(name), "CASES", [])]
all_cases = pytest.mark.parametrize("case", CASES, ids=str)


def is_random(case: Case) -> bool:
    """Whether the result is drawn, so that no reference has it."""
    return registry.ops[case.op].random


def test_each_operator_has_cases() -> None:
    public = {cls for name, cls in registry.ops.items() if not name.startswith("_")}
    swept = {cls for cls in public if cls.__module__.startswith("penstock.augment.")}
    assert len(swept) > 10
    missing = sorted(cls.name for cls in swept - {registry.ops[case.op] for case in CASES})
    assert not missing, f"these operators have no CASES in tests/augment: {missing}"


@pytest.mark.parametrize("case", [c for c in CASES if not is_random(c)], ids=str)
def test_reference(case: Case) -> None:
    assert case.reference, "only operators that draw random numbers can do without a reference"
    found = ours(case)
    for i in range(case.count):
        wanted = case.expected(i)
        assert len(found) == len(wanted)
        for k, (result, expected) in enumerate(zip(found, wanted, strict=True)):
            what = f"sample {i}, output {k}"
            assert_close(result.arrays[i], expected, case.off_by, 1.0, case.tolerance, what)


@all_cases
def test_threads_and_batches_change_nothing(case: Case) -> None:
    wanted = ours(case, num_threads=1)
    batches = () if case.whole_batch else ((1, 1), (2, 2), (2, case.count + 2))
    for threads, batch_size in ((3, case.count), *batches):
        assert_equal(ours(case, num_threads=threads, batch_size=batch_size), wanted)


@all_cases
def test_fused_equals_unfused(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator between a decoder and a conversion, wherever its input can be the picture in a file."""

    def decoded(inputs: Nodes) -> Nodes:
        if not is_picture(case):
            return inputs
        gray = case.inputs[0].arrays[0].shape[2] == 1
        files = encoded(case.inputs[0])
        return [fn.decoders.image(files.node(), output_type=types.GRAY if gray else types.RGB), *inputs[1:]]

    def both() -> tuple[list[Result], list[Result]]:
        return ours(case, first=decoded), ours(case, first=decoded, then=as_floats)

    fused = both()
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    for a, b in zip(fused, both(), strict=True):
        assert_equal(a, b)
    assert_equal(ours(case), fused[0])  # and without the decoder, from memory


def as_floats(output: DataNode) -> DataNode:
    return fn.cast(output, dtype=types.FLOAT)


def is_picture(case: Case) -> bool:
    """Whether the first input can be stored in a PNG file without loss."""
    if not case.inputs or case.inputs[0].layout != "HWC" or case.inputs[0].dtype != np.uint8:
        return False
    return all(a.shape[2] in (1, 3) and a.size for a in case.inputs[0].arrays)


_encoded: dict[Samples, Samples] = {}


def encoded(pictures: Samples) -> Samples:
    """The pictures as the bytes of PNG files."""
    from PIL import Image

    if pictures not in _encoded:
        files = []
        for array in pictures.arrays:
            file = io.BytesIO()
            Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array).save(file, "PNG", compress_level=1)
            files.append(np.frombuffer(file.getvalue(), np.uint8))
        _encoded[pictures] = Samples(tuple(files))
    return _encoded[pictures]


@all_cases
def test_parity_with_dali(case: Case) -> None:
    if case.differs:
        pytest.skip(f"differs on purpose: {case.differs}")
    if case.op.startswith("_"):
        pytest.skip("no operator of DALI's")
    assert_apart(ours(case), dalis(case), case.from_dali, is_random(case))


def test_distances_from_dali_are_explained() -> None:
    """What is more than the rounding of floats has a reason."""
    for case in CASES:
        apart = case.from_dali
        whole = apart.off_by == 0 or (apart.off_by == 1 and apart.share <= 0.01)
        assert apart.why or (whole and apart.tolerance <= 1e-5), f"{case} does not say why"
        assert not case.differs or apart == SAME, f"{case} is not compared, so it has no distance"


def misshapen(given: Samples) -> Iterator[Samples]:
    """What an operator may get that it did not expect: no elements, single ones, too few and too many axes."""
    shape = given.arrays[0].shape
    for axis in range(len(shape)):
        for extent in (0, 1):
            arrays = [np.take(a, range(min(extent, a.shape[axis])), axis) for a in given.arrays]
            yield Samples(tuple(arrays), given.layout)
    for small in ((1,) * len(shape), (0,) * len(shape)):
        yield Samples(tuple(np.zeros(small, given.dtype) for _ in given.arrays), given.layout)
    for other in ((), (5,), (1, 2, 1, 3, 1, 2, 3)):
        if len(other) != len(shape):
            yield Samples(tuple(np.ones(other, given.dtype) for _ in given.arrays))


def of_other_types(given: Samples) -> Iterator[Samples]:
    for dtype in (np.bool_, np.int8, np.uint64, np.int64, np.float16, np.float64):
        if dtype != given.dtype:
            with np.errstate(over="ignore", invalid="ignore"):
                yield Samples(tuple(a.astype(dtype) for a in given.arrays), given.layout)


@pytest.mark.parametrize("case", [c for c in CASES if c.inputs], ids=str)
def test_any_input_gives_a_result_or_an_error(case: Case) -> None:
    """A crash would end the tests here; any other exception than the library's own fails."""
    done = 0
    for place, given in enumerate(case.inputs):
        for odd in (*misshapen(given), *of_other_types(given)):
            inputs = (*case.inputs[:place], odd, *case.inputs[place + 1 :])
            error = failure(dataclasses.replace(case, inputs=inputs))
            assert error is None or case.op in str(error), f"the error does not name the operator: {error}"
            done += 1
    assert done


def failure(case: Case) -> PenstockError | None:
    """The library's error, if there is one."""
    try:
        ours(case)
    except PenstockError as error:
        return error
    return None
