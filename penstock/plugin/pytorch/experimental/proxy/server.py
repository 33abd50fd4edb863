"""`DALIServer`: runs a pipeline on batches that other processes put together."""

from __future__ import annotations

import copy
import queue
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch.multiprocessing

from penstock.errors import ArgumentTypeError, GraphError, StoppedError
from penstock.frameworks import PyTorch
from penstock.pipeline import Pipeline
from penstock.plugin.arrays import dense
from penstock.plugin.pytorch.experimental.proxy.references import (
    DALIOutputBatchRef,
    DALIOutputSampleRef,
    DALIPipelineRunRef,
    Inputs,
    Key,
)
from penstock.plugin.pytorch.experimental.proxy.transform import DALIProxy

_PATIENCE = 10.0  # seconds for which stopping waits for the thread
_FORGOTTEN = 100  # how many iterators that are gone are remembered


class DALIServer:
    """Runs a pipeline for the workers of a ``torch.utils.data.DataLoader``.

    It runs inside a ``with`` block, or between `start_thread` and `stop_thread`. `DataLoader` starts it where that was
    not done.

    Args:
        pipeline: has inputs: external sources with a ``name`` and without a ``source``. ``prefetch_queue_depth`` says
            how many batches it works on at a time.
        deterministic: run it on batches in the order in which they are used: its random numbers are then the same each
            time. Otherwise it takes batches as workers have them ready, which is faster.

    Attributes:
        proxy: the `DALIProxy` that workers call.

    Raises:
        ArgumentTypeError: ``pipeline`` is none.
        GraphError: the pipeline has no inputs.

    Example:
        >>> from torch.utils.data import DataLoader, default_collate
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def doubled():
        ...     return fn.external_source(name="x") * 2
        >>> with DALIServer(doubled()) as server:
        ...     batch = default_collate([(i, server.proxy(np.int32([i]))) for i in range(3)])
        ...     numbers, doubles = server.produce_data(batch)
        >>> numbers.tolist(), doubles.ravel().tolist()
        ([0, 1, 2], [0, 2, 4])
    """

    def __init__(self, pipeline: Pipeline, deterministic: bool = False) -> None:
        if not isinstance(pipeline, Pipeline):
            raise ArgumentTypeError(f"DALIServer: expected a Pipeline, got: {pipeline!r}")
        self._pipe = pipeline
        inputs = pipeline.fed_inputs()
        if not inputs:
            raise GraphError("DALIServer: the pipeline has no inputs: give it an external_source with a name")
        # One that processes can be given however they are started.
        self._queue = torch.multiprocessing.get_context("spawn").Queue()
        self.proxy = DALIProxy(inputs, pipeline.num_outputs, self._queue, deterministic)
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._changed = threading.Condition()  # guards what follows
        self._done: dict[Key, Sequence[Any] | Exception] = {}
        self._forgotten: deque[int] = deque(maxlen=_FORGOTTEN)
        self._broken: Exception | None = None  # the pipeline cannot run at all

    def start_thread(self) -> None:
        """Starts to run batches; does nothing where it does already."""
        if not self._is_thread_running():
            self._stopping.clear()
            self._thread = threading.Thread(target=self._serve, name="penstock proxy", daemon=True)
            self._thread.start()

    def stop_thread(self) -> None:
        """Ends it: whoever waits for a batch gets a StoppedError."""
        thread, self._thread = self._thread, None
        self._stopping.set()
        if thread is not None:
            self._queue.put(None)  # wakes it
            thread.join(_PATIENCE)
        with self._changed:
            self._done.clear()
            self._changed.notify_all()

    def _is_thread_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def __enter__(self) -> DALIServer:
        self.start_thread()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_thread()

    def produce_data(self, obj: Any) -> Any:
        """The same object with tensors in the places of references, wherever they are: in lists, tuples, mappings and
        in attributes of objects. What has none in it is not copied.

        Waits for the pipeline. Raises what the pipeline raised for the batch, GraphError for references to samples that
        were not collated, and where the server was not started, StoppedError where it is stopped meanwhile.
        """
        return self._replaced(obj, {})

    def _replaced(self, obj: Any, seen: dict[int, Any]) -> Any:
        if isinstance(obj, DALIOutputBatchRef):
            return self._outputs(obj.run)[obj.output]
        if isinstance(obj, DALIOutputSampleRef):
            raise GraphError("produce_data: the reference to a sample was not collated, as default_collate does")
        if id(obj) in seen:
            return seen[id(obj)]
        seen[id(obj)] = obj  # for what contains itself
        new = obj
        if isinstance(obj, (list, tuple)):
            items = [self._replaced(item, seen) for item in obj]
            if any(a is not b for a, b in zip(items, obj, strict=True)):
                new = type(obj)(*items) if hasattr(obj, "_fields") else type(obj)(items)
        elif isinstance(obj, Mapping):
            changed = {key: value for key, old in obj.items() if (value := self._replaced(old, seen)) is not old}
            if changed:
                new = copy.copy(obj)
                new.update(changed)  # type: ignore[attr-defined]  # of one that can be collated
        elif hasattr(obj, "__dict__") and not isinstance(obj, (type, torch.Tensor)):
            parts = vars(obj).items()
            changed = {name: value for name, old in parts if (value := self._replaced(old, seen)) is not old}
            if changed:
                new = copy.copy(obj)
                vars(new).update(changed)
        seen[id(obj)] = new
        return new

    def forget(self, epoch: int | None) -> None:
        """Throws away the batches that workers of an iterator have ready, which nobody will ask for any more."""
        with self._changed:
            if epoch is not None:
                self._forgotten.append(epoch)
                self._drop(lambda key: key.epoch == epoch)

    def _drop(self, gone: Any) -> None:
        for key in [key for key in self._done if gone(key)]:
            del self._done[key]

    def _outputs(self, run: DALIPipelineRunRef) -> Sequence[Any]:
        if run.outputs is not None:
            return run.outputs
        if run.inputs is not None:
            self._queue.put((run.key, run.inputs))
            run.inputs = None
        with self._changed:
            while run.key not in self._done:
                if not self._is_thread_running():
                    self._raise_why()
                self._changed.wait(1)
            result = self._done.pop(run.key)
            if run.key.epoch is not None:  # a worker's batches are used in their order, or not at all
                self._drop(lambda key: key.maker == run.key.maker and key.number < run.key.number)
        if isinstance(result, Exception):
            raise result
        run.outputs = result
        return result

    def _raise_why(self) -> NoReturn:
        if self._broken:
            raise self._broken
        if self._stopping.is_set():
            raise StoppedError("produce_data: the server was stopped")
        raise GraphError("produce_data: the server was not started: use it in a `with` block")

    def _serve(self) -> None:
        running: deque[Key] = deque()
        try:
            depth = self._pipe.input_feed_count(self._pipe.fed_inputs()[0])
            while not self._stopping.is_set():
                while len(running) < depth and (request := self._next(wait=not running)):
                    key, inputs = request
                    try:
                        self._pipe.schedule_run(**inputs)
                        running.append(key)
                    except Exception as e:
                        self._give(key, e)
                if running:
                    try:
                        outputs: Sequence[Any] | Exception = self._taken()
                    except Exception as e:
                        outputs = e
                    self._give(running.popleft(), outputs)
        except Exception as e:
            self._broken = e
        finally:
            for _ in running:  # so that the next batches are not taken for these
                self._discard()

    def _next(self, wait: bool) -> tuple[Key, Inputs] | None:
        """A batch to run; None: there is none now, or the server is to stop."""
        while not self._stopping.is_set():
            try:
                request: tuple[Key, Inputs] | None = self._queue.get(block=wait)
            except queue.Empty:
                return None
            if request is not None and request[0].epoch not in self._forgotten:
                return request
        return None

    def _taken(self) -> Sequence[Any]:
        outputs = self._pipe.share_outputs()
        try:
            return [dense(PyTorch(), f"{i}", output) for i, output in enumerate(outputs)]
        finally:
            self._pipe.release_outputs()

    def _discard(self) -> None:
        try:
            self._pipe.share_outputs()
        except Exception:  # of a batch that nobody will see
            return
        self._pipe.release_outputs()

    def _give(self, key: Key, result: Sequence[Any] | Exception) -> None:
        with self._changed:
            if key.epoch not in self._forgotten:
                self._done[key] = result
                self._changed.notify_all()
