"""`Pool`: pipelines in Ray's actors that make batches for trainers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import GetTimeoutError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from penstock.errors import ArgumentError, WorkerError
from penstock.pipeline import Pipeline
from penstock.plugin.ray.supervisor import Supervisor
from penstock.plugin.ray.transport import RayTransport
from penstock.plugin.remote.crew import Crew
from penstock.plugin.remote.maker import Facts
from penstock.plugin.remote.pipeline import RemotePipeline


class Pool:
    """Actors of Ray's, each with the same pipeline, that make batches for one trainer or for many.

    `pipeline` gives what takes the pipeline's place in an iterator of `penstock.plugin`. The iterator gives what it
    would give over the pipeline itself, bit for bit and in the same order: the same epochs, ends of epochs and states
    (docs/checkpoints.md), however many actors there are. Actors that die, with their machines or without, are replaced,
    and others make the batches that they had. Actors may be added and taken away in the middle of an epoch (`resize`).

    A pool may be passed to tasks and actors of Ray's, such as trainers. It ends with the process that made it.

    Args:
        definition: a function without arguments that returns the pipeline, the same on all machines: it has readers
            (without ``num_shards``, for trainers say which part they want), and no external sources.
        actors: how many there are to be; those for which the cluster has no room yet come when it has.
        options: of the actors, for Ray: ``{"num_cpus": 8}`` for 8 threads, ``"resources"``, ``"runtime_env"`` ...
        timeout: seconds to wait for the first actor, and for one to come where none is left.

    Raises what the definition raises in an actor, ArgumentError for a pipeline that has no readers, or other inputs,
    and WorkerError where no actor could be started in time.

    Example:
        >>> from penstock.plugin.numpy import DALIGenericIterator
        >>> from penstock.plugin.ray import Pool
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> pool = Pool(pipeline, actors=2)
        >>> batches = DALIGenericIterator(pool.pipeline(), ["number"], reader_name="Reader")
        >>> [batch[0]["number"].ravel().tolist() for batch in batches]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
        >>> pool.close()
    """

    def __init__(
        self,
        definition: Callable[[], Pipeline],
        *,
        actors: int = 1,
        options: Mapping[str, Any] | None = None,
        timeout: float = 300.0,
    ) -> None:
        if actors < 1:
            raise ArgumentError(f"actors={actors}: expected one or more")
        if not ray.is_initialized():
            ray.init()
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        supervisor = ray.remote(Supervisor).options(num_cpus=0, max_concurrency=1000, scheduling_strategy=here)
        self._supervisor = supervisor.remote(cloudpickle.dumps(definition), dict(options or {}), actors)
        self._timeout = timeout
        try:
            self._facts: Facts = ray.get(self._supervisor.facts.remote(), timeout=timeout)
        except RayTaskError as error:
            ray.kill(self._supervisor)
            raise error.cause from None
        except GetTimeoutError:
            ray.kill(self._supervisor)
            raise WorkerError(f"no actor could be started in {timeout:.0f} s: is there room in the cluster?") from None

    def pipeline(
        self,
        shard_id: int = 0,
        num_shards: int = 1,
        *,
        ahead: int = 8,
        patience: float = 60.0,
        checkpoint: str | Mapping[str, Any] | None = None,
    ) -> RemotePipeline:
        """What an iterator takes for a pipeline; it is made in the trainer's process.

        Args:
            shard_id: which part of each epoch this trainer reads first, as a reader's argument of that name.
            num_shards: how many trainers share an epoch.
            ahead: batches that are under way or waiting for this trainer: no more are made, and the object store has to
                have room for that many of each trainer.
            patience: seconds after which a batch that has not come is asked of another actor, too.
            checkpoint: a state to go on from, of this trainer or of all (`penstock.merge_states`).
        """
        crew = Crew(RayTransport(self._supervisor, shard_id), patience, self._timeout)
        return RemotePipeline(crew, self._facts, shard_id, num_shards, ahead, checkpoint)

    def resize(self, actors: int) -> None:
        """From now on there are to be so many actors. Trainers notice; batches of those that go are made by others."""
        if actors < 1:
            raise ArgumentError(f"actors={actors}: expected one or more")
        ray.get(self._supervisor.resize.remote(actors))

    def actors(self) -> dict[str, Any]:
        """The handles of the actors that are there now, by name."""
        return ray.get(self._supervisor.members.remote(-1))[1]  # type: ignore[no-any-return]

    def close(self) -> None:
        """Ends the actors. Iterators get an error when they want more."""
        self._supervisor.close.remote()
