"""Readers as objects, which go through their data set epoch by epoch and read ahead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from penstock import _catalog, ops
from penstock.errors import ArgumentError, GraphError
from penstock.experimental.dynamic._batch import Batch
from penstock.experimental.dynamic._call import _argument
from penstock.experimental.dynamic._context import EvalContext
from penstock.experimental.dynamic._device import device as device_of
from penstock.experimental.dynamic._tensor import Tensor
from penstock.experimental.dynamic.random import get_default_rng
from penstock.op import Op
from penstock.pipeline import Pipeline

_NAME = "reader"


class Reader:
    """Base of the readers in `penstock.experimental.dynamic.readers`.

    Args:
        max_batch_size: the batch size of `next_epoch` where it is given none; None: samples come one by one.
        name: without effect.
        device: where the data is to be.
        enable_checkpointing: without effect: `get_state` works always.
        arguments: as those of `fn`'s operator. Without ``seed`` this thread's `random.get_default_rng` gives one.
    """

    schema: ClassVar[type[Op]]

    def __init__(
        self, max_batch_size: int | None = None, name: str | None = None, device: Any = "cpu", *,
        enable_checkpointing: bool = False, **arguments: Any,
    ):  # fmt: skip
        self._batch_size, self._device = max_batch_size, device_of(device)
        self._arguments = {key: _argument(self.schema, key, value) for key, value in arguments.items()}
        self._seed = get_default_rng()()
        self._pipe: Pipeline | None = None
        self._epoch, self._batch, self._reading = 0, 0, False
        self._state: Any = None
        self._singly = False
        self._keys: list[str] | None = None

    def next_epoch(
        self, batch_size: int | None = None, ctx: EvalContext | None = None, capture: bool = False
    ) -> Iterator[Any]:
        """Goes through the data set, or the shard, once: yields tuples of batches, or of tensors without a batch size.

        All batches are full, as DALI's are: the next epoch's first samples fill the last one, and that epoch goes on
        behind them; with ``pad_last_batch`` the last sample does. Readers that tell their outputs by name yield
        dictionaries. The next epoch can begin when this one is over. The batch size is the same in all epochs.

        Args:
            batch_size: samples of a batch; None: the constructor's.
            ctx: whose threads read; None: this thread's.
            capture: accepted: what is read is always read ahead, and operators are compiled when they are called.
        """
        size = self._batch_size if batch_size is None else batch_size
        self._prepare(size, ctx or EvalContext.current())
        return self._epoch_of(size)

    def _prepare(self, size: int | None, context: EvalContext) -> None:
        if self._reading:
            raise GraphError(f"{self.schema.name}: next_epoch: the epoch before is not over: go through it first")
        if self._pipe is not None:
            if self._pipe.max_batch_size != (size or 1) or self._singly != (size is None):
                raise ArgumentError(
                    f"{self.schema.name}: next_epoch: batch_size={size!r}: it was {self._pipe.max_batch_size} before, "
                    "and stays so: make another reader"
                )
            return
        on_gpu = self._device.device_type == "gpu"
        pipe = Pipeline(
            batch_size=size or 1, num_threads=context.num_threads, seed=self._seed % 2**31,
            device_id=self._device.device_id if on_gpu else None,
        )  # fmt: skip
        with pipe:
            made = ops.call(self.schema, (), {**self._arguments, "name": _NAME, "device": str(self._device)[:3]})
            if isinstance(made, dict):
                self._keys = list(made)
                made = list(made.values())
            pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
        pipe.build()
        self._pipe, self._singly = pipe, size is None
        if self._state is not None:
            self._go_on(self._state)

    def _epoch_of(self, size: int | None) -> Iterator[Any]:
        pipe = self._pipe
        assert pipe is not None
        self._reading = True
        while self._batch < self._length(pipe):
            outputs = pipe.run()
            self._batch += 1
            yield self._given(outputs, size)
        self._reading = False
        self._epoch, self._batch = self._epoch + 1, 0

    def _length(self, pipe: Pipeline) -> int:
        """Batches in the epoch: as many as hold the shard that is read in it."""
        meta: dict[str, int] = pipe.reader_meta(_NAME)
        size, shards = meta["epoch_size_padded" if meta["pad_last_batch"] else "epoch_size"], meta["number_of_shards"]
        shard = (meta["shard_id"] + (0 if meta["stick_to_shard"] else self._epoch)) % shards
        samples = (shard + 1) * size // shards - shard * size // shards
        return -(-samples // int(pipe.max_batch_size))

    def _given(self, outputs: Any, size: int | None) -> Any:
        shown = tuple((Tensor if size is None else Batch)._known(output) for output in outputs)
        if self._keys is not None:
            return dict(zip(self._keys, shown, strict=True))
        return shown

    def get_metadata(self) -> dict[str, Any]:
        """Size and shards of the data set, as `Pipeline.reader_meta` says them."""
        if self._pipe is None:
            raise GraphError(f"{self.schema.name}: get_metadata: known from the first next_epoch on")
        return self._pipe.reader_meta(_NAME)

    def get_state(self, *, cuda_stream: Any = None) -> str:
        """Where it is, for `set_state` of a reader with the same arguments: behind the last batch that was yielded."""
        if self._pipe is None:
            return json.dumps(self._state) if self._state else "{}"
        state = {"pipeline": self._pipe.state_dict(), "epoch": self._epoch, "batch": self._batch}
        return json.dumps(state)

    def set_state(self, value: Any) -> None:
        """Goes on where another one was. Its next `next_epoch` yields what was left of that one's epoch."""
        state = json.loads(value) if isinstance(value, str) else value
        if not isinstance(state, dict) or (state and not {"pipeline", "epoch", "batch"} <= set(state)):
            raise ArgumentError(f"{self.schema.name}: set_state: expected what get_state gave")
        self._state = state or None
        if self._pipe is not None and state:
            self._go_on(state)

    def _go_on(self, state: dict[str, Any]) -> None:
        assert self._pipe is not None
        self._pipe.load_state_dict(state["pipeline"])
        self._epoch, self._batch, self._reading = int(state["epoch"]), int(state["batch"]), False

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._arguments.items())
        return f"{type(self).__name__}({given})"


def class_of(schema: type[Op], name: str, module: str) -> type[Reader]:
    """The class of a reader by its name."""
    *groups, last = _catalog.class_name(name).split(".")
    members = {"schema": schema, "__module__": ".".join([module, *groups]), "__doc__": _catalog.documentation(schema)}
    return type(last, (Reader,), members)
