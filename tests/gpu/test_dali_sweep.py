"""All operators that run on GPUs beside DALI's GPU operators, on the cases of the sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.op import registry
from tests.augment.frames import framed
from tests.augment.test_sweep import CASES, is_random
from tests.cases import Case
from tests.runners import assert_as_dali_on_gpu

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("samples")


def comparable(case: Case) -> bool:
    return not case.differs and not case.op.startswith("_") and "gpu" in registry.ops[case.op].devices


@pytest.mark.parametrize("case", [c for c in CASES if comparable(c)], ids=str)
def test_parity_with_dalis_gpu(case: Case, folder: Path) -> None:
    assert_as_dali_on_gpu(case, folder, is_random(case))


@pytest.mark.parametrize("case", [c for c in framed(CASES) if comparable(c)], ids=str)
def test_each_frame_has_its_own_value(case: Case, folder: Path) -> None:
    assert_as_dali_on_gpu(case, folder)
