"""Thousands of broken files of every format through the native decoders (decode_fuzz.cpp).

``./dev test fuzz`` tries them under AddressSanitizer and UndefinedBehaviorSanitizer; a few are tried in every run.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from penstock.machine.codecs import codecs
from tests.fuzz.seeds import write_seeds
from tests.programs import ROOT, all_levels

Note = Callable[[str, object], None]
PARTS, FILES_OF_A_PART = 4, 25_000
FORMATS = {codec.name for codec in codecs()}
# A single allocation of more than any file here should ask for is a finding, too.
ASAN_OPTIONS = "detect_leaks=0:allocator_may_return_null=0:max_allocation_size_mb=1024:quarantine_size_mb=64"


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    extra = os.environ.get("DALI_EXTRA_PATH") or next(map(str, ROOT.parent.glob("*/DALI_extra")), None)
    return write_seeds(tmp_path_factory.mktemp("seeds"), Path(extra) if extra else None)


def run(words: Sequence[str | Path], number: int = 0) -> subprocess.CompletedProcess[str]:
    """decode_fuzz of one of the instruction-set levels that are built, the best one for 0."""
    programs = all_levels("decode_fuzz")
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}  # it is for Python
    return subprocess.run(
        [programs[number % len(programs)], *words],
        capture_output=True, text=True, env={**environment, "ASAN_OPTIONS": ASAN_OPTIONS},
    )  # fmt: skip


def fuzz(seeds: list[Path], number: int, files: int, note: Note) -> None:
    """Notes how many files of each format were tried; those that fail are kept."""
    keep = ROOT / "build" / "fuzz"
    keep.mkdir(parents=True, exist_ok=True)
    done = run(["--files", str(files), "--seed", str(number), "--keep", keep, *seeds], number)
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
    rows = re.findall(r"^(.+?) +(\d+) files of \d+ seeds: (\d+) decoded, (\d+) refused$", done.stdout, re.M)
    counts = {row[0]: [int(number) for number in row[1:]] for row in rows}
    note("broken files", counts)
    assert counts.keys() == FORMATS
    assert sum(tried for tried, _, _ in counts.values()) == files
    for tried, decoded, refused in counts.values():
        assert tried >= files // len(FORMATS)
        assert decoded > 0
        assert refused > 0


def test_a_failure_is_told_and_kept(seeds: list[Path], tmp_path: Path) -> None:
    """With next to no memory allowed each file is one; it can be made again, and the others are tried, too."""
    made = []
    for name, more in (("all", ["--files", "5"]), ("again", ["--only", "3"])):
        folder = tmp_path / name
        folder.mkdir()
        done = run([*more, "--seed", "9", "--megabytes", "1", "--keep", folder, *seeds])
        assert done.returncode == 1
        assert "MB of memory" in done.stderr
        assert "decode_fuzz --seed 9 --only 3 and the same files" in done.stdout
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0].keys() == {f"fuzz-9-{number}.bin" for number in range(5)}
    assert made[1] == {"fuzz-9-3.bin": made[0]["fuzz-9-3.bin"]}


def test_some_broken_files(seeds: list[Path], record_property: Note) -> None:
    fuzz(seeds, 0, 7000, record_property)


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_many_broken_files_under_sanitizers(seeds: list[Path], part: int, record_property: Note) -> None:
    """100 000 in all, through the library of each instruction-set level in turn."""
    fuzz(seeds, 1 + part, FILES_OF_A_PART, record_property)
