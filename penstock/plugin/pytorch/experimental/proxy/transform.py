"""`DALIProxy`: a transform that leaves its work to a pipeline in another process."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any

from penstock.errors import ArgumentError
from penstock.plugin.pytorch.experimental.proxy.references import Call, DALIOutputSampleRef, DALIPipelineRunRef


class DALIProxy:
    """Called with the values of a sample for the pipeline's inputs, gives references to its outputs.

    `DALIServer.proxy` is one; it can be sent to other processes as they are started. It takes the value of a single
    input as it is, and those of several by their names. Values are what `Pipeline.feed_input` takes for a sample:
    arrays, tensors, numbers. It returns one reference, or a tuple of as many as the pipeline has outputs, which
    ``default_collate`` makes a batch of. ArgumentError (a ValueError) for other arguments than the inputs.
    """

    def __init__(self, inputs: Sequence[str], outputs: int, queue: Any, deterministic: bool) -> None:
        self._inputs, self._outputs, self._queue, self._deterministic = list(inputs), outputs, queue, deterministic
        kind = Parameter.POSITIONAL_OR_KEYWORD if len(inputs) == 1 else Parameter.KEYWORD_ONLY
        self.__signature__ = Signature([Parameter(name, kind) for name in self._inputs])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            given = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError as e:
            raise ArgumentError(f"Expected signature is: {self.__signature__}, of the pipeline's inputs. {e}") from None
        call = Call(given, self._send)
        references = tuple(DALIOutputSampleRef(call, i) for i in range(self._outputs))
        return references[0] if len(references) == 1 else references

    def _send(self, run: DALIPipelineRunRef) -> None:
        if not self._deterministic:  # else it goes with the reference, and is sent when the batch is wanted
            self._queue.put((run.key, run.inputs))
            run.inputs = None
