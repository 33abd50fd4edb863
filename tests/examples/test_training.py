"""The examples that train small networks on generated data, shortened: they learn, and tell where the time went."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.decode.sounds import sounds_can_be_decoded

pytest.importorskip("torch", reason="needs PyTorch")
ROOT = Path(__file__).resolve().parents[2]


def run(script: str, *words: str) -> tuple[int, str]:
    """Its status and what it prints."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, f"examples/{script}", *words], cwd=ROOT, capture_output=True, text=True, timeout=280, env=env
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def told(text: str) -> bool:
    """Whether the loader's share is told."""
    return bool(
        re.search(r"the loader: [\d.]+ s of [\d.]+ s waited for \([\d.]+ %\), [\d.]+ s of [\d.]+ s of the", text)
    )


def test_commands_are_learned() -> None:
    """Half of what is said, where guessing has an eighth: a tenth of the sounds is enough for that."""
    if not sounds_can_be_decoded():
        pytest.skip("needs libsndfile")
    status, text = run("train_commands.py", "--count=160", "--epochs=4", "--least=101", "--threads=1")
    assert status == 1, text
    assert told(text), text
    assert float(re.findall(r"([\d.]+) % told right, of which", text)[0]) > 50, text


def test_actions_are_learned() -> None:
    """Half of the clips, where guessing has an eighth: a third of the videos is enough for that."""
    pytest.importorskip("av", reason="needs PyAV, which makes videos")
    status, text = run("train_actions.py", "--count=128", "--epochs=4", "--least=101", "--threads=1")
    assert status == 1, text
    assert told(text), text
    assert float(re.findall(r"([\d.]+) % told right, of which", text)[0]) > 50, text


def test_shapes_are_learned() -> None:
    """The loss falls: shapes are found after more pictures than there is time for here."""
    status, text = run("train_ssd.py", "--count=64", "--epochs=4", "--least=0", "--threads=1")
    assert status == 0, text
    assert told(text), text
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", text)]
    assert len(losses) == 4
    assert losses[-1] < 0.8 * losses[0]
