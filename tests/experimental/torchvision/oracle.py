"""DALI's own transforms, on a machine without a GPU."""

from __future__ import annotations

from typing import Any

import pytest


def dalis() -> Any:
    """The module, whose inputs PyTorch's builds for CPUs would otherwise be asked for CUDA streams of."""
    types = pytest.importorskip("nvidia.dali.types", reason="DALI, the oracle, is not installed")
    types._get_default_stream_for_array = lambda array: None
    return pytest.importorskip("nvidia.dali.experimental.torchvision")
