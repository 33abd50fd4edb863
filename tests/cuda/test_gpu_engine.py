"""The engine with GPU work in flight: slow GPUs and slow consumers, failures, cancelling, the ends of processes.

On the software GPU its streams are slowed down, so that work is under way whenever something happens to it.
"""

from __future__ import annotations

import ctypes
import gc
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, errors, fn, pipeline_def, types
from tests.cuda.conftest import COUNT
from tests.cuda.gpu_streams import Gpu
from tests.small import made
from tests.software_gpu import libraries

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def slow_gpu(software_gpu: dict[str, str]) -> Iterator[Callable[[int], None]]:
    """Makes the software GPU's streams wait so many microseconds before each piece of work; a real GPU stays itself."""
    driver = ctypes.CDLL(software_gpu["PENSTOCK_CUDA_DRIVER"]) if software_gpu else None

    def set_delay(microseconds: int) -> None:
        if driver:
            driver.software_gpu_set_delay_us(microseconds)

    yield set_delay
    set_delay(0)


@pipeline_def(batch_size=4, num_threads=3, device_id=0, seed=1)
def numbered(files: list[str], random_shuffle: bool = False, shard_id: int = 0, num_shards: int = 1) -> Any:
    """Each file's bytes plus 100, made on the GPU; its number."""
    order = {"random_shuffle": random_shuffle, "shard_id": shard_id, "num_shards": num_shards}
    data, label = fn.readers.file(files=files, labels=list(range(len(files))), name="Reader", **order)
    return fn.cast(data.gpu() + 100, dtype=types.UINT8), label


def checked(outputs: Any) -> list[int]:
    """The numbers of a batch's files, whose contents must be right."""
    data, label = outputs
    numbers = label.as_array().ravel().tolist()
    on_cpu = data.as_cpu()
    for i, n in enumerate(numbers):
        assert (np.asarray(on_cpu[i]) == n + 100).all(), f"sample {i} of {numbers}"
        assert len(np.asarray(on_cpu[i])) == 1000 + 3000 * n
    return numbers


