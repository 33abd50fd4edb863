"""Workers in this process that come, die and answer in any order: what batches are made by in tests of trainers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from penstock.plugin.remote.crew import Crew
from penstock.plugin.remote.maker import Facts, ReaderFacts
from penstock.plugin.remote.pipeline import RemotePipeline
from penstock.plugin.remote.units import LostError, Made, Unit
from penstock.read.order import EpochOrder, Position
from penstock.run.state import State

SEED = 5


def indices_alone(unit: Unit) -> Made:
    """A batch of the numbers of its samples."""
    return Made([("", np.array(unit.samples["Reader"].indices)[:, None])])


def facts(size: int, batch_size: int, **order: Any) -> Facts:
    """Of a pipeline with one reader, that gives the numbers of its samples."""
    identity = {
        "samples": size, "num_shards": 1, "stick_to_shard": False, "random_shuffle": False,
        "shuffle_after_epoch": False, "sampler": False, **{k: v for k, v in order.items() if k != "pad_last_batch"},
    }  # fmt: skip
    reader = ReaderFacts(EpochOrder(size, batch_size=batch_size, seed=SEED, **order), identity, False)
    state = State(SEED, 0, {"Reader": Position(0, 0)}, batch_size, random=[])
    return Facts(batch_size, SEED, {"Reader": reader}, [], json.loads(state.text()), False)


class Workers:
    """A transport to so many workers. Each answer may find its worker dead, with a probability, and another in its
    place; and workers may be late, so that others are asked.
    """

    def __init__(
        self, count: int, make: Callable[[Unit], Made] = indices_alone, deaths: float = 0, seed: int = 0
    ) -> None:
        self._make, self._deaths, self._random = make, deaths, random.Random(seed)
        self.names = [f"first {k}" for k in range(count)]
        self.asked: list[tuple[str, Unit]] = []
        self.most = self.died = 0
        self._dead: set[str] = set()

    def workers(self) -> Sequence[str]:
        return [name for name in self.names if name not in self._dead]

    def start(self, worker: str, unit: Unit) -> int:
        self.asked.append((worker, unit))
        return len(self.asked) - 1

    def wait(self, batches: Collection[int], timeout: float) -> Sequence[int]:
        self.most = max(self.most, len(batches))
        least = min(1 if timeout else 0, len(batches))
        return self._random.sample(list(batches), self._random.randint(least, len(batches)))

    def get(self, batch: int) -> Made:
        worker, unit = self.asked[batch]
        if worker not in self._dead and self._random.random() < self._deaths:
            self._dead.add(worker)
            self.died += 1
        if worker in self._dead:
            raise LostError(worker)
        return self._make(unit)

    def lost(self, worker: str) -> None:
        if worker in self.names:
            self.names.remove(worker)
            self.names.append(f"{worker}'s successor")


def remote(transport: Workers, of: Facts, patience: float = 1000, **arguments: Any) -> RemotePipeline:
    """A pipeline whose batches these workers make."""
    return RemotePipeline(Crew(transport, patience, timeout=1), of, **arguments)
