"""Requests to a server of models, through a pipeline and back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.errors import ArgumentError, InputError
from penstock.pipeline import Pipeline
from penstock.tensors import TensorListGPU

Array = npt.NDArray[Any]
Request = Mapping[str, Array]
Answer = list[Any]  # for each output an array, with the request's samples along the first axis


class _Part(NamedTuple):
    """Samples of a request that are in one batch of the pipeline."""

    request: int
    samples: Mapping[str, Sequence[Array]]
    size: int


class Served:
    """A pipeline of external sources that answers requests, each of any number of samples.

    The samples of all requests go through the pipeline in full batches, of which the next ones are worked on while one
    is handed out. A request that fails, for a broken file say, fails alone. Threads take turns.

    Attributes:
        inputs: the names of the sources.
    """

    def __init__(self, pipe: Pipeline) -> None:
        pipe.build()
        self.inputs = pipe.fed_inputs()
        if not self.inputs or pipe.reader_meta():
            raise ArgumentError("a pipeline that is served has external sources to feed, and no readers")
        self._pipe, self._most = pipe, pipe.max_batch_size
        self._lock = threading.Lock()

    def answer(self, requests: Sequence[Request], on_gpu: bool = False) -> list[Answer | Exception]:
        """For each request the outputs, or why there are none.

        ``on_gpu``: outputs on a GPU stay there where they can, as tensors that have DLPack.
        """
        answers: list[Answer | Exception] = [[] for _ in requests]
        parts: list[_Part] = []
        for number, request in enumerate(requests):
            try:
                parts += self._parts(number, request)
            except Exception as failure:
                answers[number] = failure
        found: dict[int, list[Answer]] = {}
        with self._lock:
            for part, outcome in self._run(_batches(parts, self._most), on_gpu):
                if isinstance(outcome, Exception):
                    answers[part.request] = outcome
                else:
                    found.setdefault(part.request, []).append(outcome)
        for number, some in found.items():
            if not isinstance(answers[number], Exception):
                answers[number] = _joined(some)
        return answers

    def stream(self, request: Request) -> Iterator[Answer]:
        """The outputs of one request, batch by batch, as soon as each is there."""
        with self._lock:
            for _, outcome in self._run([[part] for part in self._parts(0, request)], on_gpu=False):
                if isinstance(outcome, Exception):
                    raise outcome
                yield outcome

    def close(self) -> None:
        """Ends the pipeline's threads."""
        self._pipe.close()

    def _parts(self, number: int, request: Request) -> list[_Part]:
        """A request's samples, cut so that each part goes into one batch."""
        if set(request) != set(self.inputs):
            raise ArgumentError(f"a request has {sorted(self.inputs)}, and this one has {sorted(request)}")
        samples = {name: _samples(array) for name, array in request.items()}
        counts = {name: len(some) for name, some in samples.items()}
        count = counts[self.inputs[0]]
        if not count or set(counts.values()) != {count}:
            raise ArgumentError(f"the inputs of a request have as many samples each, and one or more, not {counts}")
        cuts = [slice(begin, min(begin + self._most, count)) for begin in range(0, count, self._most)]
        return [_Part(number, {n: s[cut] for n, s in samples.items()}, cut.stop - cut.start) for cut in cuts]

    def _run(self, batches: Sequence[Sequence[_Part]], on_gpu: bool) -> Iterator[tuple[_Part, Answer | Exception]]:
        """What becomes of each part. Where a batch of several fails, each of them is tried by itself."""
        for batch in batches:
            for name in self.inputs:
                self._pipe.feed_input(name, [sample for part in batch for sample in part.samples[name]])
        again: list[_Part] = []
        left = len(batches)
        try:
            for batch in batches:
                left -= 1
                try:
                    outputs = self._pipe.run()
                except Exception as failure:
                    if len(batch) == 1:
                        yield batch[0], failure
                    else:
                        again += batch
                    continue
                begin = 0
                for part in batch:
                    yield part, _of_part(outputs, slice(begin, begin + part.size), on_gpu)
                    begin += part.size
        finally:
            for _ in range(left):  # nobody wants them, who asked for a stream and has gone
                with contextlib.suppress(Exception):
                    self._pipe.run()
        if again:
            yield from self._run([[part] for part in again], on_gpu)


def _batches(parts: Sequence[_Part], most: int) -> list[list[_Part]]:
    """Parts that follow each other, together as long as they have room in a batch."""
    batches: list[list[_Part]] = []
    count = most
    for part in parts:
        if count + part.size > most:
            batches.append([])
            count = 0
        batches[-1].append(part)
        count += part.size
    return batches


def _samples(array: Array) -> Sequence[Array]:
    """The samples along an array's first axis. Those that are bytes become arrays of UINT8."""
    if array.dtype.kind not in "OS":
        return list(array)
    return [np.frombuffer(sample, np.uint8) for sample in array.reshape(-1)]


def _of_part(outputs: Sequence[Any], place: slice, on_gpu: bool) -> Answer | Exception:
    some = [output[place] for output in outputs]
    for k, output in enumerate(some):
        if not output.is_dense_tensor() and len({tuple(shape) for shape in output.shape()}) > 1:
            return InputError(f"the request's samples give output {k} different shapes: send them one by one")
    return [
        output.as_tensor() if on_gpu and isinstance(output, TensorListGPU) else output.as_cpu().as_array()
        for output in some
    ]


def _joined(parts: Sequence[Answer]) -> Answer | Exception:
    """One answer of the parts that were in several batches."""
    if len(parts) == 1:
        return parts[0]
    arrays = [[np.asarray(one.as_cpu() if hasattr(one, "as_cpu") else one) for one in some] for some in parts]
    if any(len({array.shape[1:] for array in some}) > 1 for some in zip(*arrays, strict=True)):
        return InputError("the request's samples give an output different shapes: send them one by one")
    return [np.concatenate(some) for some in zip(*arrays, strict=True)]
