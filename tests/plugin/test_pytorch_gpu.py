"""The PyTorch iterator on GPUs: no copies, and no batch that is overwritten while it is still read.

PyTorch without CUDA takes a software GPU's memory for the host's. With a real GPU (-m gpu) it runs as users run it.
"""

from __future__ import annotations

import gc
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from penstock import fn, pipeline_def  # noqa: E402
from penstock.plugin.pytorch import DALIGenericIterator, LastBatchPolicy  # noqa: E402
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU  # noqa: E402
from tests.cuda.gpu_streams import Gpu, as_if_on_cpu  # noqa: E402

COUNT, SIZE = 26, 200_000
STREAM_SAFE = {"reader_name": "Reader", "auto_reset": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """26 files of bytes that all are the file's number."""
    root = tmp_path_factory.mktemp("files") / "class"
    root.mkdir()
    for i in range(COUNT):
        (root / f"{i:02}.jpg").write_bytes(bytes([i]) * SIZE)
    return str(root.parent)


@pipeline_def(batch_size=4, num_threads=2, prefetch_queue_depth=2)
def files(file_root: str, shard_id: int = 0, num_shards: int = 1) -> Any:
    data, labels = fn.readers.file(name="Reader", file_root=file_root, shard_id=shard_id, num_shards=num_shards)
    return data.gpu(), labels.gpu(), labels


@pytest.fixture
def handed_over(software_gpu: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[TensorGPU]:
    """What the iterator hands to PyTorch, which does not need CUDA for that."""
    if not software_gpu:
        pytest.skip("a real GPU's memory is not the host's")
    handed: list[Any] = []

    def from_dlpack(tensor: Any) -> Any:
        handed.append(tensor)
        if isinstance(tensor, TensorGPU):
            return torch.from_dlpack(as_if_on_cpu(tensor.__dlpack__(max_version=(1, 0))))
        return torch.from_dlpack(tensor)

    monkeypatch.setattr("torch.utils.dlpack.from_dlpack", from_dlpack)
    return handed


def test_pipelines_give_lists_on_their_gpu(software_gpu: dict[str, str], folder: str) -> None:
    pipe = files(folder, device_id=1)
    kept = []
    for i in range(20):
        data, labels, on_cpu = pipe.run()
        assert isinstance(data, TensorListGPU)
        assert isinstance(on_cpu, TensorListCPU)
        assert (data.device_id(), data.shape(), data.is_dense_tensor()) == (1, [(SIZE,)] * 4, True)
        numbers = [(4 * i + k) % COUNT for k in range(4)]
        assert labels.as_cpu().as_array().ravel().tolist() == on_cpu.as_array().ravel().tolist() == [0] * 4
        assert [Path(name).name for name in data.source_info()] == [f"{n:02}.jpg" for n in numbers]
        kept.append((numbers, data))
    del pipe, data
    gc.collect()
    for numbers, data in kept:
        np.testing.assert_array_equal(data.as_cpu().as_array(), np.repeat(numbers, SIZE).reshape(4, SIZE))


def test_a_kept_output_does_not_keep_the_others(software_gpu: dict[str, str], folder: str) -> None:
    """Labels that are collected over an epoch must not hold its pictures."""
    pipe = files(folder, device_id=0)
    addresses, kept = [], []
    while len(addresses) < 15 + len(set(addresses)):
        data, labels, _ = pipe.run()
        addresses.append(data.as_tensor().data_ptr())
        kept.append(labels.as_tensor())
        assert len(addresses) < 300
        time.sleep(0.002)  # streams of other tests may still have work: it is waited for


def test_nothing_is_copied(handed_over: list[TensorGPU], folder: str) -> None:
    it = DALIGenericIterator(files(folder, device_id=0), ["data", "label", "cpu"], **STREAM_SAFE)
    kept = [batch[0] for _ in range(2) for batch in it]
    for arrays, given in zip(kept, zip(*[iter(handed_over)] * 3, strict=True), strict=True):
        assert [array.data_ptr() for array in arrays.values()] == [t.data_ptr() for t in given]
        assert [type(t) for t in given] == [TensorGPU, TensorGPU, TensorCPU]
    handed_over.clear()
    del it, given
    gc.collect()
    data = torch.cat([arrays["data"] for arrays in kept])
    expected = np.arange(len(data)) % COUNT
    np.testing.assert_array_equal(data.numpy(), np.repeat(expected, SIZE).reshape(-1, SIZE))


def test_partial_batches_and_several_gpus(handed_over: list[TensorGPU], folder: str) -> None:
    pipes = [files(folder, device_id=i, shard_id=i, num_shards=2) for i in range(2)]
    it = DALIGenericIterator(
        pipes, ["data", "label", "cpu"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
    )
    read: list[list[int]] = [[], []]
    for batch in it:
        for shard, arrays in zip(read, batch, strict=True):
            shard += arrays["data"][:, 0].tolist()
    assert read == [list(range(13)), list(range(13, 26))]
    assert [t.device_id() for t in handed_over if isinstance(t, TensorGPU)][:4] == [0, 0, 1, 1]


def test_slow_consumers_on_other_streams(software_gpu: dict[str, str], folder: str) -> None:
    """Each batch is let go of as soon as the work that reads it has been issued."""
    gpu, chosen = Gpu(), random.Random(5)
    streams = [gpu.stream() for _ in range(3)]
    pipe = files(folder, device_id=0)
    results = []
    for i in range(40):
        tensor = pipe.run()[0].as_tensor()
        stream = chosen.choice(streams)
        capsule = tensor.__dlpack__(stream=stream)
        gpu.do(stream, lambda: time.sleep(0.005))
        results.append((i, gpu.read(stream, tensor._sample.data, 4 * SIZE)))
        del tensor, capsule
    for stream in streams:
        gpu.synchronize(stream)
    for i, got in results:
        np.testing.assert_array_equal(got.reshape(4, SIZE)[:, ::1000], [[(4 * i + k) % COUNT] * 200 for k in range(4)])


@pytest.mark.parametrize("no_copy", [False, True])
def test_what_is_fed_and_handed_on_is_kept_for_slow_consumers(software_gpu: dict[str, str], no_copy: bool) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=0)
    def through() -> Any:
        return fn.external_source(device="gpu", name="x", no_copy=no_copy)

    gpu, pipe = Gpu(), through()
    stream = gpu.stream()
    results = []
    with gpu.blocked(stream):
        for i in range(8):
            pipe.feed_input("x", TensorListCPU(np.full((2, SIZE), i, np.uint8))._as_gpu())
            tensor = pipe.run()[0].as_tensor()
            capsule = tensor.__dlpack__(stream=stream)
            results.append(gpu.read(stream, tensor._sample.data, 2 * SIZE))
            del tensor, capsule
    gpu.synchronize(stream)
    assert [set(got.tolist()) for got in results] == [{i} for i in range(8)]


@pytest.fixture
def cuda() -> int:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU and PyTorch with CUDA")
    return torch.cuda.device_count()


@pytest.mark.gpu
def test_torch_shares_memory(cuda: int, folder: str) -> None:
    device = cuda - 1
    pipe = files(folder, device_id=device)
    for i in range(6):
        data = pipe.run()[0]
        with torch.cuda.stream(torch.cuda.Stream(device) if i % 2 else torch.cuda.default_stream(device)):
            shared = torch.from_dlpack(data)
            assert shared.device == torch.device("cuda", device)
            assert shared.data_ptr() == data.data_ptr()
            assert shared[:, 0].tolist() == [(4 * i + k) % COUNT for k in range(4)]
        by_interface = torch.as_tensor(data[1], device=shared.device)
        assert by_interface.data_ptr() == data[1].data_ptr()
        assert torch.equal(by_interface, shared[1])
        with torch.cuda.device(device):  # torch exports the current device's tensors only
            back = TensorListGPU(shared)
        assert (back.data_ptr(), back.device_id()) == (shared.data_ptr(), device)
        assert np.array_equal(back.as_cpu().as_array(), shared.cpu().numpy())


@pytest.mark.gpu
@pytest.mark.parametrize("channels_last", [False, True])
def test_iterators_give_torch_the_pipelines_memory(cuda: int, photographs: Path, channels_last: bool) -> None:
    @pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def pictures() -> Any:
        jpegs, labels = fn.readers.file(name="Reader", file_root=str(photographs))
        return fn.decoders.image(jpegs).gpu(), labels

    it = DALIGenericIterator(pictures(), ["x", "y"], reader_name="Reader", channels_last=channels_last)
    (batch,) = next(it)
    assert batch["x"].is_cuda
    assert not batch["y"].is_cuda
    shape = (4, 3, 375, 500) if channels_last else (4, 375, 500, 3)
    assert batch["x"].shape == shape
    memory_format = torch.channels_last if channels_last else torch.contiguous_format
    assert batch["x"].is_contiguous(memory_format=memory_format)


@pytest.mark.gpu
def test_host_outputs_are_not_used_again_before_they_are_copied(cuda: int, folder: str) -> None:
    """They lie in pinned memory, so torch's copies of them run behind the host's back."""
    it = DALIGenericIterator(files(folder, device_id=0), ["data", "label", "cpu"], **STREAM_SAFE)
    copies, wanted = [], []
    for _ in range(20):
        for (batch,) in it:
            wanted.append(batch["cpu"].clone())
            torch.cuda._sleep(5_000_000)
            copies.append(batch.pop("cpu").cuda(non_blocking=True))
            del batch
    torch.cuda.synchronize()
    assert all(torch.equal(a.cpu(), b) for a, b in zip(copies, wanted, strict=True))


@pytest.mark.gpu
def test_a_tensor_that_torch_made_is_waited_for(cuda: int) -> None:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        source = torch.zeros(1 << 20, device="cuda")
        torch.cuda._sleep(1)
        source += 0
        torch.cuda.synchronize()  # what a first launch costs is over
        torch.cuda._sleep(400_000_000)
        source += 7
        ours = TensorGPU(source)
    assert not stream.query()
    assert (np.asarray(ours.as_cpu()) == 7).all()


@pytest.mark.gpu
@pytest.mark.parametrize("style", ["side streams", "current stream", "threads"])
def test_torch_reads_slowly_on_other_streams(cuda: int, folder: str, style: str) -> None:
    """Nothing tells us of the side streams: batches die on the host long before the GPU has read them."""
    from concurrent.futures import ThreadPoolExecutor

    it = DALIGenericIterator(files(folder, device_id=0), ["data", "label", "cpu"], **STREAM_SAFE)
    streams = [torch.cuda.Stream() for _ in range(4)]
    chosen = random.Random(1)
    sums: list[Any] = []

    def consume(data: Any, stream: Any) -> Any:
        with torch.cuda.stream(stream):
            torch.cuda._sleep(chosen.randrange(20_000_000))  # up to 10 ms or so
            return data.view(4, -1).sum(1, dtype=torch.int64)

    with ThreadPoolExecutor(4) as pool:
        epochs = int(os.environ.get("PENSTOCK_STRESS_EPOCHS", "20"))
        for _ in range(epochs):
            for (batch,) in it:
                data, stream = batch.pop("data"), torch.cuda.current_stream()
                if style != "current stream":
                    stream = chosen.choice(streams)
                    stream.wait_stream(torch.cuda.current_stream())
                sums.append(pool.submit(consume, data, stream) if style == "threads" else consume(data, stream))
                del data, batch
    torch.cuda.synchronize()
    got = torch.cat([(s.result() if style == "threads" else s) for s in sums]).cpu().numpy()
    np.testing.assert_array_equal(got, np.arange(len(got)) % COUNT * SIZE)


@pytest.mark.gpu
def test_a_thread_that_keeps_a_stream_busy_delays_reuse_and_nothing_else(cuda: int, folder: str) -> None:
    """Memory that is not passed yet is not waited for: new blocks are taken, and go back when it is."""
    pipe, busy = files(folder, device_id=0), torch.cuda.Stream()

    def check(i: int) -> None:
        data = torch.from_dlpack(pipe.run()[0])
        assert data[:, 0].tolist() == [(4 * i + k) % COUNT for k in range(4)]

    for i in range(5):  # so that PyTorch's kernels are loaded: that waits for all work
        check(i)
    with torch.cuda.stream(busy):
        torch.cuda._sleep(1_000_000_000)
    for i in range(5, 15):
        check(i)
    assert not busy.query()
