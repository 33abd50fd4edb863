"""Files to read for tests of the engine."""

from __future__ import annotations

import pytest

COUNT = 24


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """File i is made of bytes that all are i, from 1000 to 70 000 of them."""
    folder = tmp_path_factory.mktemp("numbered")
    for i in range(COUNT):
        (folder / f"{i:02}").write_bytes(bytes([i]) * (1000 + 3000 * i))
    return [str(folder / f"{i:02}") for i in range(COUNT)]
