"""DALI, with which sources are compared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def dali() -> Any:
    """DALI's modules under the names of ours."""
    pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    import nvidia.dali as package
    from nvidia.dali import fn, ops, tensors, types

    return SimpleNamespace(Pipeline=package.Pipeline, fn=fn, ops=ops, types=types, tensors=tensors)
