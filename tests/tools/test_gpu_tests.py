"""tools/gpu_tests.py understands what pytest and compute-sanitizer say. It runs them on a GPU only."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import gpu_tests

GOOD = """\
........s [100%]
========= COMPUTE-SANITIZER
=========================== short test summary info ============================
SKIPPED [2] tests/cuda/test_gpu_engine.py:312: needs two GPUs
8 passed, 2 skipped in 3.21s
========= ERROR SUMMARY: 0 errors
"""
BAD = """\
FAILED tests/augment/test_sweep_gpu.py::test_cpu_and_gpu[flip] - AssertionError: sample 2 in /somewhere/private
ERROR tests/augment/test_sweep_gpu.py::test_two
1 failed, 7 passed, 1 error in 9.00s
========= RACECHECK SUMMARY: 10 hazards displayed (10 errors, 0 warnings)
"""


def test_a_good_run() -> None:
    run = gpu_tests.summary_of(GOOD, "memcheck", 0)
    assert run.good
    assert (run.closing, run.errors) == ("8 passed, 2 skipped in 3.21s", "ERROR SUMMARY: 0 errors")
    assert (run.failed, run.skipped) == ([], ["[2] needs two GPUs"])


@pytest.mark.parametrize("status", [0, 1])
def test_a_bad_run(status: int) -> None:
    """The sanitizer's errors alone make it bad."""
    run = gpu_tests.summary_of(BAD, "racecheck", status)
    assert not run.good
    assert run.closing == "1 failed, 7 passed, 1 error in 9.00s"
    wanted = [
        "FAILED tests/augment/test_sweep_gpu.py::test_cpu_and_gpu[flip]",
        "ERROR tests/augment/test_sweep_gpu.py::test_two",
    ]
    assert run.failed == wanted
    assert run.errors == "RACECHECK SUMMARY: 10 hazards displayed (10 errors, 0 warnings)"


def test_logs_of_all_processes_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    command = [sys.executable, "-c", "print('3 passed in 0.1s')"]
    assert not gpu_tests.run("it", command, tmp_path, logs).good
    (logs / "1").write_text("========= ERROR SUMMARY: 0 errors\n")
    (logs / "2").write_text("========= ERROR SUMMARY: 0 errors\n")
    assert gpu_tests.run("it", command, tmp_path, logs).good
    (logs / "3").write_text("========= Invalid __global__ read\n========= ERROR SUMMARY: 1 error\n")
    bad = gpu_tests.run("it", command, tmp_path, logs)
    assert not bad.good
    assert bad.errors == "ERROR SUMMARY: 0 errors; ERROR SUMMARY: 1 error"
    assert "Invalid __global__ read" in capfd.readouterr().out


def test_a_run_that_ends_in_the_middle() -> None:
    run = gpu_tests.summary_of("....\nFatal Python error: Aborted\n", "tests", -6)
    assert not run.good
    assert run.closing == "pytest said nothing and ended with -6"


def test_the_report() -> None:
    runs = [gpu_tests.summary_of(GOOD, "tests", 0), gpu_tests.summary_of(BAD, "racecheck", 1)]
    text = gpu_tests.report(["GPUs: one"], runs, ["a note"])
    assert "- GPUs: one" in text
    assert "| tests | 8 passed, 2 skipped in 3.21s | ERROR SUMMARY: 0 errors |" in text
    assert "| racecheck | **failed**: 1 failed, 7 passed, 1 error in 9.00s |" in text
    assert "- FAILED tests/augment/test_sweep_gpu.py::test_cpu_and_gpu[flip]" in text
    assert "private" not in text


def test_output_is_shown_and_kept(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = gpu_tests.run("it", [sys.executable, "-c", "print('3 passed in 0.1s'); raise SystemExit(0)"], tmp_path)
    assert run.good
    assert run.closing == "3 passed in 0.1s"
    assert "3 passed" in capfd.readouterr().out


def test_the_sanitizer_is_found_in_an_installation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "cuda" / "bin" / "compute-sanitizer"
    program.parent.mkdir(parents=True)
    monkeypatch.setattr(gpu_tests.shutil, "which", lambda _: None)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert gpu_tests.find_sanitizer() != program
    program.write_text("")
    program.chmod(0o755)
    assert gpu_tests.find_sanitizer() == program


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tests.software_gpu.libraries.has_real_gpu", lambda: False)
    monkeypatch.setattr(sys, "argv", ["gpu_tests.py"])
    assert gpu_tests.main() == 1
    assert "there is no NVIDIA GPU here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["-n", "15", "tests"], ["-n", "15", "tests", "-n", "3"]), (["tests", "-k", "jpeg"], ["tests", "-k", "jpeg"])],
)
def test_few_processes_under_a_sanitizer(words: list[str], expected: list[str]) -> None:
    assert gpu_tests.few(words) == expected
