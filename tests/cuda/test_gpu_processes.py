"""The engine with a GPU in processes of their own: how they begin and end, what they load, what memory they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cuda.scripts import run_script

PIPELINE = """
    @pipeline_def(batch_size=4, num_threads=2, device_id=0, prefetch_queue_depth=3)
    def endless():
        x = fn.random.uniform(shape=[20_000])
        return fn.cast(x.gpu() * 2, dtype=types.INT16)

    pipe = endless()
"""


def test_the_driver_is_not_asked_under_the_engines_lock(software_gpu: dict[str, str]) -> None:
    """A driver may keep whoever asks about an event waiting until a host function is over, and that of a batch that has
    landed takes the engine's lock: who asks while he holds it waits for ever. Functions begin later here than the
    engine waits before it asks.
    """
    if not software_gpu:
        pytest.skip("needs a driver that waits so")
    body = """
    @pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def there_and_back():
        x = fn.external_source(source=lambda i: np.full([2, 100], i, np.int32), batch=True)
        return fn.reshape((x.gpu() + 1).cpu() * 2, shape=[100])

    pipe = there_and_back()
    print([int(pipe.run()[0].at(0)[99]) for _ in range(6)])
    """
    assert run_script(body, software_gpu, SOFTWARE_GPU_HOST_FUNCTION_MS="100") == "[2, 4, 6, 8, 10, 12]\n"


ENDINGS = ["pass", "sys.exit()", "del pipe", "pipe.close()", "kept = pipe.outputs(); del pipe"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_interpreter_ends_with_work_in_flight(ending: str, software_gpu: dict[str, str], tmp_path: Path) -> None:
    """Also while kernels are being compiled, as the empty cache makes sure."""
    body = PIPELINE + f"    pipe.schedule_run()\n    print('scheduled', flush=True)\n    {ending}\n"
    cache = str(tmp_path / "cache")
    assert run_script(body, software_gpu, PENSTOCK_CACHE=cache, SOFTWARE_GPU_DELAY_US="2000") == "scheduled\n"


def test_a_forked_child_ends_well(software_gpu: dict[str, str]) -> None:
    body = (
        PIPELINE
        + """
    outputs = pipe.run()
    pid = os.fork()
    if not pid:
        try:
            pipe.run()
        except Exception as e:
            print(type(e).__name__, flush=True)
        del outputs, pipe
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(len(pipe.run()[0].as_cpu()))
    """
    )
    assert run_script(body, software_gpu).split() == ["GraphError", "7", "4"]


def test_nothing_of_cuda_is_loaded_before_a_gpu_is_used(software_gpu: dict[str, str], files: list[str]) -> None:
    body = """
    def loaded():
        with open("/proc/self/maps") as maps:
            names = {os.path.basename(line.split()[-1]) for line in maps if "/" in line}
        return sorted(n for n in names if any(w in n for w in ("cuda", "nvrtc", "nvjpeg", "nvimgcodec", "softnv")))

    @pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def on_cpu():
        return fn.readers.file(files=sys.argv[1:])[0]

    @pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def on_gpu():
        return on_cpu_data.gpu()

    print(loaded())
    pipe = on_cpu()
    pipe.run()
    print(loaded())
    from penstock import backend
    from penstock.machine import gpu
    gpu.count()
    print(any("cuda" in name for name in loaded()), any("nvrtc" in name for name in loaded()))
    """
    assert run_script(body, software_gpu, *files[:4]).split("\n")[:3] == ["[]", "[]", "True False"]


def test_without_a_driver_everything_else_works(files: list[str]) -> None:
    body = """
    from penstock import errors

    @pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def bytes_of(on_gpu):
        data = fn.readers.file(files=sys.argv[1:])[0]
        return data.gpu() if on_gpu else data

    print(len(bytes_of(False).run()[0]))
    for _ in range(2):
        try:
            bytes_of(True).run()
        except errors.DeviceError as e:
            print("nonexistent" in str(e), "NVIDIA's driver was not found" in str(e))
    """
    nowhere = {"PENSTOCK_CUDA_DRIVER": "/nonexistent/libcuda.so", "PENSTOCK_NVRTC": "/nonexistent/libnvrtc.so"}
    assert run_script(body, nowhere, *files[:4]).split("\n")[:3] == ["4", "True True", "True True"]


def test_without_a_compiler_the_error_says_what_to_install(software_gpu: dict[str, str], tmp_path: Path) -> None:
    body = (
        PIPELINE
        + """
    from penstock import errors
    try:
        pipe.run()
    except errors.DeviceError as e:
        print("penstock[cuda13]" in str(e))
    """
    )
    nowhere = {"PENSTOCK_NVRTC": "/nonexistent/libnvrtc.so", "PENSTOCK_CACHE": str(tmp_path)}
    assert run_script(body, software_gpu, **nowhere) == "True\n"


MEMORY = """
    from penstock import errors

    @pipeline_def(batch_size=4, num_threads=2, device_id=0, prefetch_queue_depth=3, enable_memory_stats=True)
    def large(bytes):
        return fn.zeros(shape=[bytes], dtype=types.UINT8).gpu()

    def held(pipe):
        return pipe.statistics()["memory"]["device"]["held"]
