"""The code of docs/frameworks.md, and the examples of the plugins, run where the framework is installed."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import penstock
import penstock.plugin

ROOT = Path(__file__).resolve().parents[2]
# Frameworks that have environments of their own, by ./dev test frameworks; tests/docs/test_docs.py has the others.
APART = {"tf": "tensorflow", "paddle": "paddle", "mxnet": "mxnet", "ray": "ray"}


def programs() -> dict[str, str]:
    """All Python of a section, by the section's title."""
    text = (ROOT / "docs" / "frameworks.md").read_text()
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    code = {s.splitlines()[0]: re.findall(r"^```python\n(.*?)^```", s, re.DOTALL | re.MULTILINE) for s in sections}
    return {title: "\n".join(blocks) for title, blocks in code.items() if blocks}


@pytest.mark.parametrize("title", programs())
def test_section_runs(title: str, photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = programs()[title]
    modules = "jax|mxnet|paddle|pytorch_lightning|tensorflow|torch"
    for module in re.findall(rf"^(?:import|from) ({modules})", code, re.MULTILINE):
        pytest.importorskip(module, reason=f"needs {module}")
    (tmp_path / "photos").symlink_to(photographs)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "code.py"  # a file, so that errors can show the line
    file.write_text(code)
    exec(compile(code, str(file), "exec"), {"__name__": "code"})


@pytest.mark.parametrize("plugin", APART)
def test_examples_run(plugin: str, photographs: Path, tmp_path: Path) -> None:
    pytest.importorskip(APART[plugin], reason=f"needs {APART[plugin]}: ./dev test frameworks has it")
    (tmp_path / "a.jpg").write_bytes(next(photographs.glob("*/*.jpg")).read_bytes())
    package = importlib.import_module(f"penstock.plugin.{plugin}")
    names = [package.__name__, *(m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))]
    found = [test for name in names for test in doctest.DocTestFinder().find(importlib.import_module(name), name)]
    examples = [test for test in found if test.examples]
    assert examples
    said: list[str] = []
    for example in examples:
        example.globs.update(folder=str(tmp_path), fn=penstock.fn, pipeline_def=penstock.pipeline_def, np=np)
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not said, "".join(said)
