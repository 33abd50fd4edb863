"""README's code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_pipeline(photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "photos").symlink_to(photographs)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    file = tmp_path / "readme.py"  # a file, so that errors can show the line
    file.write_text(code)
    scope: dict[str, object] = {}
    exec(compile(code, str(file), "exec"), scope)
    images, labels = scope["images"], scope["labels"]
    assert tuple(images.shape) == (256, 3, 224, 224)  # type: ignore[attr-defined]
    assert set(labels.flatten().tolist()) == set(range(8))  # type: ignore[attr-defined]
    assert 0.3 < float(images.std()) < 3  # type: ignore[attr-defined]  # normalised
