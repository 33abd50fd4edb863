"""Scripts that are written for DALI, as its documentation would have them, run on both.

Each file in ``scripts`` imports ``nvidia.dali`` and has ``main(folder, device)``, which returns arrays by name. They
run unchanged: with DALI, on the CPU, and with Penstock behind that name, on the CPU and on a GPU.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import compat

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
ON_GPU = [path for path in SCRIPTS if path.stem in ("getting_started", "conditionals", "external_source",
                                                    "auto_augmentation", "arithmetic", "checkpointing")]  # fmt: skip
# Decoders differ by so much, of 255, on the average; then pixels are scaled and divided by standard deviations.
NEAR = {"pixels": 1.0, "normalized": 0.05, "fed": 0.3, "turned": 1.0}

Found = dict[str, list[np.ndarray[Any, Any]]]


@pytest.fixture(autouse=True)
def frameworks() -> None:
    for package in ("nvidia.dali", "torch"):
        pytest.importorskip(package)


def run(script: Path, folder: Path, device: str = "cpu", **arguments: Any) -> Found:
    name = f"compat_script_{script.stem}"
    spec = importlib.util.spec_from_file_location(name, script)
    assert spec
    assert spec.loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # where DALI's conditionals look for it
    try:
        spec.loader.exec_module(module)
        found: Found = module.main(str(folder), device, **arguments)
    finally:
        del sys.modules[name]
    assert found
    return found


def run_here(script: Path, folder: Path, device: str = "cpu", **arguments: Any) -> Found:
    """The same with Penstock."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*was imported before penstock.compat")
        compat.install()
    try:
        return run(script, folder, device, **arguments)
    finally:
        compat.uninstall()


def compare(ours: Found, theirs: Found) -> None:
    assert list(ours) == list(theirs)
    for name, expected in theirs.items():
        for one, other in zip(ours[name], expected, strict=True):
            assert one.dtype == other.dtype, name
            assert one.shape == other.shape, name
            if name in NEAR:
                assert np.abs(one.astype(float) - other).mean() <= NEAR[name], name
            else:
                assert np.allclose(one, other, atol=1e-5), name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_do_what_they_do_with_dali(script: Path, photographs: Path) -> None:
    ours = run_here(script, photographs)
    if script.stem == "torch_functions":  # for which DALI needs PyTorch with CUDA
        return
    # Half a minute of DALI's, for pictures that cannot be compared.
    theirs = run(script, photographs, **({"random": False} if script.stem == "auto_augmentation" else {}))
    compare({name: arrays for name, arrays in ours.items() if name in theirs}, theirs)
    assert all(name in theirs or name.startswith("random") for name in ours)


@pytest.mark.parametrize("script", ON_GPU, ids=lambda path: path.stem)
def test_scripts_on_a_gpu(script: Path, photographs: Path, software_gpu: dict[str, str]) -> None:
    on_gpu, on_cpu = run_here(script, photographs, "gpu"), run_here(script, photographs)
    compare(on_gpu, {name: arrays for name, arrays in on_cpu.items() if name in on_gpu})


def test_a_source_in_workers(photographs: Path) -> None:
    script = next(path for path in SCRIPTS if path.stem == "external_source")
    compare(run_here(script, photographs, parallel=True), run_here(script, photographs))
