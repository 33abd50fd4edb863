"""Finds out which samples of the readers are broken, where operators say that these may be left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.errors import ArgumentError
from penstock.graph.blame import warn
from penstock.graph.node import OpNode
from penstock.machine import native
from penstock.read.broken_samples import BrokenSample, report
from penstock.run.program import Program
from penstock.run.readers import in_step, reader_of


class Broken:
    """The broken samples of a running pipeline."""

    def __init__(self, program: Program):
        self._program = program
        self.samples: list[BrokenSample] = []
        self._known: dict[tuple[str, int], int] = {}  # their places in the list
        self._unreported: list[BrokenSample] = []  # of these, until the ends of their epochs
        for node in program.nodes:
            if node.op.on_error != "raise" and not any(one.op.fed for one in _ancestors(node)):
                raise ArgumentError(
                    f"{node.op.name}: on_error={node.op.on_error!r}: only what a reader gives can be left out, and "
                    f"this operator's input comes from elsewhere\n  operator made at {node.location}"
                )

    def explain(self, answer: native.Answer, taken: Sequence[tuple[Any, Any]], known: int) -> bool:
        """Leaves out what made an iteration fail, from now on; False where starting it anew would not help.

        ``taken``: the indices and epochs that each reader was told; ``known``: how many samples were known to be broken
        then.
        """
        if answer.state >= 0 or not answer.batch:
            return False
        library = native.quick()
        count = library.ps_batch_broken_samples(answer.batch, None, 0)
        rows = (native.ErrorInfo * count)()
        library.ps_batch_broken_samples(answer.batch, rows, count)
        news = False
        for row in rows:
            first = True
            for reader, sample in self._samples(row, taken):
                place = self._known.setdefault((sample.reader, sample.index), len(self.samples))
                if place == len(self.samples):
                    self.samples.append(sample)
                    if first:  # readers in step with it lose it, too, but what is broken is one file
                        self._unreported.append(sample)
                    first = False
                reader_of(reader).cursor.order.broken.add(sample.index, sample.action)
                news |= place >= known
        return news

    @property
    def unreported(self) -> bool:
        """Whether there is anything to warn of, now or at the end of its epoch."""
        return bool(self._unreported)

    def warn_of_past(self, epoch: int) -> None:
        """Warns of what was found before an epoch, unless that has been done."""
        past = [s for s in self._unreported if s.epoch < epoch]
        for number in sorted({s.epoch for s in past}):
            self._unreported = [s for s in self._unreported if s.epoch != number]
            warn(report([s for s in past if s.epoch == number]), UserWarning)

    def _samples(
        self, row: native.ErrorInfo, taken: Sequence[tuple[Any, Any]]
    ) -> Iterable[tuple[OpNode, BrokenSample]]:
        node = self._program.nodes[row.node]
        readers = [reader for reader, _ in self._program.readers]
        ancestors = _ancestors(node)
        concerned = [r for r in readers if r in ancestors]
        error = self._program.exception(row)
        file = getattr(error, "file", None)
        for k, reader in sorted(enumerate(readers), key=lambda r: r[1] not in concerned):
            if in_step(reader_of(reader), map(reader_of, concerned)):
                index, epoch = (int(array[row.sample]) for array in taken[k])
                yield reader, BrokenSample(reader.name, index, file, epoch, node.op.on_error, error)


def _ancestors(node: OpNode) -> set[OpNode]:
    found: set[OpNode] = set()
    todo = [node]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += [data.source for data in (*one.inputs, *one.op.tensors.values())]
    return found
