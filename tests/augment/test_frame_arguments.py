"""Arguments with a value for each frame of a sequence, of all operators that DALI gives them to. None is named here."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

pytest.importorskip("nvidia.dali", reason="DALI, which says what arguments have frames, is not installed")

from penstock.op import registry
from tests.augment.frames import by_frame, frame_counts, framed, frames_as_samples, of_frames
from tests.augment.test_sweep import CASES
from tests.cases import Case, Samples
from tests.runners import assert_apart, assert_equal, dalis, ours

FRAMED = framed(CASES)
all_cases = pytest.mark.parametrize("case", FRAMED, ids=str)


def test_each_argument_is_tried() -> None:
    wanted = {(op, name) for op in registry.ops if not op.startswith("_") for name in of_frames(op)}
    # Other names of operators that are tried.
    tried = {(cls.name, name) for case in FRAMED for name in by_frame(case) for cls in [registry.ops[case.op]]}
    missing = sorted({(registry.ops[op].name, name) for op, name in wanted} - tried)
    assert len(tried) > 40
    assert not missing, f"no case in tests/augment gives these for each sample: {missing}"


@all_cases
def test_each_frame_has_its_own_value(case: Case) -> None:
    counts = frame_counts(case)
    alone = ours(frames_as_samples(case))
    for result, single in zip(ours(case), alone, strict=True):
        frames = [frame for a in result.arrays for frame in a]
        assert [len(a) for a in result.arrays] == counts
        assert len(frames) == len(single.arrays)
        if [f.shape for f in frames] != [f.shape for f in single.arrays]:
            # Frames of one size, that of the largest, which is odd or even as most of them are.
            sizes = [(f.shape, s.shape) for f, s in zip(frames, single.arrays, strict=True)]
            assert all(a >= b - 1 for frame, own in sizes for a, b in zip(frame, own, strict=True))
            continue
        for frame, own in zip(frames, single.arrays, strict=True):
            np.testing.assert_array_equal(frame, own)


@pytest.mark.parametrize("case", [c for c in FRAMED if not c.differs], ids=str)
def test_as_dali_has_it(case: Case) -> None:
    assert_as_dali(case)


def assert_as_dali(case: Case) -> None:
    try:
        wanted = dalis(case)
    except (RuntimeError, ValueError) as error:
        # multi_paste fails on sequences of more than one frame; some operators take no sequences of volumes.
        if refused := re.search(r"The kernel instance is|does not match any of the allowed layouts", str(error)):
            pytest.skip(f"DALI fails on these frames: {refused[0]}")
        raise
    assert_apart(ours(case), wanted, case.from_dali)


@all_cases
def test_one_frame_stands_for_all(case: Case) -> None:
    """And a value that is no frame's, too."""

    def shortened(frame: bool) -> Case:
        arguments = dict(case.arguments)
        for name in by_frame(case):
            v = case.arguments[name]
            first = [a[:1] if frame else a[0] for a in v.arrays]
            arguments[name] = Samples(tuple(first), v.layout if frame else v.layout[1:].replace("F", ""))
        return dataclasses.replace(case, arguments=arguments)

    found = ours(shortened(True))
    if case.inputs:
        assert_equal(found, ours(shortened(False)))
    if not case.differs:
        assert_as_dali(shortened(True))
