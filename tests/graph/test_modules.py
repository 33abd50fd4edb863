"""Names of modules, and what they and pipelines show to completion."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock import fn
from tests.small import made

ROOT = Path(__file__).resolve().parents[2]

# What scripts import from DALI's modules, of what there is here.
NAMES = {
    "": ["Pipeline", "StreamPolicy", "OperatorConcurrency", "newaxis", "pipeline_def", "backend", "backend_impl",
         "data_node", "fn", "math", "ops", "pipeline", "tensors", "types"],
    "pipeline": ["DataNode", "OperatorConcurrency", "Pipeline", "StreamPolicy", "do_not_convert", "pipeline_def"],
    "data_node": ["DataNode", "newaxis"],
    "backend": ["TensorCPU", "TensorGPU", "TensorListCPU", "TensorListGPU", "ReleaseUnusedMemory",
                "PreallocateDeviceMemory", "PreallocatePinnedMemory"],
    "backend_impl": ["TensorCPU", "TensorGPU", "TensorListCPU", "TensorListGPU", "ReleaseUnusedMemory", "types"],
    "tensors": ["TensorCPU", "TensorGPU", "TensorListCPU", "TensorListGPU"],
    "plugin.base_iterator": ["LastBatchPolicy"],
    "plugin.pytorch": ["DALIClassificationIterator", "DALIGenericIterator", "LastBatchPolicy", "feed_ndarray",
                       "to_torch_type", "Pipeline", "TensorCPU", "TensorGPU", "TensorListGPU"],
}  # fmt: skip


@pytest.mark.parametrize("module", NAMES)
def test_modules_have_dalis_names(module: str) -> None:
    pytest.importorskip("torch", reason="needs PyTorch") if "pytorch" in module else None
    own = importlib.import_module(f"penstock.{module}".rstrip("."))
    missing = [name for name in NAMES[module] if not hasattr(own, name)]
    assert missing == []
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    theirs = importlib.import_module(f"{dali.__name__}.{module}".rstrip("."))
    assert [name for name in NAMES[module] if not hasattr(theirs, name)] == []


def test_math_is_dalis() -> None:
    dali = pytest.importorskip("nvidia.dali.math", reason="DALI, the oracle, is not installed")
    theirs = {name for name in dir(dali) if callable(getattr(dali, name)) and not name.startswith("_")}
    assert theirs <= set(dir(penstock.math))


def test_lazy_names_are_shown() -> None:
    code = "import penstock; print(*dir(penstock)); penstock.data_node.DataNode; penstock.backend_impl.TensorListGPU"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert {"profile", "fn", "ops", "backend", "plugin", "tensors", "data_node"} <= set(done.stdout.split())


def test_what_pipelines_show() -> None:
    pipe = made(lambda: fn.zeros())
    shown = set(dir(pipe))
    for name in (
        "batch_size",
        "max_batch_size",
        "num_threads",
        "device_id",
        "seed",
        "cpu_queue_size",
        "run",
        "set_affinity",
    ):
        assert name in shown
    assert "not built" in repr(pipe)
    pipe.build()
    assert "built>" in repr(pipe)
    assert "not built" not in repr(pipe)
    pipe.close()
    assert "closed>" in repr(pipe)


@pytest.mark.parametrize("example", ["demo.py", "train_ddp.py"])
def test_examples_take_the_installed_package(example: str, tmp_path: Path) -> None:
    """And not that of the checkout they lie in, which may not be built."""
    pytest.importorskip("torch", reason="needs PyTorch")
    installed = tmp_path / "penstock"
    installed.mkdir()
    (installed / "__init__.py").write_text("raise SystemExit('the installed one')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, str(ROOT / "examples" / example)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=env)
    assert "the installed one" in done.stderr
