"""What the page of `Pipeline.explain` has besides the plan: data of each stage, and a timeline, by twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.errors import PenstockError
from penstock.graph.node import DataNode
from penstock.optimize.plan import Plan, is_data
from penstock.page import page_of
from penstock.run.options import Options
from penstock.run.runner import Runner
from penstock.run.timeline import LAST, Timeline, timeline
from penstock.run.twin import Twin, repeatable

_PROFILE = "Around a few batches of a training, a block of penstock.profile(pipe) gives the timeline of these instead."
_FEED = "inputs={name: batch} gives external sources data for this page."


class Page:
    """Gathers what the page tells of a pipeline that was built; `html` is the page."""

    def __init__(self, runner: Runner, options: Options, inputs: Mapping[str, Any], samples: int):
        self._runner, self._options, self._inputs, self._samples = runner, options, inputs, samples
        self._plan: Plan = runner.plan
        self._again = repeatable(self._plan.nodes, inputs)
        self._notes: dict[str, list[str]] = {"timeline": [], "stages": []}

    def html(self, text: str, last: Mapping[DataNode, Any]) -> str:
        """``text``: the plan in words. ``last``: the outputs of the last batch, where they are known."""
        data = {**last, **(self._tried("stages", self._stages) or {})}
        bars = self._runner.executor.last_batches or self._tried("timeline", self._timeline)
        return page_of(self._plan, text, self._facts(), bars, data, self._samples, self._notes)

    def _tried(self, section: str, make: Callable[[], Any]) -> Any:
        """What it makes; where the pipeline cannot run, the page says so in its place."""
        try:
            return make()
        except PenstockError as error:
            self._notes[section].append(str(error))
            return None

    def _facts(self) -> dict[str, Any]:
        size, threads = self._options.sizes()
        gpu = self._runner.executor.device
        facts = {"batch size": size, "threads": threads, "GPU": "none" if gpu is None else gpu}
        facts |= {f"samples of {name}": n for name, n in self._runner.readers.epoch_size().items()}
        return {**facts, "batches handed out": self._runner.executor.handed_out()}

    def _stages(self) -> dict[DataNode, Any]:
        wanted = [
            data for node in self._again if node.op.literal() is None and not node.op.mixes for data in node.outputs
        ]
        if len(self._again) < len(self._plan.nodes):
            left = [node for node in self._plan.nodes if node not in self._again]
            self._notes["stages"].append(
                f"{len(left)} operators are not run for this page, since they are, or depend on, the user's own code: "
                "of these there is what the last batch has." + f" {_FEED}" * any(node.op.external for node in left)
            )
        if not wanted:
            return {}
        whole = self._inputs or any(node.op.batchwise for node in self._again)
        size = self._options.sizes()[0] if whole else self._samples
        with Twin(self._runner, self._options, wanted, self._inputs, size) as twin:
            return dict(zip(wanted, twin.run(), strict=True))

    def _timeline(self) -> Timeline | None:
        work = [node for node in self._plan.nodes if not is_data(node)]
        if any(node not in self._again for node in work) or not work:
            self._notes["timeline"].append(_PROFILE)
            return None
        self._notes["timeline"].append(f"{LAST} batches, run for this page as fast as they come. {_PROFILE}")
        size = self._options.sizes()[0]
        with Twin(self._runner, self._options, self._plan.outputs, self._inputs, size) as twin:
            twin.run()
            executor = twin.runner.executor
            recording = executor.record()
            for _ in range(LAST):
                twin.run()
            recording.stop()
            return timeline(executor, twin.runner.plan, recording, last=LAST)
