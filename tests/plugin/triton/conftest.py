"""Files to send to servers."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def files(photographs: Path) -> list[bytes]:
    """16 photographs."""
    return [path.read_bytes() for path in sorted(photographs.glob("*/*.jpg"))]
