"""Files and folders that documents name are there, and so are those behind their links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "bench|cmake|docs|examples|native|penstock|tests|tools"
FILES = {path.name for folder in FOLDERS.split("|") for path in (ROOT / folder).rglob("*.*")}


def named(text: str) -> set[str]:
    """Paths in the text's code: those of folders of the repository, and names of files."""
    found = set()
    for code in re.findall(r"`([^`\n]+)`", text):
        found |= set(re.findall(rf"(?<![\w./-])(?:{FOLDERS})/[\w./-]*", code))
        found |= set(re.findall(r"^\w+\.(?:h|cpp|py)$", code))
    return found


def exists(name: str) -> bool:
    """Whether there is such a file or folder; GROUP and NAME stand for those of any operator."""
    name = name.replace("GROUP", "boxes").replace("NAME", "bb_flip")
    return (ROOT / name).exists() if "/" in name else name in FILES


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_in_documents_exist(document: Path) -> None:
    text = document.read_text()
    assert [name for name in sorted(named(text)) if not exists(name)] == []
    links = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_paths_are_found() -> None:
    text = "See `native/nowhere/NAME.cpp` and `gone.h`, `penstock/device/GROUP/NAME.h`; not `a/native/x` or `FLOAT`."
    assert named(text) == {"native/nowhere/NAME.cpp", "gone.h", "penstock/device/GROUP/NAME.h"}
    assert [exists(name) for name in sorted(named(text))] == [False, False, True]
    architecture = named((ROOT / "docs" / "architecture.md").read_text())
    assert {"penstock/optimize/passes.py", "native/run/worker_pool.cpp", "penstock/pipeline/running.py"} <= architecture