@pytest.mark.parametrize("held", [0, 1, 3, 8])
def test_consumers_that_hold_batches(held: int, slow_gpu: Callable[[int], None], files: list[str]) -> None:
    """What is held is not overwritten, and every sample comes exactly once."""
    pipe = numbered(files, random_shuffle=True)
    pipe.run()
    pipe.start_epoch(0)
    slow_gpu(300)
    window: deque[Any] = deque()
    numbers: list[int] = []
    for _ in range(3 * COUNT // 4):
        window.append(pipe.run())
        if len(window) > held:
            numbers += checked(window.popleft())
    for outputs in window:
        numbers += checked(outputs)
    for epoch in range(3):
        assert sorted(numbers[epoch * COUNT : (epoch + 1) * COUNT]) == list(range(COUNT))


def test_consumers_that_drop_batches_unread(slow_gpu: Callable[[int], None], files: list[str]) -> None:
    """Their memory is used again only when the GPU is done with it."""
    pipe = numbered(files)
    pipe.run()
    pipe.start_epoch(0)
    slow_gpu(500)
    chosen = random.Random(2)
    for i in range(60):
        outputs = pipe.run()
        if chosen.random() < 0.3:
            assert checked(outputs) == [(4 * i + k) % COUNT for k in range(4)]


def test_slow_work_on_other_streams_keeps_memory(slow_gpu: Callable[[int], None], files: list[str]) -> None:
    """A consumer that lends a batch out, puts a copy into its own stream and lets go of it."""
    gpu, streams = Gpu(), []
    pipe = numbered(files[:1] * 4, prefetch_queue_depth=3)
    results = []
    for i in range(30):
        data = pipe.run()[0]
        stream = gpu.stream()
        capsule = data[i % 4].__dlpack__(stream=stream)
        gpu.do(stream, lambda: time.sleep(0.01))
        results.append(gpu.read(stream, data[i % 4].data_ptr(), 1000))
        streams.append(stream)
        del data, capsule
    for stream in streams:
        gpu.synchronize(stream)
    assert all((r == 100).all() for r in results)


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_reset_with_work_in_flight(taken: int, slow_gpu: Callable[[int], None], files: list[str]) -> None:
    pipe = numbered(files, prefetch_queue_depth=4)
    pipe.build()
    slow_gpu(1000)
    for _ in range(6):
        pipe.start_epoch(0)
        pipe.schedule_run()
        for i in range(taken):
            assert checked(pipe.share_outputs()) == [4 * i + k for k in range(4)]
            pipe.release_outputs()
        pipe.reset()
        assert pipe.empty()
    start = 4 * taken  # the next batch follows the last one that was handed out
    pipe.schedule_run()
    assert checked(pipe.share_outputs()) == [(start + k) % COUNT for k in range(4)]


@pytest.mark.parametrize("taken", [0, 1])
def test_closing_with_work_in_flight(taken: int, slow_gpu: Callable[[int], None], files: list[str]) -> None:
    """What was handed out stays whole."""
    slow_gpu(1000)
    for _ in range(5):
        pipe = numbered(files, prefetch_queue_depth=3)
        pipe.schedule_run()
        kept = [pipe.outputs() for _ in range(taken)]
        pipe.close()
        del pipe
        gc.collect()
        assert [checked(o) for o in kept] == [[0, 1, 2, 3]] * taken


def test_the_gpu_and_the_cpu_in_turn(slow_gpu: Callable[[int], None]) -> None:
    """cpu -> gpu -> cpu -> gpu -> cpu: each waits for the one before."""

    def define() -> Any:
        x = fn.random.uniform(shape=[3000], range=[0, 200], dtype=types.UINT8)
        y = fn.cast(x.gpu(), dtype=types.INT32).cpu()
        z = fn.cast(fn.cast(y, dtype=types.FLOAT).gpu(), dtype=types.INT16)
        return x, y, z.cpu()

    pipe = made(define, device_id=0, prefetch_queue_depth=3)
    pipe.run()
    slow_gpu(2000)
    for _ in range(12):
        x, y, z = (o.as_array() for o in pipe.run())
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(x, z)
        assert x.std() > 1


def test_copies_back_and_forth(slow_gpu: Callable[[int], None]) -> None:
    """What the GPU copies to the host goes back to it when it is there, also where no CPU is in between."""

    def define() -> Any:
        x = fn.random.uniform(shape=[3000], range=[0, 200], dtype=types.UINT8)
        return x, x.gpu().cpu().gpu(), fn.cast(x.gpu(), dtype=types.INT16).cpu().gpu() + 1

    pipe = made(define, device_id=0, prefetch_queue_depth=3)
    pipe.run()
    slow_gpu(2000)
    for _ in range(12):
        x, same, more = (o.as_cpu().as_array() for o in pipe.run())
        np.testing.assert_array_equal(x, same)
        np.testing.assert_array_equal(x + 1, more)


def test_two_queues(files: list[str], software_gpu: dict[str, str]) -> None:
    """Of a batch for the CPU and two for the GPU, all are on their way when the first is handed out."""
    pipe = numbered(files, prefetch_queue_depth={"cpu_size": 1, "gpu_size": 2})
    pipe.schedule_run()
    count = 0
    while not pipe.empty():
        assert checked(pipe.outputs()) == [4 * count + k for k in range(4)]
        count += 1
    assert count == 3


@pipeline_def(batch_size=8, num_threads=3, device_id=0, seed=1)
def pictures(folder: str, hw_decoder_load: float) -> Any:
    jpegs, labels = fn.readers.file(file_root=folder, name="Reader")
    return fn.decoders.image(jpegs, device="mixed", hw_decoder_load=hw_decoder_load), labels


@pytest.mark.parametrize("load", [0.0, 0.65, 1.0])
def test_a_broken_file_fails_its_batch_and_no_other(
    load: float, photographs: Path, tmp_path: Path, slow_gpu: Callable[[int], None]
) -> None:
    """The error names the operator and the file; batches before and behind it are right."""
    folder = tmp_path / "pictures" / "class"
    folder.mkdir(parents=True)
    jpegs = sorted(photographs.rglob("*.jpg"))
    for i in range(24):
        data = jpegs[i % len(jpegs)].read_bytes()
        (folder / f"{i:02}.jpg").write_bytes(data[:600] + bytes(200) if i == 11 else data)
    on_cpu = Pipeline(batch_size=8, num_threads=2, device_id=None)
    with on_cpu:
        good, _ = fn.readers.file(files=[str(folder / f"{i:02}.jpg") for i in range(24) if i != 11])
        on_cpu.set_outputs(fn.decoders.image(good))
    expected = [np.asarray(x) for _ in range(3) for x in on_cpu.run()[0]]
    pipe = pictures(str(folder.parent), hw_decoder_load=load, prefetch_queue_depth=3)
    slow_gpu(300)
    for _ in range(3):
        for batch in range(3):
            if batch == 1:
                with pytest.raises(errors.DecodeError, match=r"decoders\.image") as failure:
                    pipe.run()
                assert "11.jpg" in str(failure.value)
                continue
            first = 0 if batch == 0 else 15
            for picture, wanted in zip(pipe.run()[0].as_cpu(), expected[first : first + 8], strict=True):
                found = np.asarray(picture)
                assert found.shape == wanted.shape
                assert np.abs(found.astype(int) - wanted).mean() < 2


@pytest.mark.parametrize("devices", [(0, 0), (0, 1)])
def test_two_pipelines_on_two_threads(
    devices: tuple[int, int], slow_gpu: Callable[[int], None], files: list[str]
) -> None:
    from penstock.machine import gpu

    if gpu.count() <= max(devices):
        pytest.skip("needs two GPUs")
    found: list[Any] = [None, None]

    def run(place: int, device: int) -> None:
        try:
            pipe = numbered(files, device_id=device, shard_id=place, num_shards=2)
            found[place] = [n for _ in range(12) for n in checked(pipe.run())]
        except BaseException as e:
            found[place] = e

    slow_gpu(200)
    threads = [threading.Thread(target=run, args=(i, d)) for i, d in enumerate(devices)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for place in range(2):  # shards take turns by epoch: each pipeline reads one half, then the other
        halves = [list(range(12)), list(range(12, 24))]
        assert found[place] == (halves[place] + halves[1 - place]) * 2


def test_no_memory_grows(slow_gpu: Callable[[int], None], files: list[str]) -> None:
    pipe = numbered(files, random_shuffle=True, enable_memory_stats=True)
    held = []
    for epoch in range(30):
        for _ in range(COUNT // 4):
            pipe.run()
        if epoch % 10 == 9:
            pipe.reset()
            memory = pipe.statistics()["memory"]
            held.append(memory["device"]["held"] + memory["pinned"]["held"])
    assert held[2] <= held[0] * 1.5


def test_the_library_is_the_one_that_the_software_gpu_belongs_to(software_gpu: dict[str, str]) -> None:
    """Or nothing above has tested what it says."""
    from penstock.machine import gpu

    assert gpu.count() >= 1
    assert gpu.describe(0).name.decode().startswith("Software GPU") == (not libraries.has_real_gpu())
