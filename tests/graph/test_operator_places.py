"""An operator is found where its name says: files of one name, in the same group everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import _catalog
from penstock.op import Op, registry

ROOT = Path(__file__).resolve().parents[2]
_catalog.load()
OPERATORS = [cls for cls in registry.public().values() if cls.__module__.startswith("penstock.augment.")]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda cls: cls.name)
def test_files_have_its_name(operator: type[Op]) -> None:
    """Of `reductions.sum` and its likes, which share all they are made of, that is the part before the dot."""
    group, module = operator.__module__.split(".")[2:]
    assert module in operator.name.split("."), "the declaration is in a module of another name"
    # Its own, or of the operator whose kernel it has.
    names = {module, operator.kernel, operator.kernel.removeprefix(f"{group}_")}
    assert any((ROOT / f"tests/augment/{group}/test_{name}.py").exists() for name in names)
    if operator.name != "constant":  # data of the plan
        units = [ROOT / f"native/ops/{group}/{name}.cpp" for name in names]
        assert any(f'PS_OPERATOR("{operator.kernel}"' in unit.read_text() for unit in units if unit.exists())
