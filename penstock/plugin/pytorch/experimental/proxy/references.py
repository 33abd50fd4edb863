"""What stands for outputs of a pipeline that another process is to run, and how samples become batches."""

from __future__ import annotations

import functools
import itertools
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torch.utils.data import get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from penstock.errors import GraphError

Inputs = Mapping[str, list[Any]]  # for each of the pipeline's inputs, one value for each sample


class Key(NamedTuple):
    """Which batch it is.

    Attributes:
        epoch: a number that the workers of one iterator of a DataLoader share; None in other processes.
        maker: the process that collated the batch.
        number: of the batch, among those of its maker.
    """

    epoch: int | None
    maker: str
    number: int


_numbers = itertools.count()


@functools.cache
def _maker(process: int) -> str:
    """A name that no other process has: process numbers are used again."""
    return uuid.uuid4().hex


def _next_key() -> Key:
    worker = get_worker_info()
    return Key(worker.seed - worker.id if worker else None, _maker(os.getpid()), next(_numbers))


class DALIPipelineRunRef:
    """A batch that the pipeline runs on.

    Attributes:
        key: which.
        inputs: those of the batch; None: they are sent to the server.
    """

    def __init__(self, samples: Sequence[Inputs]) -> None:
        self.key = _next_key()
        self.inputs: Inputs | None = {name: [sample[name] for sample in samples] for name in samples[0]}
        self.outputs: Sequence[Any] | None = None  # once they were produced

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key={self.key})"


class Call:
    """A call of the proxy: its inputs, and the batch that they became part of."""

    def __init__(self, inputs: Mapping[str, Any], send: Callable[[DALIPipelineRunRef], object]) -> None:
        self.inputs, self.send = inputs, send
        self.batch: tuple[list[Call], DALIPipelineRunRef] | None = None


class DALIOutputSampleRef:
    """Stands for an output of the pipeline for one sample, until the sample is collated."""

    def __init__(self, call: Call, output: int) -> None:
        self.call, self.output = call, output

    def __repr__(self) -> str:
        return f"{type(self).__name__}(output={self.output})"


class DALIOutputBatchRef:
    """Stands for an output of the pipeline for a batch, until `DALIServer.produce_data` replaces it."""

    def __init__(self, run: DALIPipelineRunRef, output: int) -> None:
        self.run, self.output = run, output

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.run}, output={self.output})"


def collate(samples: Sequence[DALIOutputSampleRef], *, collate_fn_map: Any = None) -> DALIOutputBatchRef:
    """One reference for those of a batch's samples; the first one of a batch has the pipeline run on it."""
    calls = [sample.call for sample in samples]
    if len({sample.output for sample in samples}) > 1 or len({*map(id, calls)}) < len(calls):
        raise GraphError("the references of a batch must be to one output of the pipeline, each for another sample")
    before = calls[0].batch
    if before is None or before[0] != calls:
        run = DALIPipelineRunRef([call.inputs for call in calls])
        calls[0].send(run)
        before = calls[0].batch = calls, run
    return DALIOutputBatchRef(before[1], samples[0].output)


default_collate_fn_map[DALIOutputSampleRef] = collate
