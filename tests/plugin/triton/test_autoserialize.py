"""Pipelines that are found, and serialized, by servers of models."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def
from penstock.errors import GraphError
from penstock.plugin.triton import autoserialize, invoke_autoserialize
from tests.small import values

MODEL = """
import numpy as np
from penstock import fn, pipeline_def
from penstock.plugin.triton import autoserialize

@autoserialize
@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def model():
    return fn.external_source(name="INPUT") * 3

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def another():
    return fn.external_source(name="INPUT")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package whose module has the pipeline."""
    folder = tmp_path / "served_model"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from served_model import pipelines\nfrom served_model.pipelines import model\n"
    )
    (folder / "pipelines.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("served_model")
    for name in ("served_model", "served_model.pipelines"):
        del sys.modules[name]


def test_the_marked_pipeline_is_written(package: Any, tmp_path: Path) -> None:
    invoke_autoserialize(package, tmp_path / "model.dali")
    pipe = Pipeline.deserialize(filename=str(tmp_path / "model.dali"))
    assert values(pipe.run(INPUT=np.array([[1], [2]]))[0]) == [3, 6]


def test_one_is_needed(package: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"Found 0: none") as error:
        invoke_autoserialize(ModuleType("empty"), tmp_path / "model.dali")
    assert isinstance(error.value, GraphError)
    autoserialize(package.pipelines.another)
    with pytest.raises(
        RuntimeError, match=r"Found 2: served_model\.pipelines\.model, served_model\.pipelines\.another"
    ):
        invoke_autoserialize(package, tmp_path / "model.dali")
    assert not (tmp_path / "model.dali").exists()


def test_only_definitions_of_pipelines_are_marked() -> None:
    with pytest.raises(TypeError, match=r"^Only `@pipeline_def` can be decorated"):
        autoserialize(lambda: None)


def test_what_cannot_be_serialized_says_so(tmp_path: Path) -> None:
    model = ModuleType("model")
    model.pipeline = autoserialize(  # type: ignore[attr-defined]
        pipeline_def(batch_size=1, num_threads=1, device_id=None)(
            lambda: fn.python_function(np.zeros(3), function=lambda x: x)
        )
    )
    with pytest.raises(GraphError, match=r"python_function.*cannot be serialized"):
        invoke_autoserialize(model, tmp_path / "model.dali")
