"""Iterators for JAX over several devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="needs JAX")


def test_global_arrays_and_pmap(tmp_path: Path) -> None:
    """Of ten samples in four shards, 0 1 | 2 3 4 | 5 6 | 7 8 9."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    program = [sys.executable, "-m", "tests.plugin.jax.devices_program", str(tmp_path)]
    ran = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)

    shards = [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9]]
    padded = [shard + shard[-1:] * (4 - len(shard)) for shard in shards]
    whole = [[n for shard in padded for n in shard[i : i + 2]] for i in (0, 2)]
    assert found["sharding"] == [[[8, 1], numbers, [0, 1, 2, 3]] for numbers in whole]
    assert found["by hand"] == found["sharding"]
    assert found["sum"] == [sum(numbers) for numbers in whole]
    assert found["flags"] == [[True, [True] * 8], [True, [False, False, True, False, False, False, True, False]]]

    halves = [[0, 1, 2, 3, 5, 6, 7, 8], [4, 4, 4, 4, 9, 9, 9, 9]]
    assert found["pmap"] == [[[2, 4, 1], numbers, [1, 2]] for numbers in halves]
    assert found["doubled"] == [[2 * n for n in numbers] for numbers in halves]
    assert found["several"] == [2, 2, 1]

    assert "batch_size=6 cannot be divided by the number of devices, 4" in found["indivisible"]
    assert "batch_size is missing" in found["no size"]
    assert "has 4 devices of this process" in found["too few"]
    assert "1 checkpoints are given for 4 pipelines" in found["checkpoints"]
