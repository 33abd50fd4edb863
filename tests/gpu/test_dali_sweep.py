"""All operators that run on GPUs beside DALI's GPU operators, on the cases of the sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.op import registry
from tests.cases import Case
from tests.runners import assert_close, dalis, ours
from tests.test_sweep import CASES, is_random

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("samples")


def comparable(case: Case) -> bool:
    return not case.differs and not case.op.startswith("_") and "gpu" in registry.ops[case.op].devices


@pytest.mark.parametrize("case", [c for c in CASES if comparable(c)], ids=str)
def test_parity_with_dalis_gpu(case: Case, folder: Path) -> None:
    """Integers at most 1 apart; floats within a thousandth, for DALI's GPU kernels round otherwise than its CPU's."""
    try:
        wanted = dalis(case, "gpu")
    except (RuntimeError, TypeError, ValueError) as error:
        pytest.skip(f"DALI's GPU operator refuses it: {str(error).splitlines()[0][:80]}")
    found = ours(case, folder, device="gpu")
    assert len(found) == len(wanted)
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert (a.dtype, a.layout) == (b.dtype, b.layout)
        for i, (x, y) in enumerate(zip(a.arrays, b.arrays, strict=True)):
            assert x.shape == y.shape
            if not is_random(case):
                assert_close(x, y, 1, 0.05, 1e-3, f"sample {i}, output {k}")