"""


def test_a_batch_waits_for_memory_that_consumers_hold(software_gpu: dict[str, str]) -> None:
    """Three batches are to be ahead, but the budget is that of two and a half: all come, none is refused."""
    body = (
        MEMORY
        + """
    pipe = large(1_000_000)
    for i in range(20):
        outputs = pipe.run()
        if i % 5 == 0:
            time.sleep(0.05)
        assert len(outputs[0].as_cpu()) == 4
        del outputs
    print(held(pipe) <= 10_500_000)
    """
    )
    assert run_script(body, software_gpu, PENSTOCK_DEVICE_MEMORY="10500000") == "True\n"


@pytest.mark.parametrize("what", ["too large", "held"])
def test_a_budget_that_does_not_suffice_is_named(what: str, software_gpu: dict[str, str]) -> None:
    body = (
        MEMORY
        + f"""
    pipe, kept = large({5_000_000 if what == "too large" else 1_000_000}), []
    try:
        for _ in range(10):
            kept.append(pipe.run())
    except errors.OutOfMemoryError as e:
        print(len(kept))
        print("PENSTOCK_DEVICE_MEMORY=11534336 does not suffice" in str(e), "memory of GPU 0" in str(e))
    kept.clear()
    if {what == "held"}:
        print(len(pipe.run()[0]))
    """
    )
    out = run_script(body, software_gpu, PENSTOCK_DEVICE_MEMORY="11M").split()
    assert out == (["0", "True", "True"] if what == "too large" else ["2", "True", "True", "4"])


def test_a_gpu_without_memory_left(software_gpu: dict[str, str]) -> None:
    """What lies unused is given up first: blocks of one size make room for those of another."""
    if not software_gpu:
        pytest.skip("a real GPU's memory is not to be filled")
    body = (
        MEMORY
        + """
    for size in (1_000_000, 3_000_000, 500_000, 3_500_000):
        pipe = large(size)
        for _ in range(4):
            pipe.run()
        del pipe
    try:
        large(9_000_000).run()
    except errors.OutOfMemoryError as e:
        print("the system refused" in str(e), "of memory of GPU 0" in str(e))
    """
    )
    assert run_script(body, software_gpu, SOFTWARE_GPU_MEMORY="32000000") == "True True\n"


def test_blocks_that_have_become_too_small_are_not_kept(software_gpu: dict[str, str]) -> None:
    """Batches of 20 to 59 MB, each larger than the one before: larger blocks take the places of theirs."""
    body = (
        MEMORY
        + """
    @pipeline_def(batch_size=1, num_threads=1, device_id=0, prefetch_queue_depth=1, enable_memory_stats=True)
    def growing():
        source = lambda info: np.zeros((20 + info.iteration) * 1_000_000, np.uint8)
        return fn.external_source(source=source, batch=False).gpu()

    pipe = growing()
    print([pipe.run()[0].shape() for _ in range(40)] == [[(n * 1_000_000,)] for n in range(20, 60)])
    print(held(pipe) <= 4 * 60_000_000, pipe.statistics()["memory"]["pinned"]["held"] <= 4 * 60_000_000)
    """
    )
    assert run_script(body, software_gpu) == "True\nTrue True\n"


def test_a_budget_that_makes_no_sense_is_refused(software_gpu: dict[str, str]) -> None:
    body = MEMORY + "    try:\n        large(10).run()\n    except errors.PenstockError as e:\n        print(e)\n"
    out = run_script(body, software_gpu, PENSTOCK_DEVICE_MEMORY="plenty")
    assert out.startswith("environment variable PENSTOCK_DEVICE_MEMORY='plenty': expected a number of bytes, such as ")


def test_memory_is_given_back_and_taken_in_advance(software_gpu: dict[str, str]) -> None:
    body = (
        MEMORY
        + """
    from penstock import backend
    from penstock.machine import gpu
    backend.PreallocateDeviceMemory(20_000_000, 0)
    backend.PreallocatePinnedMemory(10_000_000)
    first = gpu.describe(0).memory_held, gpu.describe(0).pinned_held
    pipe = large(1_000_000)
    for _ in range(3):
        pipe.run()
    print(gpu.describe(0).memory_held == first[0] >= 20_000_000, first[1] >= 10_000_000)
    kept = pipe.run()
    pipe.reset()
    del pipe
    backend.ReleaseUnusedMemory()
    print(gpu.describe(0).memory_held == first[0])  # a block of it is still held
    assert not np.asarray(kept[0].as_cpu()[0]).any()
    del kept
    backend.ReleaseUnusedMemory()
    print(gpu.describe(0).memory_held, gpu.describe(0).pinned_held, gpu.describe(0).memory_peak >= first[0])
    """
    )
    assert run_script(body, software_gpu).split() == ["True", "True", "True", "0", "0", "True"]
