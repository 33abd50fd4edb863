"""Fixtures of readers' tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from penstock.machine import native
from tests.read.cufile import CuFile


@pytest.fixture
def cufile(software_gpu: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[CuFile]:
    """PENSTOCK_GDS=on, and nothing is left behind."""
    if not software_gpu:
        pytest.skip("a real cuFile does not tell what it does")
    monkeypatch.setenv("PENSTOCK_GDS", "on")
    library = CuFile(software_gpu["PENSTOCK_CUFILE"])
    yield library
    for call in range(4):
        library.fail(call, 0)
    library.limit(0)
    gc.collect()
    assert library.counts()[1:3] == (0, 0)


@pytest.fixture
def closed(cufile: CuFile) -> Iterator[CuFile]:
    """The driver is closed, and so asked anew what there is."""
    native.blocking().ps_gpu_close_storage()
    assert cufile.counts().uses == 0
    yield cufile
    native.blocking().ps_gpu_close_storage()
