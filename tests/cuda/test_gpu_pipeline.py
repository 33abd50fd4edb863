"""What Pipeline offers for GPUs: placement and its errors, arguments, processors near a GPU, several GPUs at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import OperatorConcurrency, Pipeline, StreamPolicy, backend, errors, fn, types
from penstock.frameworks import Backend
from penstock.machine import affinity, gpu
from penstock.plugin.base import BaseIterator, LastBatchPolicy
from penstock.tensors import TensorListCPU, TensorListGPU
from tests.cuda.gpu_streams import Gpu
from tests.small import made, numbers, ten_files


def picture() -> Any:
    return fn.random.uniform(shape=[6, 5, 3], range=[0.0, 200.0], dtype=types.UINT8)


WRONG: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: fn.flip(picture(), device="gpu"),
        r"flip: input 0 .* is on the CPU, but with device='gpu' .* use \.gpu\(\)",
    ),
    (
        lambda: fn.crop(picture().gpu(), device="cpu", crop=(2, 2)),
        r"crop: input 0 .* is on the GPU, but with device='cpu' .* use \.cpu\(\)",
    ),
    (
        lambda: fn.decoders.image(picture().gpu(), device="mixed"),
        r"decoders\.image: input 0 .* is on the GPU, but with device='mixed' .* on the CPU",
    ),
    (
        lambda: fn.flip(picture().gpu(), horizontal=fn.random.coin_flip(device="gpu")),
        r"flip: horizontal is on the GPU .* arguments must be on the CPU, use \.cpu\(\)",
    ),
    (
        lambda: fn.cast(picture(), device="tpu", dtype=types.INT32),
        r"cast: device='tpu': this operator runs on 'cpu' or 'gpu'",
    ),
    (lambda: fn.cast(picture(), device="mixed", dtype=types.INT32), r"cast: device='mixed': this operator runs on"),
    (lambda: fn.readers.file(files=["x"], device="gpu"), r"readers\.file: device='gpu': this operator runs on 'cpu'"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_wrong_device_is_named(number: int) -> None:
    """While the pipeline is defined: no GPU is needed to be told so."""
    define, wanted = WRONG[number]
    with pytest.raises(errors.DeviceError, match=wanted):
        made(define, device_id=0)


def test_operators_run_where_their_inputs_are(software_gpu: dict[str, str]) -> None:
    """Constants go along; `.gpu()` and `.cpu()` are nothing for what is there already."""

    def define() -> Any:
        x = picture()
        on_gpu = x.gpu()
        assert (x.device, on_gpu.device, on_gpu.gpu(), x.cpu()) == ("cpu", "gpu", on_gpu, x)
        shifted = fn.cast(on_gpu, dtype=types.INT16) + np.array([1, 2, 3], np.int16)
        return x, shifted, fn.cast(shifted.cpu(), dtype=types.UINT8)

    x, shifted, back = made(define, device_id=0).run()
    assert [type(o) for o in (x, shifted, back)] == [TensorListCPU, TensorListGPU, TensorListCPU]
    np.testing.assert_array_equal(shifted.as_cpu().as_array(), x.as_array() + np.array([1, 2, 3]))
    np.testing.assert_array_equal(back.as_array(), x.as_array() + np.array([1, 2, 3]))


@pytest.mark.parametrize(
    ("device_id", "wanted"),
    [(None, "device_id=None: operators run on a GPU"), (99, "device_id=99: this machine has"), (-1, "device_id=-1")],
)
def test_a_gpu_that_is_not_there(device_id: int | None, wanted: str, software_gpu: dict[str, str]) -> None:
    with pytest.raises(errors.DeviceError, match=wanted):
        made(lambda: picture().gpu(), device_id=device_id).build()
    if device_id != -1:  # which is refused, as in DALI
        assert len(made(picture, device_id=device_id).run()[0]) == 4  # which this test does not need


def test_prefetch_queues_of_two_sizes(software_gpu: dict[str, str], tmp_path: Path) -> None:
    """As many as both sizes allow are on their way, and one is read; without operators on the GPU, the CPU's alone."""
    files = ten_files(tmp_path)
    for place, count in ((lambda n: n.gpu(), 6), (lambda n: n, 3)):
        pipe = made(lambda: place(numbers(files)), device_id=0, prefetch_queue_depth={"cpu_size": 3, "gpu_size": 2})  # noqa: B023
        assert (pipe.cpu_queue_size, pipe.gpu_queue_size, pipe.exec_separated, pipe.exec_dynamic) == (3, 2, True, None)
        pipe.schedule_run()
        seen = []
        while not pipe.empty():
            (output,) = pipe.outputs()
            seen += (output.as_cpu() if isinstance(output, TensorListGPU) else output).as_array().ravel().tolist()
        assert seen == [i % 10 for i in range(4 * count)]
    with pytest.raises(errors.ArgumentError, match="needs exec_async=True"):
        Pipeline(1, 1, 0, prefetch_queue_depth={"cpu_size": 3, "gpu_size": 2}, exec_async=False)


