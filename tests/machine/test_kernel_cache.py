"""Compiled kernels on disk: whole, or not at all."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from penstock.machine import kernels


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    return kernels.folder() / "kernels" / "one.cubin"


def test_what_is_kept_is_found(kept: Path) -> None:
    kernels._keep(kept, b"code" * 5000)
    assert kernels._load(kept) == b"code" * 5000
    assert list(kept.parent.iterdir()) == [kept]


def test_a_full_disk_keeps_nothing(kept: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        kernels._keep(kept, b"code" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert kernels._load(kept) is None
    assert list(kept.parent.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_no_error(kept: Path) -> None:
    kept.parent.parent.mkdir(exist_ok=True)
    kept.parent.write_text("a file")
    kernels._keep(kept, b"code")
    assert kernels._load(kept) is None
