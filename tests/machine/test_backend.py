"""`penstock.backend`, `sysconfig` and `plugin_manager` by DALI's names: what they tell, note and load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import backend, backend_impl, fn, get_include, sysconfig, tensors
from penstock.errors import ArgumentError, PluginError
from penstock.machine import versions
from tests.custom import build
from tests.small import made

OPERATOR = r"""
#include <penstock/operator.hpp>

struct Flags {
  static penstock::Declaration declare() {
    return penstock::Declaration("tests.flags", "A number.").inputs(0);
  }
  void setup(const penstock::Sample& s) const {
    s.output(0).set_dtype(penstock::DType::int32);
    s.output(0).set_shape({});
  }
  void run(const penstock::Sample& s) const { *s.output(0).data<int32_t>() = 7; }
};
PENSTOCK_OPERATORS(Flags)
"""


@pytest.fixture
def dali() -> Any:
    return pytest.importorskip("nvidia.dali.backend", reason="DALI, the oracle, is not installed")


def test_buffer_settings_are_noted_and_checked_as_dalis(dali: Any) -> None:
    settings = ["HostBufferGrowthFactor", "DeviceBufferGrowthFactor", "HostBufferShrinkThreshold"]
    before = [getattr(backend, f"Get{name}")() for name in settings]
    assert before == [getattr(dali, f"Get{name}")() for name in settings]
    try:
        for name in [*settings, "BufferGrowthFactor"]:
            for value in (-0.5, 0, 0.25, 1, 3.5, 4, 4.5):
                refused = []
                for library in (dali, backend):
                    try:
                        getattr(library, f"Set{name}")(value)
                    except ValueError:
                        refused.append(library)
                assert len(refused) in (0, 2), f"{name}: {value}"
                theirs = [getattr(dali, f"Get{n}")() for n in settings]
                assert [getattr(backend, f"Get{n}")() for n in settings] == pytest.approx(theirs)
        with pytest.raises(ArgumentError, match="SetBufferGrowthFactor: factor=nan: expected 1 to 4"):
            backend.SetBufferGrowthFactor(float("nan"))
    finally:
        for library in (backend, dali):
            for name, value in zip(settings, before, strict=True):
                getattr(library, f"Set{name}")(value)


def test_capsules_are_known_as_dali_knows_them(dali: Any) -> None:
    capsule = np.arange(3).__dlpack__()
    assert backend.CheckDLPackCapsule(capsule) == dali.CheckDLPackCapsule(capsule) == (True, False)
    tensors.TensorCPU(capsule)  # consumes it
    assert backend.CheckDLPackCapsule(capsule) == (False, False)  # an error of DALI's
    for value in (5, None, np.zeros(2)):
        assert backend.CheckDLPackCapsule(value) == tuple(dali.CheckDLPackCapsule(value)) == (False, False)
    theirs = {name: int(getattr(dali.DLDeviceType, name).value) for name in dir(dali.DLDeviceType) if name[:3] == "kDL"}
    assert {name: int(one) for name, one in backend.DLDeviceType.__members__.items()} == theirs


def test_capsules_of_a_gpu(software_gpu: dict[str, str]) -> None:
    on_gpu = made(lambda: fn.zeros(device="gpu"), device_id=0).run()[0][0]
    assert backend.CheckDLPackCapsule(on_gpu.__dlpack__()) == (True, True)
    assert backend.GetCUDADeviceCount() >= 1
    assert backend.GetCudaVersion() >= 12000


def test_versions(monkeypatch: pytest.MonkeyPatch, dali: Any) -> None:
    monkeypatch.setattr(versions, "nvjpeg", lambda: (13, 3, 2))
    assert backend.GetNvjpegVersion() == 13302
    monkeypatch.setattr(versions, "nvjpeg", lambda: None)
    assert backend.GetNvjpegVersion() == -1
    monkeypatch.undo()
    if backend.GetNvimgcodecVersion() != -1:
        assert backend.GetNvimgcodecVersion() == dali.GetNvimgcodecVersion()
    monkeypatch.setenv("PENSTOCK_CUDA_DRIVER", "/nowhere/libcuda.so")
    assert versions.driver() is None
    assert backend.GetCudaVersion() == 0


def test_the_implementation_has_what_the_backend_has() -> None:
    assert all(getattr(backend_impl, name) is getattr(backend, name) for name in backend.__all__)


def test_a_library_is_built_by_these_flags(tmp_path: Path) -> None:
    assert sysconfig.get_include_flags() == [f"-I{sysconfig.get_include_dir()}"]
    assert sysconfig.get_include_dir() == get_include()
    assert list(Path(sysconfig.get_lib_dir()).glob("libpenstock-*.so"))
    assert sysconfig.get_link_flags() == []
    source, library = tmp_path / "flags.cpp", tmp_path / "libdali_flags.so"
    source.write_text(OPERATOR)
    build.run(
        build.program("c++", "g++", "clang++"), "-shared", "-O1", *sysconfig.get_compile_flags(), source,
        *sysconfig.get_link_flags(), "-o", library,
    )  # fmt: skip
    backend.LoadDirectory(tmp_path)
    any_fn: Any = fn
    assert made(lambda: any_fn.tests.flags()).run()[0].as_array().tolist() == [7] * 4
    assert "tests__Flags" in backend.RegisteredCPUOps()
    broken = tmp_path / "broken.so"
    broken.write_text("no library")
    backend.LoadLibrary(broken, allow_fail=True)
    with pytest.raises(PluginError, match=r"broken\.so"):
        backend.LoadLibrary(broken)
    with pytest.raises(PluginError, match=r"there cannot be an operator 'tests\.flags'"):
        backend.LoadLibrary(library.rename(tmp_path / "other.so"))


def test_a_plug_in_of_dalis_is_refused(dali: Any) -> None:
    """DALI's own library of operators stands for those that are compiled against it."""
    folder = Path(dali.__file__).parent
    with pytest.raises(PluginError, match=r"plug-in of DALI, which DALI alone can load: write its operators anew"):
        backend.LoadLibrary(folder / "libdali_operators.so")