def test_only_gpu_size_batches_are_in_the_gpus_memory(software_gpu: dict[str, str]) -> None:
    pipe = made(
        lambda: fn.zeros(shape=[1_000_000], dtype=types.UINT8).gpu(), device_id=1, enable_memory_stats=True,
        prefetch_queue_depth={"cpu_size": 4, "gpu_size": 1},
    )  # fmt: skip
    backend.ReleaseUnusedMemory()
    before = pipe.statistics()["memory"]["device"]["held"]
    for _ in range(6):
        pipe.run()
    held = pipe.statistics()["memory"]["device"]["held"] - before
    assert 4_000_000 <= held < 3 * 4_200_000  # one ahead, one at the consumer's


@pytest.mark.parametrize(
    "arguments",
    [
        {"stream_policy": StreamPolicy.SINGLE, "concurrency": OperatorConcurrency.FULL},
        {"default_cuda_stream_priority": -1, "max_streams": 3},
        {"exec_dynamic": False},
        {"exec_pipelined": False, "exec_async": False},
    ],
)
def test_results_do_not_depend_on_how_it_is_run(arguments: dict[str, Any], software_gpu: dict[str, str]) -> None:
    def define() -> Any:
        x = picture()
        return x, fn.cast(x.gpu(), dtype=types.INT32) * 2

    pipe = made(define, device_id=0, **arguments)
    for name, value in arguments.items():
        assert getattr(pipe, name) == value
    for _ in range(4):
        x, doubled = pipe.run()
        np.testing.assert_array_equal(doubled.as_cpu().as_array(), x.as_array().astype(int) * 2)


def test_policies_have_types() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="stream_policy='single': expected a StreamPolicy"):
        Pipeline(1, 1, 0, stream_policy="single")
    with pytest.raises(errors.ArgumentTypeError, match="concurrency=3: expected a OperatorConcurrency"):
        Pipeline(1, 1, 0, concurrency=3)
    with pytest.raises(errors.ArgumentTypeError, match="default_cuda_stream_priority='high'"):
        Pipeline(1, 1, 0, default_cuda_stream_priority="high")  # type: ignore[arg-type]


def test_policies_are_dalis() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, whose names these are, is not installed")
    for own, theirs in ((StreamPolicy, dali.StreamPolicy), (OperatorConcurrency, dali.OperatorConcurrency)):
        assert set(own.__members__) == set(theirs.__members__)


def test_work_that_is_put_into_the_output_stream_comes_after_the_outputs(software_gpu: dict[str, str]) -> None:
    pipe = made(lambda: fn.cast(fn.full(7, shape=[50_000]).gpu(), dtype=types.UINT8), device_id=0)
    stream = pipe.output_stream()
    assert stream
    (output,) = pipe.run()
    device = Gpu()
    copied = device.read(stream, output[3].data_ptr(), 50_000)
    device.synchronize(stream)
    assert (copied == 7).all()
    assert made(picture, device_id=0).output_stream() is None


def test_memory_statistics(software_gpu: dict[str, str]) -> None:
    def define() -> Any:
        return fn.zeros(shape=[100_000], dtype=types.UINT8).gpu()

    pipe = made(define, device_id=0, enable_memory_stats=True)
    kept = pipe.run()
    memory = pipe.statistics()["memory"]
    assert memory["device_id"] == 0
    for pool in ("device", "pinned"):
        assert 400_000 <= memory[pool]["held"] <= memory[pool]["peak"]
    assert len(kept[0]) == 4
    for plain in (made(define, device_id=0), made(picture, device_id=0, enable_memory_stats=True)):
        plain.run()
        assert set(plain.statistics()["memory"]) == {"held", "peak"}


def test_sizes_to_preallocate_are_checked(software_gpu: dict[str, str]) -> None:
    with pytest.raises(errors.ArgumentTypeError, match=r"PreallocateDeviceMemory: bytes=1\.5"):
        backend.PreallocateDeviceMemory(1.5, 0)  # type: ignore[arg-type]
    with pytest.raises(errors.ArgumentError, match="PreallocatePinnedMemory: bytes=-1"):
        backend.PreallocatePinnedMemory(-1)
    with pytest.raises(errors.DeviceError, match="device_id=99"):
        backend.PreallocateDeviceMemory(1000, 99)


