"""Epochs over processes that torchrun starts, and another number of them going on in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs PyTorch")
ROOT = Path(__file__).resolve().parents[2]
SIZE = 103


def torchrun(processes: int, folder: Path, *words: str) -> None:
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1",
        f"--nproc-per-node={processes}", "tests/scale/epochs_program.py", str(folder), *words,
    ]  # fmt: skip
    env = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


def test_four_processes_begin_and_three_go_on(tmp_path: Path) -> None:
    torchrun(4, tmp_path)
    torchrun(3, tmp_path, "rest")
    begun, rest = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("begun", "rest"))
    for policy in ("FILL", "DROP", "PARTIAL"):
        before = [n for (batches,) in begun[policy] for batch in batches for n in batch]
        assert len(set(before)) == len(before) == 4 * 2 * 5
        first = _flat(rest[policy], 0)
        counts = Counter([*before, *first])
        steps = [{len(ranks[k]) for ranks in rest[policy]} for k in range(2)]
        if policy == "PARTIAL":
            assert counts == dict.fromkeys(range(SIZE), 1)
            assert Counter(_flat(rest[policy], 1)) == counts
            continue
        assert [len(some) for some in steps] == [1, 1]  # all ranks have as many batches
        if policy == "DROP":
            assert set(counts.values()) == {1}
            assert len(first) == (SIZE - 40) // 3 // 5 * 3 * 5
        else:
            assert set(counts) == set(range(SIZE))


def _flat(ranks: list[Any], epoch: int) -> list[int]:
    return [n for one in ranks for batch in one[epoch] for n in batch]
