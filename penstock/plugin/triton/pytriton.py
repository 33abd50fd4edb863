"""Pipelines as models of a server that ``nvidia-pytriton`` starts in a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.pipeline import Pipeline
from penstock.plugin.served import Array, Request, Served
from penstock.plugin.triton.repository import sources
from penstock.types import to_numpy_type

ERROR = "ERROR"


def bind(
    triton: Any,
    name: str,
    pipe: Pipeline,
    *,
    outputs: Sequence[str] | None = None,
    as_bytes: Sequence[str] = (),
    delay: int = 1000,
) -> Served:
    """Adds a pipeline to a ``pytriton.triton.Triton`` as a model.

    Requests that come together go through the pipeline together. PyTriton knows of errors of all of these only, so each
    answer has one output more: ``ERROR`` is empty, or says why this request has no result; the others are zeros then.

    Args:
        triton: the server.
        name: of the model.
        pipe: with external sources that say ``dtype`` and ``ndim``, and ``output_dtype`` and ``output_ndim``.
        outputs: their names. None: ``OUTPUT_0``, ``OUTPUT_1`` ...
        as_bytes: sources whose samples come as bytes, such as files, each in its own length.
        delay: microseconds to wait for a fuller batch.

    Returns what runs the pipeline, of which `Served.close` ends the threads. Raises ArgumentError where types or axes
    are not known.
    """
    from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor

    fed, given = sources(pipe, outputs, as_bytes)
    served = Served(pipe)
    triton.bind(
        model_name=name,
        infer_func=infer_func(served, [(one.name, to_numpy_type(one.dtype), one.ndim) for one in given]),
        inputs=[
            Tensor(name=one.name, dtype=bytes, shape=(1,))
            if one.name in as_bytes
            else Tensor(name=one.name, dtype=to_numpy_type(one.dtype), shape=(-1,) * one.ndim)
            for one in fed
        ],
        outputs=[
            *(Tensor(name=o.name, dtype=to_numpy_type(o.dtype), shape=(-1,) * o.ndim or (1,)) for o in given),
            Tensor(name=ERROR, dtype=bytes, shape=(1,)),
        ],
        config=ModelConfig(
            max_batch_size=pipe.max_batch_size, batcher=DynamicBatcher(max_queue_delay_microseconds=delay)
        ),
    )
    return served


def infer_func(
    served: Served, outputs: Sequence[tuple[str, Any, int]]
) -> Callable[[Sequence[Request]], list[dict[str, Array]]]:
    """What ``Triton.bind`` calls with requests; ``outputs``: the name, type and number of axes of each."""

    def infer(requests: Sequence[Request]) -> list[dict[str, Array]]:
        data = [dict(request) for request in requests]
        answers = served.answer(data)
        found = []
        for request, answer in zip(data, answers, strict=True):
            count = len(next(iter(request.values())))
            text = f"{type(answer).__name__}: {answer}" if isinstance(answer, Exception) else ""
            arrays = (
                [np.zeros((count, *[1] * (ndim or 1)), dtype) for _, dtype, ndim in outputs]
                if isinstance(answer, Exception)
                else [array.reshape(count, *(array.shape[1:] or (1,))) for array in answer]
            )
            named = {name: array for (name, _, _), array in zip(outputs, arrays, strict=True)}
            found.append({**named, ERROR: np.full((count, 1), text.encode(), object)})
        return found

    return infer
