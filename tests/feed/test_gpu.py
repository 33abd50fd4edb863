"""fn.external_source with device="gpu": data of the host's and of a GPU's memory, in step with its producer's stream.

They run on two GPUs in software, or on real ones.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import DeviceError, TensorError
from penstock.tensors import TensorListCPU, TensorListGPU
from tests.cuda.gpu_streams import Gpu, Interface

Array = np.ndarray[Any, Any]
COUNT, SIZE = 3, 50_000


@pytest.fixture(scope="module")
def gpu(software_gpu: dict[str, str]) -> Gpu:
    return Gpu()


@pytest.fixture(scope="module", autouse=True)
def _gpu(gpu: Gpu) -> None:
    pass


def pipeline(then: Callable[[Any], Any] = lambda x: x, source: Any = None, **arguments: Any) -> Pipeline:
    """An external source on the GPU, named "mine" where it is fed, and what ``then`` makes of it."""
    pipe = Pipeline(COUNT, 2, 0, prefetch_queue_depth=2)
    with pipe:
        name = None if source else "mine"
        outputs = then(fn.external_source(source, device="gpu", name=name, **arguments))
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    return pipe


def batch(value: int) -> Array:
    return np.full((COUNT, SIZE), value, np.uint8)


def on_gpu(array: Any, device: int = 0) -> TensorListGPU:
    return TensorListCPU(array)._as_gpu(device)


def values(output: Any) -> list[int]:
    """All different values."""
    assert isinstance(output, TensorListGPU)
    return [int(v) for v in np.unique(output.as_cpu().as_array())]


class Producer:
    """Another library's memory for a batch, and the stream in which it works."""

    def __init__(self, gpu: Gpu):
        self.gpu, self.stream, self.memory = gpu, gpu.stream(), on_gpu(batch(0))
        self.address = self.memory.as_tensor().data_ptr()

    def write(self, value: int) -> None:
        """Puts it into the stream."""
        self.gpu.write(self.stream, self.address, batch(value))

    def array(self, **others: Any) -> Interface:
        return Interface(self.memory, self.address, (COUNT, SIZE), **others)


class Exporter:
    """Has DLPack and nothing else; notes the streams it was asked for."""

    def __init__(self, tensors: Any):
        self.tensors, self.streams = tensors, []  # type: Any, list[Any]

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        self.streams.append(stream)
        return self.tensors.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensors.__dlpack_device__()  # type: ignore[no-any-return]


@pytest.mark.parametrize("no_copy", [False, True])
def test_data_of_the_host_goes_to_the_gpu(no_copy: bool) -> None:
    memory = batch(0)

    def source(i: int) -> Array:
        memory[:] = i
        return memory

    pipe = pipeline(lambda x: (x, x + 1, x.cpu()), source, layout="W", no_copy=no_copy)
    for i in range(4):
        same, more, back = pipe.run()
        assert (same.layout(), same.shape()) == ("W", [(SIZE,)] * COUNT)
        assert (values(same), values(more)) == ([i], [i + 1])
        assert np.unique(back.as_array()).tolist() == [i]


def test_samples_of_all_shapes() -> None:
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(4.0).reshape(1, 4)[:, ::2], np.zeros((0, 5))]
    pipe = pipeline(lambda x: x)
    (host,) = pipe.run(mine=arrays)
    for i, array in enumerate(arrays):
        np.testing.assert_array_equal(host.as_cpu().at(i), array)
    (device,) = pipe.run(mine=[Interface(t, t.data_ptr(), tuple(t.shape()), "<f8") for t in on_gpu(arrays[:1])])
    np.testing.assert_array_equal(device.as_cpu().at(0), arrays[0])


