"""A twin of a running pipeline: the same nodes from where it is, with other outputs. The pipeline stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from penstock.feed.turn import Turn
from penstock.graph.copies import copies
from penstock.graph.node import DataNode, OpNode
from penstock.optimize.passes import optimize
from penstock.optimize.plan import is_data
from penstock.run.options import Options
from penstock.run.program import key_of
from penstock.run.readers import reader_of
from penstock.run.runner import Runner

# What a twin does not take from the pipeline's arguments: its processors are the pipeline's.
_APART = {"checkpoint": None, "enable_checkpointing": False, "set_affinity": False}


def repeatable(nodes: Sequence[OpNode], fed: Collection[str] = ()) -> list[OpNode]:
    """Those of a plan's nodes that may run once more without the user's code noticing it.

    Left out are external sources (but for those of one output that are ``fed``, by name), functions in Python, which
    may remember what they are called with, and all that depends on them.
    """
    kept: dict[OpNode, None] = {}
    for node in nodes:
        fits = not node.op.external or (node.name in fed and len(node.outputs) == 1)
        if fits and not node.op.in_python and all(data.source in kept for data in node.sources()):
            kept[node] = None
    return list(kept)


class Twin:
    """Runs ``outputs``, which may be any of the runner's nodes that are `repeatable`, from where the runner is.

    ``fed``: a batch for each external source among them, by name. Samples are those that the runner's next batches
    have: random numbers belong to the sample.
    """

    def __init__(
        self, runner: Runner, options: Options, outputs: Sequence[DataNode], fed: Mapping[str, Any], batch_size: int
    ):
        nodes = repeatable(runner.plan.nodes, fed)
        made = copies(nodes)
        drawing = [node for node in runner.plan.nodes if node.op.random and not is_data(node)]
        for rank, node in enumerate(drawing):  # the twin may have fewer
            if node in made:
                made[node].key = key_of(node.op, options.seed, rank)
        for node in made.values():
            if node.op.external:  # its source is not asked: it is fed once, and has that always
                vars(node.op).update(poll=None, repeat_last=True, blocking=False)
        plan = optimize([made[data.source].outputs[data.index] for data in outputs], [])
        again = replace(options, batch_size=batch_size, given={**options.given, **_APART})
        self._fed = {n.name: fed[n.name] for n in plan.nodes if n.op.external}
        self.runner = Runner(plan, again, Turn())
        try:
            self._go_to_place_of(runner, {node: old for old, node in made.items()})
        except BaseException:
            self.runner.close()
            raise

    def _go_to_place_of(self, runner: Runner, old: Mapping[OpNode, OpNode]) -> None:
        place = runner.executor.place
        states = {node: state for (node, _), state in zip(runner.executor.program.readers, place.states, strict=True)}
        readers = [node for node, _ in self.runner.executor.program.readers]
        for node in readers:
            mine, theirs = reader_of(node).cursor.order, reader_of(old[node]).cursor.order
            mine.broken.restore(theirs.broken.state())
            mine.stages = theirs.stages
        counted = place.counted if not runner.executor.program.readers or readers else 0
        self.runner.executor.go_to([states[old[node]] for node in readers], counted)

    def run(self) -> tuple[Any, ...]:
        """The next batch."""
        if self._fed:
            self.runner.inputs.feed_all(self._fed)
            self._fed = {}  # it is repeated
        self.runner.fill(cast(Callable[[], object], lambda: None))
        return self.runner.take(gpu_too=True)

    def __enter__(self) -> Twin:
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.close()
