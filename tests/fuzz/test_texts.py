"""Thousands of changed texts: serialized pipelines, checkpoints, indexes of JPEG files (texts.py).

``./dev test fuzz`` tries 100 000 of each under AddressSanitizer and UndefinedBehaviorSanitizer; some are tried in every
run. Each gives a result or an exception of the library's own, in a bounded time and with bounded memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.text_mutation import content_hash, mutant, summed
from tests.fuzz.text_seeds import KINDS, indexes
from tests.programs import ROOT

Note = Callable[[str, object], None]
PARTS, TEXTS_OF_A_PART = 4, 25_000
# Memory is refused where more is asked for at once; a process that is left to itself would take it.
ASAN_OPTIONS = "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=768:quarantine_size_mb=16"


def fuzz(kind: str, first: int, texts: int, keep: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tests.fuzz.texts", kind, "--first", str(first), "--texts", str(texts)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASAN_OPTIONS": ASAN_OPTIONS}
    if "LD_PRELOAD" not in os.environ:
        more = (*more, "--address-space", "6144")  # sanitizers need much more, and limit single requests
    return subprocess.run([*words, "--keep", keep, *more], capture_output=True, text=True, env=environment, cwd=ROOT)


def check(kind: str, first: int, texts: int, note: Note) -> None:
    done = fuzz(kind, first, texts, ROOT / "build" / "fuzz")
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
    counts = json.loads(done.stdout.splitlines()[-1])
    note(kind, counts)
    assert counts["texts"] == texts
    assert counts["result"] > texts // 100  # many changes are small
    assert counts["ArgumentError" if kind != "index" else "result"] > texts // 100


@pytest.mark.parametrize("kind", KINDS)
def test_some_changed_texts(kind: str, record_property: Note) -> None:
    check(kind, 0, 500, record_property)


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_many_changed_texts_under_sanitizers(kind: str, part: int, record_property: Note) -> None:
    check(kind, part * TEXTS_OF_A_PART, TEXTS_OF_A_PART, record_property)


def test_a_failure_is_told_and_kept(tmp_path: Path) -> None:
    """With hardly any memory allowed some text fails; it is written out, and can be made again."""
    done = fuzz("checkpoint", 0, 3, tmp_path, "--megabytes", "0")
    assert done.returncode == 1, done.stderr
    assert "checkpoint 0: memory" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1])["failures"] >= 1
    again = fuzz("checkpoint", 0, 3, tmp_path, "--show", "0")
    assert (tmp_path / "checkpoint-0-0.txt").read_text() == again.stdout


def test_mutations_are_reproducible_and_change_something() -> None:
    text = b'{"a": [1, 2.5, "x", null, true], "b": {"c": [[0, 1]]}}'
    made = [mutant(text, Random(f"{n}")) for n in range(300)]
    assert made == [mutant(text, Random(f"{n}")) for n in range(300)]
    assert len(set(made)) > 200


def test_sums_are_put_right(tmp_path: Path) -> None:
    """As the library has them: an index that is not changed stays as it is, and a changed one gets other sums."""
    index = indexes(tmp_path)[1]
    assert summed(index) == index
    entry = int.from_bytes(index[40:48], "little")
    place = int.from_bytes(index[entry + 8 : entry + 16], "little")
    changed = bytearray(index)
    changed[place + 60] ^= 1
    again = summed(bytes(changed))
    assert again[place : place + 8] != index[place : place + 8]
    assert again[place + 8 :] == bytes(changed[place + 8 :])
    assert content_hash(b"") != content_hash(b"\0")
