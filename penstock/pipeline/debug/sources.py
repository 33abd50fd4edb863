"""Where a debugged pipeline's data comes from: each reader and each external source has an engine of its own."""

from __future__ import annotations

import dataclasses
from typing import Any

from penstock.eager.data import Tensors
from penstock.feed.turn import Turn
from penstock.feed.workers import Workers
from penstock.graph.node import OpNode
from penstock.optimize.passes import optimize
from penstock.run.iterations import Order
from penstock.run.options import Options
from penstock.run.runner import Runner


class DebugSource:
    """A reader or an external source, from iteration to iteration."""

    def __init__(self, node: OpNode, options: Options, turn: Turn):
        given = {**options.given, "checkpoint": None, "enable_checkpointing": False}
        self.node, self.options = node, dataclasses.replace(options, depth=1, gpu_depth=1, separated=False, given=given)
        plan = optimize(list(node.outputs), [node])
        names = ("py_num_workers", "py_start_method", "py_callback_pickler")
        self._workers = Workers(plan.nodes, options.sizes()[0], *(given[name] for name in names))
        self.runner = Runner(plan, self.options, turn)

    def take(self) -> tuple[tuple[Tensors, ...], Order | None]:
        """Its next batch, one list of tensors per output, and which samples these are if it is a reader.

        Raises what it raises, StopIteration where it has ended.
        """
        runner: Any = self.runner
        runner.fill(lambda: None)
        order = None
        if self.node.op.fed:
            runner.executor.wait()
            order = runner.executor.iterations.oldest.order
        return runner.take(gpu_too=True), order

    def close(self) -> None:
        self.runner.close()
        self._workers.close()
