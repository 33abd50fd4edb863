"""Keeps as many actors as are wanted, wherever in the cluster there is room for them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import RayError, RayTaskError

from penstock.plugin.remote.maker import Facts, Maker
from penstock.plugin.remote.units import Made, Unit

_PAUSE = 1.0  # seconds before another actor takes the place of one that died


class Worker:
    """An actor that makes batches."""

    def build(self, definition: bytes, state: Mapping[str, Any] | None) -> Facts:
        """Makes the pipeline; raises what its definition does."""
        self._maker = Maker(cloudpickle.loads(definition), state)
        return self._maker.facts

    def make(self, unit: Unit) -> Made:
        """Makes a batch. What is returned goes to the object store."""
        return self._maker.make(unit)


class Supervisor:
    """Starts actors, replaces those that die, and tells trainers who is there.

    Args:
        definition: pickled, a function that returns the pipeline.
        options: of the actors, for Ray.
        wanted: how many actors.
    """

    def __init__(self, definition: bytes, options: Mapping[str, Any], wanted: int) -> None:
        self._definition = definition
        # Without num_cpus Ray counts none for an actor that runs, and all of them may come to one machine.
        self._actor = ray.remote(Worker).options(**{"num_cpus": 1, "max_concurrency": 32, **options})
        self._wanted = wanted
        self._members: dict[str, Any] = {}
        self._starting: dict[str, Any] = {}
        self._facts: Facts | None = None
        self._failure: Exception | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._version = self._count = 0
        self._changed = asyncio.Condition()

    async def facts(self) -> Facts:
        """What trainers need to know, from the first actor that is there."""
        self._grow()
        await self._until(lambda: self._facts is not None)
        assert self._facts is not None
        return self._facts

    async def members(self, seen: int) -> tuple[int, dict[str, Any]]:
        """The actors, when there are others than the version that was ``seen``, and the version of this answer."""
        await self._until(lambda: self._version != seen)
        return self._version, dict(self._members)

    async def resize(self, wanted: int) -> None:
        """Starts actors, or ends the youngest ones."""
        self._wanted = wanted
        for some in (self._starting, self._members):
            while some and len(self._members) + len(self._starting) > wanted:
                ray.kill(some.popitem()[1])
        self._grow()
        await self._tell()

    async def lost(self, name: str) -> None:
        """A trainer has found that one is gone."""
        if self._members.pop(name, None) is not None:
            await self._tell()
            await asyncio.sleep(_PAUSE)
            self._grow()

    def close(self) -> None:
        """Ends all actors, and this one."""
        self._wanted = 0
        for actor in [*self._members.values(), *self._starting.values()]:
            ray.kill(actor)
        ray.actor.exit_actor()

    def _grow(self) -> None:
        """Starts what is lacking. The first one alone: it says what others must be like."""
        most = self._wanted if self._facts else min(self._wanted, 1)
        while len(self._members) + len(self._starting) < most:
            name, self._count = f"{self._count}", self._count + 1
            self._starting[name] = actor = self._actor.remote()
            task = asyncio.get_running_loop().create_task(self._start(name, actor))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _start(self, name: str, actor: Any) -> None:
        state = self._facts.state if self._facts else None
        try:
            facts = await actor.build.remote(self._definition, state)
        except RayTaskError as error:  # of the definition's: another actor would fail as this one did
            self._failure = error.cause
            self._starting.pop(name, None)
        except RayError:
            self._starting.pop(name, None)
            await asyncio.sleep(_PAUSE)
        else:
            if self._starting.pop(name, None) is not None:  # else it was ended meanwhile
                self._facts = self._facts or facts
                self._members[name] = actor
        if self._failure is None:
            self._grow()
        await self._tell()

    async def _tell(self) -> None:
        self._version += 1
        async with self._changed:
            self._changed.notify_all()

    async def _until(self, condition: Any) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self._failure is not None)
        if self._failure is not None:
            raise self._failure