# Processors near a GPU. The machine: two NUMA nodes of 4 cores with 2 threads each (core c: processors c and c + 8),
# and four GPUs, two on each node.
NODES = [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for cpu in range(16):
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{cpu % 8},{cpu % 8 + 8}\n")
    monkeypatch.setattr(affinity, "_SYSTEM", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr(gpu, "near_cpus", lambda device: NODES[device // 2])
    monkeypatch.setattr(gpu, "count", lambda: 4)
    for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "DALI_AFFINITY_MASK"):
        monkeypatch.delenv(name, raising=False)


def test_processors_near_the_gpu(machine: None) -> None:
    assert affinity.choose(4, 0).cpus == [0, 1, 2, 3]  # a thread on each core first
    assert affinity.choose(4, 3).cpus == [4, 5, 6, 7]
    assert affinity.choose(6, 1).cpus == [0, 1, 2, 3, 8, 9]
    assert affinity.choose(20, 0).cpus == NODES[0]
    assert affinity.choose(20, None).cpus == [*range(16)]


def test_pipelines_take_processors_that_others_have_not(machine: None) -> None:
    first = affinity.choose(3, 0)
    second = affinity.choose(3, 1)
    assert (first.cpus, second.cpus) == ([0, 1, 2], [3, 8, 9])
    del first
    assert affinity.choose(3, 1).cpus == [0, 1, 2]  # given back


@pytest.mark.parametrize("visible", [4, 1])
def test_ranks_take_cores_of_their_own(visible: int, machine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the GPU's node are shared by the ranks there; by all ranks, where each sees but its own GPU."""
    monkeypatch.setattr(gpu, "count", lambda: visible)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    found = []
    for rank in range(4):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        found.append(affinity.choose(8, rank if visible == 4 else 0).cpus)
    if visible == 4:
        assert found == [[0, 1, 8, 9], [2, 3, 10, 11], [4, 5, 12, 13], [6, 7, 14, 15]]
    else:
        assert found == [[0, 8], [1, 9], [2, 10], [3, 11]]


def test_a_mask_overrides_the_node(machine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALI_AFFINITY_MASK", "9,5")
    assert affinity.choose(4, 0).cpus == [9, 5]


def test_only_processors_that_the_process_may_use(machine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 9, 12})
    assert affinity.choose(4, 0).cpus == [1, 9]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {12, 13})
    assert affinity.choose(4, 0).cpus == [12, 13]  # none near: better some than none


def test_all_threads_are_bound(software_gpu: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker to one processor, readers' threads and the GPU's to all of these."""
    allowed = sorted(os.sched_getaffinity(0))[:2]
    monkeypatch.setenv("DALI_AFFINITY_MASK", ",".join(map(str, allowed)))
    before = {p.name for p in Path("/proc/self/task").iterdir()}
    pipe = made(lambda: numbers(ten_files(tmp_path)).gpu(), device_id=0, set_affinity=True)
    pipe.run()
    bound: dict[str, list[tuple[int, ...]]] = {}
    for task in Path("/proc/self/task").iterdir():
        name = re.sub(r"-\d+$", "", (task / "comm").read_text().strip())
        if task.name not in before and name.startswith("penstock"):
            bound.setdefault(name, []).append(tuple(sorted(os.sched_getaffinity(int(task.name)))))
    assert sorted(bound.pop("penstock")) == sorted((allowed[i % len(allowed)],) for i in range(2))
    assert set(bound) == {"penstock-io", "penstock-gpu"}
    assert {cpus for found in bound.values() for cpus in found} == {tuple(allowed)}


class NoFramework(Backend):
    name = module = distribution = "none"


class Collected(BaseIterator[Any]):
    """An iterator for no framework: a batch's samples as NumPy arrays, and the GPU they were on."""

    backend = NoFramework()

    def _array(self, name: str, output: Any, samples: int) -> Any:
        return output.device_id(), output.as_cpu().as_array().ravel()[:samples].tolist()

    def _empty(self, pipe: Any, like: Any) -> Any:
        return pipe.device_id, []


@pytest.mark.parametrize("gpus", [1, 2])
def test_a_pipeline_per_gpu_in_one_process(gpus: int, software_gpu: dict[str, str], tmp_path: Path) -> None:
    """Shards on their GPUs, through one iterator: every sample once, epoch by epoch."""
    if gpu.count() < gpus:
        pytest.skip(f"needs {gpus} GPUs")
    files = ten_files(tmp_path)
    pipes = [
        made(lambda: numbers(files, shard_id=i, num_shards=gpus, stick_to_shard=True).gpu(), device_id=i)  # noqa: B023
        for i in range(gpus)
    ]
    it = Collected(pipes, ["x"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True)
    for _ in range(3):
        seen: list[list[int]] = [[] for _ in range(gpus)]
        for batch in it:
            for shard, arrays in enumerate(batch):
                device, values = arrays["x"]
                assert device == shard
                seen[shard] += values
        assert seen == [list(range(10))] if gpus == 1 else seen == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