KINDS: dict[str, Callable[[TensorListGPU], Any]] = {
    "tensor list": lambda t: t,
    "tensors": list,
    "tensor": lambda t: t.as_tensor(),
    "interface": lambda t: Interface(t, t.as_tensor().data_ptr(), (COUNT, SIZE)),
    "list of interfaces": lambda t: [Interface(t, s.data_ptr(), (SIZE,)) for s in t],
    "dlpack": lambda t: Exporter(t),
    "list of dlpack": lambda t: [Exporter(s) for s in t],
    "capsule": lambda t: t.__dlpack__(),
    "capsules": lambda t: [s.__dlpack__() for s in t],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("no_copy", [False, True])
def test_data_of_the_gpu(kind: str, no_copy: bool) -> None:
    pipe = pipeline(lambda x: (x, x + 1), no_copy=no_copy)
    for i in range(4):
        data = on_gpu(batch(i))
        start = data.as_tensor().data_ptr()
        same, more = pipe.run(mine=KINDS[kind](data))
        assert (values(same), values(more)) == ([i], [i + 1])
        assert (same[0].data_ptr() == start) == no_copy


def test_a_capsule_may_be_of_the_host() -> None:
    assert values(pipeline().run(mine=batch(5).__dlpack__())[0]) == [5]


def test_output_of_a_pipeline_feeds_another() -> None:
    first = pipeline(lambda x: x + 1, lambda i: batch(i))
    second = pipeline(lambda x: x + 1, lambda: first.run()[0])
    third = pipeline(lambda x: x + 1, lambda: second.run()[0], no_copy=True)
    assert [values(third.run()[0]) for _ in range(5)] == [[i + 3] for i in range(5)]


# In step with the producer.


@pytest.mark.parametrize("no_copy", [False, True])
@pytest.mark.parametrize("given", ["interface", "argument", "operator"])
def test_what_the_producer_still_has_to_do_comes_first(given: str, no_copy: bool, gpu: Gpu) -> None:
    producer = Producer(gpu)
    arguments = {"cuda_stream": producer.stream} if given == "operator" else {}
    pipe = pipeline(lambda x: x + 1, no_copy=no_copy, **arguments)
    pipe.build()
    with gpu.blocked(producer.stream):
        producer.write(7)
        data = producer.array(stream=producer.stream) if given == "interface" else producer.array()
        pipe.feed_input("mine", data, cuda_stream=producer.stream if given == "argument" else None)
        pipe.schedule_run()
        (output,) = pipe.share_outputs(gpu.stream())  # it is launched, and the host does not wait for it
        time.sleep(0.1)  # for what does not wait for the producer
    assert values(output) == [8]


@pytest.mark.parametrize("given", ["interface", "argument"])
def test_what_the_producer_does_next_comes_after_the_copy(given: str, gpu: Gpu) -> None:
    producer = Producer(gpu)
    pipe = pipeline(lambda x: x + 1)
    pipe.build()
    with gpu.blocked(producer.stream):
        producer.write(7)
        data = producer.array(stream=producer.stream) if given == "interface" else producer.array()
        pipe.feed_input("mine", data, cuda_stream=producer.stream if given == "argument" else None)
        producer.write(99)
        pipe.schedule_run()
    assert values(pipe.share_outputs()[0]) == [8]


@pytest.mark.parametrize("cuda_stream", [None, -1])
def test_where_no_stream_is_known_the_copy_is_waited_for(cuda_stream: int | None, gpu: Gpu) -> None:
    producer = Producer(gpu)
    producer.write(7)
    gpu.synchronize(producer.stream)
    pipe = pipeline(lambda x: x + 1)
    pipe.feed_input("mine", producer.array(), cuda_stream=cuda_stream)
    producer.write(99)
    assert values(pipe.run()[0]) == [8]


def test_dlpack_is_asked_for_a_stream() -> None:
    data = Exporter(on_gpu(batch(3)))
    assert values(pipeline().run(mine=data)[0]) == [3]
    assert data.streams
    assert None not in data.streams


# Whose memory it is.


class Owner:
    """Keeps memory."""

    def __init__(self, memory: Any):
        self.memory = memory


@pytest.mark.parametrize("shown", [False, True])
def test_no_copy_keeps_memory_while_it_is_needed(shown: bool, gpu: Gpu) -> None:
    """Until the GPU has read it, though no reference to it is left; and as long as outputs show it."""
    data = on_gpu(batch(5))
    owner = Owner(data)
    alive = weakref.ref(owner)
    pipe = pipeline((lambda x: (x, x + 1)) if shown else (lambda x: x + 1), no_copy=True)
    pipe.feed_input("mine", Interface(owner, data.as_tensor().data_ptr(), (COUNT, SIZE)))
    del owner, data
    pipe.schedule_run()
    outputs = pipe.share_outputs()
    pipe.release_outputs()
    gc.collect()
    if shown:
        assert alive() is not None
    assert [values(o) for o in outputs] == ([[5], [6]] if shown else [[6]])
    del outputs
    pipe.feed_input("mine", batch(1))
    pipe.schedule_run()
    pipe.share_outputs()[0].as_cpu()  # what the GPU is done with is let go of at the next batch, or the end
    pipe.close()
    del pipe
    gc.collect()
    assert alive() is None


def test_a_copy_lets_go_of_memory_at_once() -> None:
    data = on_gpu(batch(5))
    owner = Owner(data)
    alive = weakref.ref(owner)
    pipe = pipeline()
    pipe.feed_input("mine", Interface(owner, data.as_tensor().data_ptr(), (COUNT, SIZE)))
    del owner, data
    gc.collect()
    assert alive() is None
    assert values(pipe.run()[0]) == [5]


def test_producers_memory_is_used_again_and_again(gpu: Gpu) -> None:
    """A producer that fills the same memory for each batch, as fast as it can, from its own thread."""
    producer, seen = Producer(gpu), []  # type: Producer, list[int]
    pipe = pipeline(lambda x: x + 1, blocking=True)
    pipe.build()

    def produce() -> None:
        for i in range(40):
            producer.write(i)
            pipe.feed_input("mine", producer.array(stream=producer.stream))

    thread = threading.Thread(target=produce)
    thread.start()
    for _ in range(40):
        seen += values(pipe.run()[0])
    thread.join()
    assert seen == list(range(1, 41))


# What is refused.


def test_wrong_devices() -> None:
    with pytest.raises(DeviceError, match="the data is on GPU 1, but the pipeline is on GPU 0"):
        pipeline().run(mine=on_gpu(batch(1), 1))
    pipe = Pipeline(COUNT, 1, 0)
    with pipe:
        pipe.set_outputs(fn.external_source(name="mine"))
    for data in (on_gpu(batch(1)), list(on_gpu(batch(1))), Interface(None, 4096, (COUNT, SIZE))):
        with pytest.raises(DeviceError, match="the data is on a GPU") as failure:
            pipe.feed_input("mine", data)
        assert "operator made at" in str(failure.value)
    pipe = Pipeline(COUNT, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(name="mine", device="gpu"))
    with pytest.raises(DeviceError, match="device_id=None"):
        pipe.build()


def test_data_that_makes_no_batch() -> None:
    data = on_gpu(batch(1))
    address = data.as_tensor().data_ptr()
    for wrong, problem in (
        (Interface(data, address, (COUNT, SIZE // 2), strides=(SIZE, 2)), "not dense"),
        (Interface(data, address, (COUNT + 1, 10)), "a batch of 4 samples, but the pipeline's batch_size is 3"),
        (Interface(data, address, (COUNT, 10), "<c8"), "no type that a tensor can have"),
        (Interface(data, address, ()), "at least one axis"),
        ([data[0], on_gpu([np.zeros(3)])[0]], "sample 1 is DALIDataType.FLOAT64"),
    ):
        with pytest.raises(TensorError, match=problem):
            pipeline().feed_input("mine", wrong)
