"""``python -m penstock doctor``, on this machine and on poorer ones."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.insight import doctor, machine, probes
from penstock.machine import loader

NOWHERE = "/nowhere/lib.so"
SECTIONS = {
    "versions", "processors", "memory", "pictures", "sounds", "stores", "gpus", "cuda libraries", "frameworks",
    "missing",
}  # fmt: skip


def run(*arguments: str, **environment: str) -> str:
    """What it prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "doctor", *arguments], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


def found(**environment: str) -> dict[str, Any]:
    """The same, parsed."""
    answer: dict[str, Any] = json.loads(run("--json", **environment))
    assert set(answer) == SECTIONS
    assert not [name for name, facts in answer.items() if "error" in facts]
    return answer


def missing(answer: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By what is missing."""
    assert all(one[key] for one in answer["missing"] for key in ("what", "without", "fix"))
    return {one["what"]: one for one in answer["missing"]}


def test_it_tells_what_is_there() -> None:
    answer = found()
    assert platform.python_version() in answer["versions"]["python"]
    assert answer["versions"]["native library"] == str(loader.library_path())
    assert answer["versions"]["instruction set"].startswith(loader.isa())
    assert answer["processors"]["usable"] <= (os.cpu_count() or 1)
    assert "libjpeg" in answer["pictures"]["JPEG"]
    assert all(value != "missing" for value in answer["pictures"].values())
    assert answer["frameworks"]["numpy"] == __import__("numpy").__version__


def test_text_has_all_sections() -> None:
    text = run()
    for section in SECTIONS:
        assert f"\n{section}\n" in "\n" + text or section == "missing"


@pytest.mark.parametrize("library", ["libtiff", "libwebp", "libopenjp2"])
def test_hidden_codecs_are_missing(library: str) -> None:
    name = {"libtiff": "TIFF", "libwebp": "WebP", "libopenjp2": "JPEG 2000"}[library]
    answer = found(**{f"PENSTOCK_{library.upper()}": NOWHERE})
    assert [key for key, value in answer["pictures"].items() if value == "missing"] == [name]
    assert "pip install pillow" in missing(answer)[f"a decoder of {name}"]["fix"]


def test_sounds_and_stores() -> None:
    answer = found()
    assert "libsndfile" in answer["sounds"]["libsndfile"]
    assert answer["stores"]["obstore"] == importlib.metadata.version("obstore")
    hidden = found(PENSTOCK_LIBSNDFILE=NOWHERE)
    assert hidden["sounds"] == {"libsndfile": "missing"}
    assert "pip install soundfile" in missing(hidden)["libsndfile"]["fix"]


def test_a_missing_client_of_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", none)
    lacks: list[probes.Missing] = []
    assert probes.stores(lacks) == {"obstore": "not installed"}
    assert "penstock[stores]" in lacks[0].fix


def test_hidden_cuda_is_missing(tmp_path: Path) -> None:
    hidden = dict.fromkeys(("CUDA_DRIVER", "NVRTC", "NVJPEG", "NVIMGCODEC"), NOWHERE)
    answer = found(PENSTOCK_CACHE=str(tmp_path), **{f"PENSTOCK_{name}": path for name, path in hidden.items()})
    lines = missing(answer)
    assert answer["gpus"] == {"driver": "not found"}
    assert {"a GPU", "NVRTC", "nvJPEG", "nvImageCodec"} <= set(lines)
    assert "driver" in lines["a GPU"]["fix"]
    assert all("penstock[cuda13]" in lines[name]["fix"] for name in ("NVRTC", "nvJPEG", "nvImageCodec"))
    assert answer["cuda libraries"]["compiled kernels"].startswith("0, 0.0 MiB")


def test_gpus_are_described(software_gpu: dict[str, str]) -> None:
    answer = found()
    assert answer["gpus"]["driver"].startswith("for CUDA 1")
    assert "compute capability" in answer["gpus"]["GPU 0"]
    assert not {"a GPU", "NVRTC", "nvJPEG"} & set(missing(answer))
    if software_gpu:
        assert answer["cuda libraries"]["nvJPEG"] == software_gpu["PENSTOCK_NVJPEG"]
        assert "GPU 1" in answer["gpus"]


def test_a_missing_native_library_is_no_crash(tmp_path: Path) -> None:
    answer: dict[str, Any] = json.loads(run("--json", PENSTOCK_NATIVE=str(tmp_path)))
    assert answer["versions"]["native library"] == "not found"
    assert "No pipeline runs." in missing(answer)["the native library"]["without"]
    assert answer["processors"]["usable"] >= 1


def test_a_probe_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(_: Any) -> Any:
        raise FileNotFoundError("/proc/meminfo")

    monkeypatch.setattr(doctor, "_PROBES", {"memory": odd})
    answer = doctor.examine()
    assert answer == {"memory": {"error": "FileNotFoundError: /proc/meminfo"}, "missing": []}
    assert "FileNotFoundError" in doctor.as_text(answer)
    assert "nothing is missing" in doctor.as_text(answer)


def test_limits_of_containers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer" / "cpu.max").write_text("150000 100000\n")
    (inner / "cpu.max").write_text("max 100000\n")
    (inner / "memory.max").write_text("1073741824\n")
    own = tmp_path / "own"
    own.write_text("0::/outer/inner\n")
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path)
    monkeypatch.setattr(machine, "_OWN", own)
    assert machine.processor_quota() == 1.5
    assert machine.memory_limit() == 1 << 30
    assert machine.usable_processors() == min(1.5, len(os.sched_getaffinity(0)))


def test_limits_of_version_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this process's group and of the groups above it; in a container, what the root shows."""
    for path, text in {
        "memory/outer/inner/memory.limit_in_bytes": "629145600",
        "memory/outer/memory.limit_in_bytes": "314572800",
        "memory/memory.limit_in_bytes": "9223372036854771712",
        "cpu/outer/inner/cpu.cfs_quota_us": "-1",
        "cpu/outer/inner/cpu.cfs_period_us": "100000",
        "cpu/cpu.cfs_quota_us": "250000",
        "cpu/cpu.cfs_period_us": "100000",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text + "\n")
    own = tmp_path / "own"
    own.write_text("5:memory:/outer/inner\n3:cpu,cpuacct:/outer/inner\n1:name=systemd:/x\n")
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path)
    monkeypatch.setattr(machine, "_OWN", own)
    assert machine.memory_limit() == 300 << 20
    assert machine.processor_quota() == 2.5
    own.write_text("5:memory:/of/the/host\n")  # as in a container
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("1073741824\n")
    assert machine.memory_limit() == 1 << 30
