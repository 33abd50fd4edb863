"""What operators have in common that call a function of the user's on a batch: `fn.python_function` and its kin."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from penstock import _values
from penstock.errors import ArgumentError, ArgumentTypeError, FunctionError
from penstock.op import REQUIRED, Called, Op, arg

_running = threading.local()  # of the thread that calls functions


def stream() -> int | None:
    """The pipeline's CUDA stream, for the function that is being called on a GPU; None: there is none."""
    return getattr(_running, "stream", None)


class Calling(Op):
    """Base of operators in Python whose work a function of the user's does."""

    python_on = ("cpu", "gpu")
    preserved = True

    def call(self, batch: Called) -> None:
        if not batch.size:  # no sample takes the branch that it is in
            for k in range(self.num_outputs()):
                batch.give(k, [])
            return
        _running.stream = batch.stream
        try:
            with self.working_in(batch):
                self.process(batch, batch.inputs())
        finally:
            _running.stream = None

    def working_in(self, batch: Called) -> AbstractContextManager[Any]:
        """In this context the function's framework works in the pipeline's stream, where it can."""
        return nullcontext()

    def process(self, batch: Called, inputs: Sequence[Any]) -> None:
        """Calls the function with a batch of at least one sample, and gives what it returns."""
        raise NotImplementedError


class Callback(Calling):
    """Base of those that call ``function``, and say what it is shown and may return."""

    function = arg(REQUIRED, "What is called.", kind="any", to_kernel=False, aka=["func", "fn", "callable", "callback"])
    count = arg(1, "How many outputs the function has.", to_kernel=False, name="num_outputs", aka=["outputs"])
    output_layouts = arg(
        None, "The layout of all outputs, or a list for the first of them.", kind="any", to_kernel=False,
        aka=["output_layout", "layout"],
    )  # fmt: skip

    def prepare(self) -> None:
        name = self.shown_name()
        if not callable(self.function):
            raise ArgumentTypeError(f"{name}: function={self.function!r}: expected what can be called")
        if self.count < 0:
            raise ArgumentError(f"{name}: num_outputs={self.count}: expected 0 or more")
        given = self.output_layouts
        layouts = list(given) if isinstance(given, (list, tuple)) else [given] * self.count
        try:
            self._layouts = [None if layout is None else _values.convert("layout", layout) for layout in layouts]
        except (TypeError, ValueError) as e:
            raise ArgumentTypeError(
                f"{name}: output_layouts={given!r}: expected a layout such as 'HWC', or a list of layouts"
            ) from e
        if len(layouts) > self.count:
            raise self.wrong("output_layouts", f"expected at most {self.count}, as there are outputs")

    def num_outputs(self) -> int:
        return int(self.count)

    def output_layout(self, index: int) -> str | None:
        return self._layouts[index] if index < len(self._layouts) else None

    def outputs_of(self, returned: Any, sequences: tuple[type[Any], ...] = (tuple,)) -> Sequence[Any]:
        """One for each output, of what the function returned. ``sequences``: what several outputs may come as."""
        if self.count == 0:
            return ()
        if returned is None:
            raise FunctionError(f"num_outputs={self.count}, but the function returned None")
        if self.count == 1 and not isinstance(returned, sequences):
            returned = (returned,)
        if not isinstance(returned, sequences):
            wanted = " or ".join(one.__name__ for one in sequences)
            raise FunctionError(
                f"num_outputs={self.count}, but the function returned no {wanted}: {type(returned).__name__}"
            )
        outputs: Sequence[Any] = tuple(returned)
        if len(outputs) != self.count:
            raise FunctionError(f"num_outputs={self.count}, but the function returned {len(outputs)}")
        return outputs


class SampleCallback(Callback):
    """A function of samples, or with ``batch_processing`` of lists of them."""

    batch_processing = arg(False, "Call it once for a batch, with lists of samples.", to_kernel=False)

    def process(self, batch: Called, inputs: Sequence[Any]) -> None:
        shown = [self.shown(tensors, batch) for tensors in inputs]
        if self.batch_processing:
            outputs: Sequence[Any] = self.outputs_of(self.function(*shown))
            outputs = [self.taken_batch(one) if isinstance(one, list) else self.taken(one) for one in outputs]
        else:
            rows = [self.outputs_of(self.function(*[one[i] for one in shown])) for i in range(batch.size)]
            outputs = [self.taken_batch([row[k] for row in rows]) for k in range(self.count)]
        for k, samples in enumerate(outputs):
            batch.give(k, samples)

    def shown(self, tensors: Any, batch: Called) -> list[Any]:
        """The samples of an input as the function gets them."""
        raise NotImplementedError

    def taken(self, returned: Any) -> Any:
        """What the function returned, a sample or a batch, as `penstock.op.Called.give` takes it."""
        return returned

    def taken_batch(self, returned: list[Any]) -> Any:
        """The same, of a list of samples."""
        return [self.taken(x) for x in returned]
