"""Workers, processes or threads, that call the sources of external sources ahead of the pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.errors import GraphError
from penstock.feed.ahead import Ahead
from penstock.feed.external import ExternalSource
from penstock.feed.workers.pool import Pool
from penstock.feed.workers.tasks import Setup
from penstock.graph.node import OpNode
from penstock.pickling import Pickler


class Workers:
    """Those of a pipeline. Sources with ``parallel=True`` share the processes, and with "threads" the threads.

    Args:
        nodes: all of the pipeline.
        batch_size: samples of a batch.
        count, method, pickler: ``py_num_workers``, ``py_start_method`` and ``py_callback_pickler``.

    Raises GraphError where sources need workers and there are none to be; what pickling a source raises.
    """

    def __init__(self, nodes: Iterable[OpNode], batch_size: int, count: Any, method: str, pickler: Any):
        self._pools: list[Pool] = []
        threaded: list[OpNode] = []
        others: list[OpNode] = []
        for node in nodes:
            if isinstance(node.op, ExternalSource) and isinstance(node.op.poll, Ahead):
                (threaded if node.op.poll.threads else others).append(node)
        if not (threaded or others):
            return
        # They take long to import, and most pipelines have no such source.
        from penstock.feed.workers.processes import MOST, ProcessPool
        from penstock.feed.workers.threads import ThreadPool

        if not isinstance(count, int) or not 1 <= count <= MOST:
            raise GraphError(
                f"py_num_workers={count!r}, but external sources with `parallel` need 1 to {MOST} workers"
                f"\n  operator made at {(others or threaded)[0].location}"
            )
        try:
            if others:
                chosen = Pickler.of(pickler)
                setups = [_setup(node, batch_size) for node in others]
                self._attach(others, ProcessPool(setups, count, method, (chosen.dumps, chosen.loads)))
            if threaded:
                self._attach(threaded, ThreadPool([_setup(node, batch_size) for node in threaded], count))
        except BaseException:
            self.close()
            raise

    def _attach(self, nodes: list[OpNode], pool: Pool) -> None:
        self._pools.append(pool)
        for k, node in enumerate(nodes):
            assert isinstance(node.op, ExternalSource)
            assert isinstance(node.op.poll, Ahead)
            node.op.poll.attach(pool, k)

    def memory(self) -> list[int]:
        """Bytes of shared memory, by slot."""
        return [size for pool in self._pools for size in pool.memory()]

    def close(self) -> None:
        """Ends them. Any thread may call it at any moment."""
        for pool in self._pools:
            pool.close()


def _setup(node: OpNode, batch_size: int) -> Setup:
    op = node.op
    assert isinstance(op, ExternalSource)
    assert op.poll is not None
    return Setup(
        op.source, op.cycle, op.gives_batches(), bool(op.batch_info), op.count, batch_size, op.poll.indexed,
        f"external_source {node.name!r}", f"\n  operator made at {node.location}" if node.location else "",
    )  # fmt: skip
