"""What the iterators for all frameworks share: when epochs begin and end, and which samples they have."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from penstock.errors import ArgumentError, ArgumentTypeError, GraphError, NoDataError
from penstock.frameworks import Backend
from penstock.graph.blame import warn
from penstock.pipeline.arguments import ITERATOR_AKA, named
from penstock.pipeline.ways import Iterating
from penstock.plugin.arrays import dense
from penstock.plugin.epochs import LastBatchPolicy
from penstock.plugin.pipeline_like import PipelineLike
from penstock.plugin.states import load_all, pipeline_states
from penstock.plugin.which_epochs import Wanted, common, epochs_of, followed
from penstock.read.order import Position

__all__ = ["BaseIterator", "LastBatchPolicy", "PipelineLike"]

Array = TypeVar("Array")
Self = TypeVar("Self", bound="BaseIterator[Any]")
AutoReset = bool | Literal["yes", "no"] | None

_CHANNELS_LAST = ("HWC", "DHWC")

# The epoch that an iterator last began on each pipeline: another iterator for it begins the one behind.
_begun: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


class BaseIterator(Generic[Array]):
    """Batches of one or more pipelines, in epochs. A framework's `Backend` makes its arrays of outputs."""

    backend: ClassVar[Backend]

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        output_map: Sequence[str | tuple[str, int]],  # pairs: of iterators that say so
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: AutoReset = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        channels_last: bool = False,
    ) -> None:
        self._channels_last = channels_last
        self._pipes: list[Any] = list(pipelines) if isinstance(pipelines, (list, tuple)) else [pipelines]
        if not self._pipes or None in self._pipes:
            raise ArgumentError(f"pipelines={pipelines!r}: at least one pipeline is needed")
        self.batch_size: int = common([p.max_batch_size for p in self._pipes], "max_batch_size")
        self._names = self._output_names(output_map)
        if len(set(self._names)) != len(self._names):
            raise ArgumentError(f"output_map={self._names}: each name may occur once")
        if auto_reset not in (True, False, None, "yes", "no"):
            raise ArgumentError(f'auto_reset={auto_reset!r} is none of True, False, None, "yes" and "no"')
        self._auto_reset = auto_reset in (True, "yes")
        if not isinstance(last_batch_policy, LastBatchPolicy):
            raise ArgumentTypeError(f"last_batch_policy={last_batch_policy!r} is no LastBatchPolicy")
        if fill_last_batch is not None:
            warn("fill_last_batch is deprecated: use last_batch_policy", Warning)  # of DALI's category
            last_batch_policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL

        self._iterating = Iterating(self._pipes)
        with self._iterating:  # refuses pipelines that are run in another way
            for pipe in self._pipes:
                pipe.build()
        self._size = int(size)
        self._by_reader = bool(reader_name)
        self._wanted = Wanted(self._pipes, self.batch_size, self._size, last_batch_padded, last_batch_policy)
        self._reader_name = reader_name or None
        self._prepares = prepare_first_batch
        self._begin()

    def _output_names(self, output_map: Sequence[Any]) -> list[str]:
        """The outputs' names, of the constructor's argument."""
        return list(output_map)

    def _begin(self) -> None:
        """Begins where the pipelines are."""
        self._epochs, self._reader = epochs_of(self._reader_name, self._wanted)  # the reader: whose epochs these are
        self._epoch = 1 + max(_begun.get(pipe, -1) for pipe in self._pipes)
        self._batch = 0  # the number, within its epoch, of the batch that comes next
        # Pipelines that are asked for it, what they had given before, and its number.
        self._taking: list[tuple[Any, int, int]] = []
        # What each pipeline had given when its sources last began, and when the epoch did.
        self._sources_began, self._epoch_began = self._handed_out(), self._handed_out()
        self._ended = False  # StopIteration was raised and no reset followed
        self._late: Exception | None = None  # came up when the batch behind the last one was scheduled
        if self._epoch:
            self._start_epoch(self._epoch)
        else:
            self._resume()
        _begun.update(dict.fromkeys(self._pipes, self._epoch))
        self._start = self._batch  # where the epoch was begun, or gone on with after a checkpoint
        self._ended = self._ended or (self._batch > 0 and self._over())
        if self._ended:  # whoever goes on behind an epoch's last batch wants the next epoch
            self._reset()
        if self._prepares:
            with self._iterating:
                self._schedule()
            self._check_there_is_data()

    def _array(self, name: str, output: Any, samples: int) -> Array:
        """The first samples of an output (a TensorList) as an array of the framework."""
        array = dense(self.backend, name, output)
        if self._channels_last and output.layout() in _CHANNELS_LAST:
            array = self.backend.channels_first(array)
        return array[:samples] if samples < len(output) else array  # type: ignore[no-any-return]

    def _empty(self, pipe: Any, like: Array) -> Array:
        """An array of no samples, of a pipeline that would give such ones."""
        return self.backend.empty(like, pipe.device_id)  # type: ignore[no-any-return]

    def _stream(self, pipe: Any) -> Any:
        """The CUDA stream in which a pipeline's outputs will be used; None: that is not known.

        Without it the host would wait for the GPU, instead of launching the next step.
        """
        on_gpu = getattr(pipe, "output_stream", lambda: None)()
        return self.backend.stream(pipe.device_id) if on_gpu else None

    def __iter__(self: Self) -> Self:
        self.reset()
        return self

    def __next__(self) -> list[dict[str, Array]]:
        with self._iterating:
            return self._next()

    def _next(self) -> list[dict[str, Array]]:
        self._finish_interrupted()
        if self._ended or self._over():
            self._end()
        late, self._late = self._late, None
        if late:
            try:
                raise late
            finally:
                del late  # likewise, see _share()
        self._schedule()
        if self._epochs and self._epochs.waits:
            for pipe in self._pipes:
                pipe.wait()
            if self._over():
                self._end()
        samples = self._epochs.samples(self._epoch, self._batch) if self._epochs else [self.batch_size]
        active = [pipe for pipe, n in zip(self._pipes, samples, strict=True) if n is not None]
        try:
            outputs = dict(zip(active, self._share(active), strict=True))
        except StopIteration:
            for pipe in self._pipes if self._reader is None else []:  # else they begin with the readers' next epoch
                self._begin_sources(pipe)
            self._end()
        try:
            batch = {p: self._arrays(outputs[p], n) for p, n in zip(self._pipes, samples, strict=True) if n}
        finally:
            for pipe in active:
                pipe.release_outputs()
        try:
            for pipe in active:
                pipe.schedule_run()
        except Exception as e:  # this batch is none the worse for it
            self._late = e
        for pipe, n in zip(self._pipes, samples, strict=True):
            if n is None:  # batch[i] is that of pipeline i
                some = next(iter(batch.values()))
                batch[pipe] = {name: self._empty(pipe, array) for name, array in some.items()}
        return [batch[pipe] for pipe in self._pipes if pipe in batch]

    def next(self) -> list[dict[str, Array]]:
        """The next batch: the same as ``next(iterator)``."""
        return self.__next__()

    def reset(self) -> None:
        """Begins the next epoch, also from the middle of an epoch; does nothing if the epoch has just begun.

        From the middle, what the pipelines have prefetched is thrown away. A ``for`` loop does this by itself.
        """
        with self._iterating:
            self._reset()

    def _reset(self) -> None:
        self._finish_interrupted()
        if self._batch == self._start and not self._ended:
            return
        epoch, at_end = self._next_epoch()
        if at_end:
            self._drop_rest()
            if self._epochs and not self._over():  # a source had no more
                self._epochs.begin(epoch)
        else:
            self._late = None
            self._start_epoch(epoch)
        self._epoch_began = self._handed_out()
        _begun.update(dict.fromkeys(self._pipes, epoch))
        self._epoch, self._batch, self._start, self._ended = epoch, 0, 0, False  # at the end: Ctrl-C may come before

    def checkpoints(self) -> list[str]:
        """The state of each pipeline, and of the epoch: an iterator for pipelines that are made with these
        (``checkpoint=``) goes on behind the last batch, in the middle of its epoch. See docs/checkpoints.md.

        The thread that iterates may ask at any moment, and so may its signal handlers: GraphError in one that comes
        when some of several pipelines have handed out their parts of a batch, and others have not.
        """
        handed_out = {pipe.handed_out() - count for pipe, count, _ in self._taking}
        if len(handed_out) > 1:
            raise GraphError("checkpoints(): some of the pipelines have handed out their parts of a batch, others not")
        batch = self._taking[0][2] + handed_out.pop() if self._taking else self._batch
        return [pipe.checkpoint_of(self._noted(pipe, batch)) for pipe in self._pipes]

    def state_dict(self) -> dict[str, Any]:
        """The same as `checkpoints` in one object, which `load_state_dict` takes, and JSON and ``torch.save``."""
        return {"penstock_iterator": 1, "pipelines": [json.loads(text) for text in self.checkpoints()]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on behind the last batch of the iterator whose `state_dict` this is, wherever this one is.

        The state may also be that of one pipeline, or of all ranks (`penstock.merge_states`), which all of the
        iterator's pipelines take. What was prepared is thrown away. Raises ArgumentError for what is no state, and for
        one of other pipelines; the iterator stays where it is then.
        """
        states = pipeline_states(state, len(self._pipes))
        with self._iterating:
            self._taking = []
            load_all(self._pipes, states)
            for pipe in self._pipes:
                _begun.pop(pipe, None)
            self._begin()

    def __len__(self) -> int:
        """The number of batches in the epoch that is under way; after its end, in the next one.

        Epochs differ in length where they run into each other: with ``LastBatchPolicy.FILL`` and a reader that does
        not pad, an epoch is shorter by what the one before took of it; and with ``PARTIAL``, where the shard that is
        read in this epoch has a sample more than another. A sampler may give epochs of any length: until one was drawn
        to its end, its ``len()`` counts. And so do samples that are to be skipped, until they are found broken.

        Raises:
            TypeError: it is not known beforehand: no ``reader_name`` nor ``size``, or a sampler without ``len()``.
        """
        if not self._epochs:
            raise TypeError("this iterator's length is not known: give it reader_name or size")
        if self._ended:
            return self._epochs.length(self._next_epoch()[0], 0)
        return self._epochs.length(self._epoch, self._batch)

    @property
    def size(self) -> int:
        """Samples of an epoch in each shard, as DALI counts them; or the argument of that name."""
        if not self._by_reader or not self._epochs:
            return self._size
        counts = self._epochs.policy is LastBatchPolicy.DROP or self._epochs.padded
        return self._epochs.shard_size() if counts or not self._has_length() else len(self) * self.batch_size

    def _has_length(self) -> bool:
        try:
            return len(self) >= 0
        except TypeError:
            return False

    def _start_epoch(self, epoch: int) -> None:
        for pipe in self._pipes:
            pipe.start_epoch(epoch)
        self._sources_began = self._handed_out()
        if self._epochs:
            self._epochs.begin(epoch)

    def _resume(self) -> None:
        """Goes on in the middle of an epoch where a pipeline is there, as after a checkpoint."""
        if self._resume_noted() or self._epochs is None or self._reader is None:
            return
        position = self._pipes[0].reader_position(self._reader)
        if place := self._epochs.place(position):
            self._epoch, self._batch = place
        elif any(getattr(p, "is_restored_from_checkpoint", False) and not p.handed_out() for p in self._pipes):
            self._resume_between_batches(self._reader, self._epochs, position)
        else:
            self._epoch = position.epoch + 1
            self._start_epoch(self._epoch)

    def _kind(self) -> str:
        """What the number of a batch in its epoch depends on."""
        shards = self._pipes[0].reader_meta(self._reader)["number_of_shards"] if self._reader else 1
        what = f"reader {self._reader}" if self._reader else f"size {self._size}"
        return (
            f"{self._wanted.policy.name}, {what}, {len(self._pipes)} of {shards} shards, batch size {self.batch_size}"
        )

    def _noted(self, pipe: Any, batch: int) -> dict[str, Any]:
        """What a checkpoint of a pipeline says about the epoch that is under way. Counts are of batches since then."""
        given = pipe.handed_out()
        began = {"epoch_began": given - self._epoch_began[pipe], "sources_began": given - self._sources_began[pipe]}
        origin = min(getattr(self._epochs, "origin", 0), self._epoch)
        return {
            "kind": self._kind(), "epoch": self._epoch, "batch": batch, "origin": origin, "ended": self._ended, **began
        }  # fmt: skip

    def _resume_noted(self) -> bool:
        """Goes on where an iterator of this kind was, if the checkpoint of each pipeline tells of one."""
        pipes = self._pipes
        if any(not getattr(p, "is_restored_from_checkpoint", False) or p.handed_out() for p in pipes):
            return False
        notes = [pipe.noted_by_iterator() for pipe in pipes]
        first = notes[0]
        if first is None or any(note is None or note["kind"] != self._kind() for note in notes):
            return False
        if any(note["epoch"] != first["epoch"] or note["batch"] != first["batch"] for note in notes):
            raise ArgumentError("the pipelines' checkpoints were not made at one moment, by one iterator")
        self._epoch, self._batch, self._ended = first["epoch"], first["batch"], first["ended"]
        if self._epochs:
            self._epochs.begin(first["origin"])
        for pipe, note in zip(pipes, notes, strict=True):
            self._epoch_began[pipe] -= note["epoch_began"]
            self._sources_began[pipe] -= note["sources_began"]
        return True

    def _resume_between_batches(self, reader: str, epochs: Any, position: Position) -> None:
        """Goes on with the next sample of a checkpoint that was made with another batch size."""
        shards = self._pipes[0].reader_meta(reader)["number_of_shards"]
        if shards > 1 or not epochs.continuous:
            raise ArgumentError(
                f"the checkpoint is at sample {position.position} of epoch {position.epoch}, where no batch of "
                f"{self.batch_size} begins: with a batch size of its own, an iterator can go on in the middle of an "
                "epoch only with LastBatchPolicy.FILL, one shard, and a reader that does not pad"
            )
        self._epochs = followed(reader, self._wanted, waits=False)
        self._epoch = position.epoch

    def _schedule(self) -> None:
        for pipe in self._pipes:
            if pipe.empty():
                pipe.schedule_run()

    def _share(self, pipes: list[Any]) -> list[Sequence[Any]]:
        outputs: list[Sequence[Any]] = []
        failures: list[Exception] = []
        self._taking = [(pipe, pipe.handed_out(), self._batch) for pipe in pipes]
        for pipe in pipes:  # behind a failure, too: pipelines stay in step
            try:
                outputs.append(self._outputs_of(pipe))
            except StopIteration:
                self._taking = []
                raise
            except Exception as failure:
                failures.append(failure)
        self._batch, self._taking = self._batch + 1, []  # one that failed counts: the next one is the one behind it
        if failures:
            try:
                raise failures[0]
            finally:
                failures.clear()  # tracebacks show this frame: both would keep each other, and the pipelines, alive
        return outputs

    def _outputs_of(self, pipe: Any) -> Sequence[Any]:
        try:
            return pipe.share_outputs(self._stream(pipe))  # type: ignore[no-any-return]
        except StopIteration:
            # Sources that gave data to the epoch before have come to their end, and this epoch wants more: they begin
            # anew. Where they began with this epoch, their end is the epoch's.
            if self._epochs is None or self._sources_began[pipe] >= self._epoch_began[pipe]:
                raise
        self._begin_sources(pipe)
        pipe.schedule_run()
        return pipe.share_outputs(self._stream(pipe))  # type: ignore[no-any-return]

    def _begin_sources(self, pipe: Any) -> None:
        pipe.reset()
        self._sources_began[pipe] = pipe.handed_out()

    def _drop_rest(self) -> None:
        """Throws away what an epoch that was counted to its end takes without handing it out."""
        rest = self._epochs.dropped(self._epoch) if self._epochs and self._over() else 0
        for pipe in self._pipes if rest else []:
            while pipe.handed_out() < self._epoch_began[pipe] + self._batch + rest:
                if pipe.empty():
                    pipe.schedule_run()
                try:
                    self._outputs_of(pipe)
                except StopIteration:
                    self._begin_sources(pipe)
                    break
                pipe.release_outputs()
                pipe.schedule_run()

    def _check_there_is_data(self) -> None:
        for pipe in self._pipes:
            if pipe.empty() and not pipe.is_restored_from_checkpoint:  # one may be at the end of an epoch
                raise NoDataError("there is no data in the pipeline: its source has ended before its first batch")

    def _handed_out(self) -> dict[Any, int]:
        return {pipe: pipe.handed_out() for pipe in self._pipes}

    def _finish_interrupted(self) -> None:
        """Brings to its end what Ctrl-C stopped: what one pipeline has given is lost, and so is its like."""
        behind = [pipe for pipe, count, _ in self._taking if pipe.handed_out() == count]
        if len(behind) == len(self._taking):
            self._taking = []
            return
        for pipe in behind:
            with contextlib.suppress(Exception):
                pipe.share_outputs()
        for pipe, _, _ in self._taking:
            pipe.release_outputs()
        self._batch, self._taking = self._batch + 1, []

    def _end(self) -> NoReturn:
        self._ended = True
        if self._auto_reset:
            self.reset()
        raise StopIteration

    def _over(self) -> bool:
        return self._epochs is not None and self._epochs.over(self._epoch, self._batch)

    def _next_epoch(self) -> tuple[int, bool]:
        """The epoch that follows, and whether the end of this one was reached."""
        epoch = self._epoch + 1
        # Readers whose epoch a source has cut short are in its middle.
        at_end = self._over() or (self._ended and self._reader is None)
        if self._epochs and at_end:
            epoch = self._epochs.after(self._epoch)
        return epoch, at_end

    def _arrays(self, outputs: Sequence[Any], samples: int) -> dict[str, Array]:
        if len(outputs) != len(self._names):
            raise ArgumentError(
                f"output_map={self._names} has {len(self._names)} names, but the pipeline has {len(outputs)} outputs"
            )
        if self._epochs and len(outputs[0]) != self.batch_size:
            raise GraphError(
                f"the pipeline gave a batch of {len(outputs[0])} samples: with reader_name or size, an iterator needs "
                f"full ones of {self.batch_size}. Leave both out if batches differ in size"
            )
        if self._channels_last and not any(output.layout() in _CHANNELS_LAST for output in outputs):
            raise ArgumentError(
                f"channels_last=True, but the outputs' layouts are {[output.layout() for output in outputs]}: make one "
                'HWC, with output_layout="HWC" in crop_mirror_normalize for example'
            )
        return {name: self._array(name, output, samples) for name, output in zip(self._names, outputs, strict=True)}
