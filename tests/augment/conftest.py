"""Operators that write files write them elsewhere than here."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the test works in."""
    folder = tmp_path_factory.mktemp("work", numbered=True)
    monkeypatch.chdir(folder)
    return folder
