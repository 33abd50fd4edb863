"""Environment variables: each of README's table is understood, and complained of where its value means nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import _settings, backend, fn
from penstock.errors import ArgumentError, DecodeError
from tests.small import made

ROOT = Path(__file__).resolve().parents[2]

# What means nothing to each setting; of folders any may be named, so they are not looked at before they are used.
WRONG = {
    "PENSTOCK_DEVICE_MEMORY": ["plenty", "-1", "0", "8T", "1e9", "99999999999G"],
    "PENSTOCK_PINNED_MEMORY": ["plenty", "1.5G"],
    "PENSTOCK_FUSE": ["maybe", "2"],
    "PENSTOCK_GDS": ["1", "compat", "ON"],
    "PENSTOCK_JPEG": ["foo", "nvjpeg"],
    "PENSTOCK_MAX_FILE_BYTES": ["abc", "-1", "0", "1e9", "2g", " "],
    "PENSTOCK_MAX_PIXELS": ["abc", "-1", "0", "1e8", "2**29", "100m", " "],
    "PENSTOCK_READ_TIMEOUT": ["abc", "-1", "nan", "inf", "5s"],
    "PENSTOCK_ISA": ["foo", "x86-64-v9"],
    "PENSTOCK_STORE_CACHE_BYTES": ["abc", "-1", "1e9"],
    "PENSTOCK_STORE_REQUESTS": ["abc", "0", "-1", "1.5"],
    "PENSTOCK_STORE_RETRIES": ["abc", "-1"],
    "PENSTOCK_STORE_TIMEOUT": ["abc", "0", "-1", "nan", "inf"],
}
FOLDERS = {"PENSTOCK_CACHE", "PENSTOCK_NATIVE", "PENSTOCK_STORE_CACHE"}


def run() -> None:
    made(lambda: fn.zeros()).run()


def test_the_table_of_settings_is_complete() -> None:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `PENSTOCK_")]
    named = {name for line in rows for name in re.findall(r"`(PENSTOCK_[A-Z_]+)=", line)}
    assert named == set(WRONG) | FOLDERS
    assert {setting.name for setting in _settings.CHECKED} == set(WRONG) - {"PENSTOCK_ISA"}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in WRONG.items() if name != "PENSTOCK_ISA" for text in texts]
)
def test_a_value_that_means_nothing(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ArgumentError, match=f"environment variable {name}='{re.escape(text)}': expected"):
        run()


@pytest.mark.parametrize("text", WRONG["PENSTOCK_ISA"])
def test_a_level_that_does_not_run(text: str) -> None:
    code = "from penstock import Pipeline, fn; p = Pipeline(1, 1, None); p.set_outputs(fn.zeros()); p.build()"
    env = {**os.environ, "PENSTOCK_ISA": text}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=ROOT, env=env)
    assert done.returncode != 0
    assert f"NativeLibraryError: PENSTOCK_ISA='{text}'" in done.stderr


def test_values_that_mean_something(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, pixels in (("1", 1), ("100M", 100 << 20), ("2G", 2 << 30), ("4K", 4096), ("", 1 << 29)):
        monkeypatch.setenv("PENSTOCK_MAX_PIXELS", text)
        assert backend.max_decoded_pixels() == pixels
    for name, texts in {
        "PENSTOCK_FUSE": ["0", "1", "off", "True", ""],
        "PENSTOCK_READ_TIMEOUT": ["0", "0.5", "300", "1e12"],
        "PENSTOCK_DEVICE_MEMORY": ["8G", "8000000000"],
        "PENSTOCK_JPEG": ["auto", "cpu", "cuda", "hardware"],
    }.items():
        for text in texts:
            monkeypatch.setenv(name, text)
            run()


def test_the_program_comes_before_the_environment(photographs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def decode() -> None:
        made(lambda: fn.decoders.image(fn.readers.file(file_root=str(photographs))[0])).run()

    monkeypatch.setenv("PENSTOCK_MAX_PIXELS", "1K")
    with pytest.raises(DecodeError, match="more than the limit of 1024 "):
        decode()
    backend.set_max_decoded_pixels(1 << 29)
    try:
        decode()
    finally:
        backend.set_max_decoded_pixels(None)
    with pytest.raises(DecodeError, match="more than the limit of 1024 "):
        decode()
