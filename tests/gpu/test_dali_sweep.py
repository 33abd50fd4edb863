"""All operators that run on GPUs beside DALI's GPU operators, on the cases of the sweep."""

from __future__ import annotations

import pytest

from penstock.op import registry
from tests.augment.frames import framed, frames_as_samples
from tests.augment.test_sweep import CASES, is_random
from tests.cases import Case
from tests.runners import assert_as_dali_on_gpu, assert_close, dalis, ours

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("elsewhere")]


def comparable(case: Case) -> bool:
    return not case.differs and not case.op.startswith("_") and "gpu" in registry.ops[case.op].devices


@pytest.mark.parametrize("case", [c for c in CASES if comparable(c)], ids=str)
def test_parity_with_dalis_gpu(case: Case) -> None:
    assert_as_dali_on_gpu(case, is_random(case))


@pytest.mark.parametrize("case", [c for c in framed(CASES) if comparable(c)], ids=str)
def test_each_frame_has_its_own_value(case: Case) -> None:
    try:
        assert_as_dali_on_gpu(case)
    except RuntimeError as error:
        # DALI's multi_paste fails on frames on the CPU, and takes those of other pictures on the GPU.
        if "The kernel instance is" not in str(error):
            raise
        found = [frame for sample in ours(case, device="gpu")[0].arrays for frame in sample]
        (alone,) = dalis(frames_as_samples(case))
        for k, (frame, wanted) in enumerate(zip(found, alone.arrays, strict=True)):
            assert_close(frame, wanted, 1, 0.005, 1e-4, f"frame {k}")
