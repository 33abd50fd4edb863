"""examples/train_ddp.py with two processes on the CPU, as torchrun starts them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs PyTorch")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("processes", [1, 2])
def test_training(processes: int, photographs: Path) -> None:
    """16 pictures, of which 2 are for validation; each rank has a half, and counts are over both."""
    script = [
        "examples/train_ddp.py", "--data", str(photographs), "--epochs=2", "--batch=4", "--size=64", "--threads=1",
        "--model=small",
    ]  # fmt: skip
    launcher = ["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1"]
    launcher.append(f"--nproc-per-node={processes}")
    command = [sys.executable, *(launcher if processes > 1 else []), *script]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"epoch (\d): \d+ images/s, loss (\d+\.\d+), accuracy (\d)/(\d+) = [\d.]+%", done.stdout)
    assert [(epoch, seen) for epoch, _, _, seen in found] == [("1", "2"), ("2", "2")], done.stdout
    assert all(0 < float(loss) < 5 for _, loss, _, _ in found)
