"""The code of docs/frameworks.md runs as it stands, where the framework is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def programs() -> dict[str, str]:
    """All Python of a section, by the section's title."""
    text = (ROOT / "docs" / "frameworks.md").read_text()
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    code = {s.splitlines()[0]: re.findall(r"^```python\n(.*?)^```", s, re.DOTALL | re.MULTILINE) for s in sections}
    return {title: "\n".join(blocks) for title, blocks in code.items() if blocks}


@pytest.mark.parametrize("title", programs())
def test_section_runs(title: str, photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = programs()[title]
    for module in re.findall(
        r"^(?:import|from) (jax|mxnet|paddle|pytorch_lightning|tensorflow|torch)", code, re.MULTILINE
    ):
        pytest.importorskip(module, reason=f"needs {module}")
    (tmp_path / "photos").symlink_to(photographs)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "code.py"  # a file, so that errors can show the line
    file.write_text(code)
    exec(compile(code, str(file), "exec"), {"__name__": "code"})
