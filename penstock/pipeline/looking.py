"""What can be asked of a pipeline: where it is, what it does, what it found. Asking does not disturb it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from penstock.feed.turn import in_turn
from penstock.graph.blame import warn
from penstock.optimize.explain import explain
from penstock.optimize.passes import reach
from penstock.optimize.plan import Plan, Where
from penstock.pipeline.dot import write_dot
from penstock.pipeline.running import Running
from penstock.read.broken_samples import BrokenSample
from penstock.read.order import Order, Position
from penstock.run.checkpoint import iterator_of
from penstock.run.statistics import statistics


class Looking(Running):
    """The part of `penstock.Pipeline` that can be asked."""

    def checkpoint(self, filename: str | os.PathLike[str] | None = None) -> str:
        """The state after the last batch that was handed out; ``Pipeline(checkpoint=...)`` goes on from there.

        A short JSON text. Where ``filename`` is given, it is written there, too. Any thread may ask for it at any
        moment, and so may a signal handler, whatever it interrupts. See docs/checkpoints.md.
        """
        text = self.checkpoint_of(None)
        if filename is not None:
            with open(filename, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def checkpoint_of(self, noted: Mapping[str, Any] | None) -> str:
        """The same, with what the iterator that runs the pipeline notes in it."""
        return self._built().checkpoint(noted)

    def state_dict(self) -> dict[str, Any]:
        """What `checkpoint` says, as an object of JSON, for `load_state_dict`."""
        state: dict[str, Any] = json.loads(self.checkpoint())
        return state

    def noted_by_iterator(self) -> Mapping[str, Any] | None:
        """What the iterator that made the checkpoint of this pipeline noted; None: there was none."""
        return iterator_of(self._options.given["checkpoint"]) if self.is_restored_from_checkpoint else None

    def epoch_size(self, name: str | None = None) -> Any:
        """The number of samples of the data set of one reader, or of all readers by name."""
        return self._built().readers.epoch_size(name)

    def reader_meta(self, name: str | None = None) -> dict[str, Any]:
        """Size and shards of one reader, or of all readers by name."""
        return self._built().readers.meta(name)

    def reader_order(self, name: str) -> Order:
        """The order in which a reader reads; see `penstock.read.order`."""
        return self._built().readers.order(name)

    def reader_position(self, name: str) -> Position:
        """Where a reader is: epoch and position of the first sample that was not handed out yet."""
        return self._built().position(name)

    def fed_inputs(self) -> list[str]:
        """The names of the external sources that `feed_input` feeds, in the order in which they were defined."""
        return [name for name, fed in self.external_sources().items() if fed]

    def external_sources(self) -> dict[str, bool]:
        """The external sources that the outputs need, by name, and whether `feed_input` feeds them."""
        plan = Plan(self._defined())
        reach(plan, [node for node in self.nodes if node.preserve])
        return {node.name: not getattr(node.op, "poll", None) for node in plan.nodes if node.op.external}

    def may_skip(self) -> bool:
        """Whether broken samples are skipped, so that epochs may turn out to be shorter."""
        return any(node.op.on_error == "skip" for node in self._built().plan.nodes)

    def explain(self, source: bool = False) -> str:
        """The plan in words; see `penstock.pipeline.showing`, which also makes a page of it."""
        runner = self._built()
        text = explain(runner.plan, runner.executor.notes())
        if not source or not any(segment.where is Where.GPU for segment in runner.plan.segments):
            return text
        return "\n\n".join([text, *self._explain()])

    @in_turn
    def _explain(self) -> list[str]:
        return self._prepared().kernels(self.iter_setup)

    def broken_samples(self) -> list[BrokenSample]:
        """The samples that were found broken so far, by operators with ``on_error="skip"`` or ``"replace"``.

        What a checkpoint says was found before it is left out, too, but not listed here.
        """
        return list(self._built().executor.broken.samples)

    def statistics(self) -> dict[str, Any]:
        """Where the time went, by operator and thread, and the memory held; see `penstock.run.statistics`."""
        return statistics(self._built().executor, devices=bool(self._options.given["enable_memory_stats"]))

    def executor_statistics(self) -> dict[str, Any]:
        """Nothing: {}, as DALI's default executor gives. `statistics` and `penstock.profile` have what is known here.

        (DALI's other executor gives the sizes of each operator's outputs with ``enable_memory_stats``. Here operators
        that are fused have no outputs in memory, and all share one pool.)
        """
        return {}

    def handed_out(self) -> int:
        """How many batches were handed out so far, those included that failed."""
        return self._built().executor.handed_out()

    def output_stream(self) -> int | None:
        """The handle of the CUDA stream in which outputs on the GPU are made; None: no operator runs on a GPU."""
        return self._built().executor.stream()

    def save_graph_to_dot_file(
        self, filename: str | os.PathLike[str], *, show_tensors: bool = False, show_ids: bool | None = None,
        use_colors: bool = False,
    ) -> None:  # fmt: skip
        """Writes the graph for Graphviz. ``show_tensors`` draws values as nodes, ``use_colors`` fills by segment."""
        if show_ids is not None:
            warn("save_graph_to_dot_file: show_ids is deprecated: it has no effect")
        write_dot(self._built().plan, filename, show_tensors=show_tensors, use_colors=use_colors)
