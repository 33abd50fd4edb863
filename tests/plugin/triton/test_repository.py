"""Model repositories, and the class that Triton's Python backend runs, without Triton."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.__main__ import main
from penstock.errors import ArgumentError
from penstock.plugin.triton.repository import write_model
from tests.plugin.triton.models import expected, load

CONFIG = """\
name: "photos"
backend: "python"
max_batch_size: 16
input { name: "FILE" data_type: TYPE_UINT8 dims: [-1] allow_ragged_batch: true }
output { name: "image" data_type: TYPE_UINT8 dims: [-1, -1, -1] }
output { name: "size" data_type: TYPE_INT64 dims: [-1] }
instance_group [{ count: 2 kind: KIND_CPU }]
dynamic_batching { max_queue_delay_microseconds: 300 }
"""


def test_the_command_writes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(tmp_path)
    words = ["--name", "photos", "--outputs", "image,size", "--delay", "300", "--instances", "2"]
    assert main(["triton", str(tmp_path / "prepared.py"), "--out", str(tmp_path / "models"), *words]) == 0
    folder = tmp_path / "models" / "photos"
    assert capsys.readouterr().out == f"{folder}\n"
    assert (folder / "config.pbtxt").read_text() == CONFIG
    assert sorted(path.name for path in (folder / "1").iterdir()) == ["model.py", "pipeline.json"]


def test_what_cannot_be_served_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = load(tmp_path)
    for arguments, message in (
        ({"outputs": ["one"]}, "the pipeline has 2 outputs"),
        ({"as_bytes": ["X"]}, "bytes: X: the inputs are FILE"),
    ):
        with pytest.raises(ArgumentError, match=message):
            write_model(pipe, tmp_path / "models", "m", **arguments)
    assert not (tmp_path / "models").exists()
    for text, message in (
        (None, "there is no such file"),
        ("x = 1", "Found 0: none"),
        ((tmp_path / "prepared.py").read_text().replace("output_ndim=[3, 1],", ""), "output_ndim="),
        ((tmp_path / "prepared.py").read_text().replace("ndim=1, ", ""), "fn.external_source takes dtype=, ndim="),
    ):
        file = tmp_path / "other.py"
        if text is not None:
            file.write_text(text)
        assert main(["triton", str(file), "--out", str(tmp_path / "models")]) == 1
        assert message in capsys.readouterr().err


class Tensor:
    """As Triton's own in its Python backend."""

    def __init__(self, name: str, array: Any) -> None:
        self._name, self.array = name, array

    def name(self) -> str:
        return self._name

    def as_numpy(self) -> Any:
        return self.array


class Requested:
    """A request of Triton's Python backend, and what was sent for it."""

    def __init__(self, *tensors: Tensor) -> None:
        self._tensors, self.sent = tensors, []

    def inputs(self) -> Any:
        return self._tensors

    def get_response_sender(self) -> Any:
        return SimpleNamespace(send=lambda response=None, flags=0: self.sent.append((response, flags)))


@pytest.fixture
def utils(monkeypatch: pytest.MonkeyPatch) -> None:
    def response(output_tensors: Any, error: Any = None) -> Any:
        return SimpleNamespace(tensors={t.name(): t.array for t in output_tensors}, error=error)

    fake = SimpleNamespace(
        InferenceResponse=response, Tensor=Tensor, TritonError=str, TRITONSERVER_RESPONSE_COMPLETE_FINAL=1
    )
    monkeypatch.setitem(sys.modules, "triton_python_backend_utils", fake)


def model(folder: Path, decoupled: bool) -> Any:
    """What Triton makes of a model's folder."""
    spec = importlib.util.spec_from_file_location("model", folder / "1" / "model.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.TritonPythonModel()
    config = {
        "output": [{"name": "OUTPUT_0"}, {"name": "OUTPUT_1"}],
        "model_transaction_policy": {"decoupled": decoupled},
    }
    made.initialize({
        "model_config": json.dumps(config), "model_repository": str(folder), "model_version": "1",
        "model_instance_kind": "CPU", "model_instance_device_id": "0",
    })  # fmt: skip
    return made


def test_requests_are_answered(utils: None, files: list[bytes], tmp_path: Path) -> None:
    wanted = expected(tmp_path, files)
    served = model(write_model(load(tmp_path), tmp_path / "models", "m"), False)
    one = Requested(Tensor("FILE", np.frombuffer(files[0], np.uint8)[None]))
    some = Requested(Tensor("FILE", np.array(files[1:4], object)[:, None]))
    bad = Requested(Tensor("FILE", np.array([[b"no picture"]], object)))
    first, second, third = served.execute([one, some, bad])
    assert np.array_equal(first.tensors["OUTPUT_0"], wanted[0][None])
    assert np.array_equal(second.tensors["OUTPUT_0"], np.stack(wanted[1:4]))
    assert second.tensors["OUTPUT_1"].shape == (3, 3)
    assert first.error is None
    assert third.error.startswith("DecodeError: ")
    served.finalize()


def test_streams_are_answered(utils: None, files: list[bytes], tmp_path: Path) -> None:
    wanted = expected(tmp_path, files)
    folder = write_model(load(tmp_path), tmp_path / "models", "m", as_bytes=["FILE"], decoupled=True)
    config = (folder / "config.pbtxt").read_text()
    assert "max_batch_size: 0" in config
    assert 'input { name: "FILE" data_type: TYPE_STRING dims: [-1] }' in config
    served = model(folder, True)
    many = Requested(Tensor("FILE", np.array((files * 3)[:40], object)))
    bad = Requested(Tensor("FILE", np.array([b"none"], object)))
    assert served.execute([many, bad]) is None
    assert [len(response.tensors["OUTPUT_0"]) for response, flags in many.sent if not flags] == [16, 16, 8]
    images = np.concatenate([response.tensors["OUTPUT_0"] for response, flags in many.sent if not flags])
    assert np.array_equal(images, np.stack((wanted * 3)[:40]))
    assert [flags for _, flags in many.sent] == [0, 0, 0, 1]
    assert bad.sent[0][0].error.startswith("DecodeError")
    assert bad.sent[1] == (None, 1)


def test_from_the_command_line(tmp_path: Path) -> None:
    load(tmp_path)
    words = ["-m", "penstock", "triton", str(tmp_path / "prepared.py"), "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
