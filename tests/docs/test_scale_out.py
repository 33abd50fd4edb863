"""The code of docs/scale-out.md and docs/serving.md runs where the packages that it uses are."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fastapi", "pytriton", "ray", "tritonclient")


def blocks() -> dict[str, str]:
    """The blocks of Python, by the document and section, and their number there."""
    found = {}
    for name in ("scale-out", "serving"):
        sections = re.split(r"^## ", (ROOT / "docs" / f"{name}.md").read_text(), flags=re.MULTILINE)
        for section in sections:
            for k, code in enumerate(re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)):
                found[f"{name}: {section.splitlines()[0]} {k}"] = code
    return found


@pytest.mark.parametrize("title", blocks())
def test_code_runs(title: str, photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = blocks()[title]
    for package in PACKAGES:
        if re.search(rf"\b{package}\b", code) and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}: ./dev test frameworks has it")
    (tmp_path / "photos").symlink_to(photographs)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    if "import ray" in code:
        import ray

        ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    file = tmp_path / "code.py"  # a file, so that errors can show the line
    file.write_text(code)
    try:
        exec(compile(code, str(file), "exec"), {"__name__": "__main__"})
    finally:
        if "import ray" in code:
            ray.shutdown()
