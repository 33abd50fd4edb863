"""A disk that fails, lies or does not answer: a clear error, no hang, and nothing is left behind but what must be."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.faults.processes import faulty, finish, runs, script
from tests.read.tars import tar
from tests.small import ten_files

# Only where it is used: to import PyTorch takes several times as long as all else.
ITERATOR = """
    from penstock.plugin.pytorch import DALIGenericIterator
"""
PIPELINE = """
    import errno, gc, os, sys, threading, time, warnings
    from penstock import errors, fn, pipeline_def
    from tests.faults import steering

    @pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)
    def read():
        return fn.readers.file(files=sys.argv[1:], name="Reader")

    def numbers(outputs):
        data, labels = outputs
        for i, n in enumerate(labels.as_array().ravel()):
            assert data.at(i).tolist() == [n] * (n + 1), (i, n)
        return labels.as_array().ravel().tolist()

    def outcome(pipe):
        try:
            return numbers(pipe.run())
        except errors.PenstockError as error:
            return error

    read().run()  # all is imported and loaded
    gc.collect()
    open_before, threads_before = steering.descriptors(), steering.threads()

    def assert_all_released():
        gc.collect()
        assert steering.descriptors() == open_before, os.listdir("/proc/self/fd")
        end = time.monotonic() + 5
        while steering.threads() != threads_before and time.monotonic() < end:
            time.sleep(0.01)
        assert steering.threads() == threads_before, steering.threads()
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("open fails", "errno.EIO", "cannot be opened: Input/output error"),
        ("open fails", "errno.ENOENT", "cannot be opened: No such file or directory"),
        ("open fails", "errno.EMFILE", "cannot be opened: Too many open files"),
        ("read fails", "errno.EIO", "cannot be read: Input/output error"),
        ("read fails", "errno.ESTALE", "cannot be read: Stale file handle"),
        ("size is", "100", "became shorter while it was read"),
    ],
)
def test_a_file_that_fails_costs_its_batch_alone(kind: str, value: str, message: str, files: list[str]) -> None:
    runs(
        faulty(
            PIPELINE
            + f"""
    steering.harm("/3", {kind!r}, {value})
    pipe = read()
    outcomes = [outcome(pipe) for _ in range(10)]
    for n, got in enumerate(outcomes):
        if n in (1, 6):
            assert type(got) is errors.ReadError, got
            assert got.operator == "readers.file" and got.file == sys.argv[4] and got.sample == 1, vars(got)
            assert {message!r} in str(got) and sys.argv[4] in str(got), got
            assert "<string>" in str(got), got  # the user's line
        else:
            assert got == [2 * n % 10, (2 * n + 1) % 10], (n, got)
    steering.heal()
    assert [outcome(pipe) for _ in range(5)] == [[2 * n, 2 * n + 1] for n in range(5)]
    del pipe, outcomes, got
    assert_all_released()
    """,
            *files,
        )
    )


@pytest.mark.parametrize(
    ("kind", "value"),
    [("open fails", "errno.EINTR"), ("read fails", "errno.EINTR"), ("reads are short", "1"), ("reads are short", "3")],
)
def test_calls_that_must_be_made_again_are(kind: str, value: str, files: list[str]) -> None:
    times = 3 if "fails" in kind else -1
    runs(
        faulty(
            PIPELINE
            + f"""
    steering.harm("/7", {kind!r}, {value}, times={times})
    pipe = read()
    assert [outcome(pipe) for _ in range(5)] == [[2 * n, 2 * n + 1] for n in range(5)]
    """,
            *files,
        )
    )


def test_a_file_that_grows_is_read_as_it_was(files: list[str]) -> None:
    runs(
        faulty(
            PIPELINE
            + """
    steering.harm("/7", "size is", 2)
    pipe = read()
    batches = [pipe.run() for _ in range(5)]
    assert batches[3][0].at(1).tolist() == [7, 7]
    """,
            *files,
        )
    )


def test_an_iterator_goes_on_behind_a_file_that_fails(files: list[str]) -> None:
    runs(
        faulty(
            ITERATOR
            + PIPELINE
            + """
    @pipeline_def(batch_size=2, num_threads=2, device_id=None)
    def labels():
        return fn.readers.file(files=sys.argv[1:], name="Reader")[1]

    steering.harm("/3", "read fails", errno.EIO, times=1)
    iterator = DALIGenericIterator(labels(), ["number"], reader_name="Reader")
    got = []
    for epoch in range(2):
        batches = iter(iterator)
        while True:
            try:
                got.append(next(batches)[0]["number"].flatten().tolist())
            except errors.ReadError as error:
                got.append(os.path.basename(error.file))
            except StopIteration:
                break
    assert got == [[0, 1], "3", [4, 5], [6, 7], [8, 9], [0, 1], [2, 3], [4, 5], [6, 7], [8, 9]], got
    """,
            *files,
        )
    )


@pytest.mark.parametrize("kind", ["open blocks", "read blocks"])
@pytest.mark.parametrize("ending", ["del pipe", "pipe.close()", "del iterator, pipe; gc.collect()"])
def test_closing_does_not_wait_for_a_file_that_blocks(kind: str, ending: str, files: list[str]) -> None:
    """The thread is left behind, with a warning; it ends when the file answers, and then nothing is left."""
    runs(
        faulty(
            ITERATOR
            + PIPELINE
            + f"""
    steering.harm("/3", {kind!r})
    pipe = read()
    iterator = DALIGenericIterator(pipe, ["data", "number"], reader_name="Reader")
    steering.wait_until_blocked()
    if "iterator" not in {ending!r}:
        del iterator
    start = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        {ending}
    assert time.monotonic() - start < 5
    [warning] = caught
    assert warning.category is RuntimeWarning and sys.argv[4] in str(warning.message), warning
    assert "a thread is left behind" in str(warning.message), warning
    assert len(steering.threads()) == 1, steering.threads()
    steering.heal()
    pipe = None
    assert_all_released()
    assert numbers(read().run()) == [0, 1]
    """,
            *files,
        )
    )


@pytest.mark.parametrize("kind", ["open blocks", "read blocks"])
def test_the_interpreter_ends_while_a_file_blocks(kind: str, files: list[str]) -> None:
    process = faulty(
        PIPELINE
        + f"""
    steering.harm("/3", {kind!r})
    pipe = read()
    pipe.schedule_run()
    steering.wait_until_blocked()
    print("blocked", flush=True)
    """,
        *files,
    )
    out, err = finish(process, 20)
    assert (out, process.returncode) == ("blocked\n", 0), err
    assert "RuntimeWarning: a thread is left behind, waiting for files that do not answer:" in err
    assert files[3] in err


@pytest.mark.parametrize("kind", ["open blocks", "read blocks"])
def test_ctrl_c_while_a_file_blocks(kind: str, files: list[str]) -> None:
    process = faulty(
        PIPELINE
        + f"""
    steering.harm("/0", {kind!r})
    pipe = read()
    print("waiting", flush=True)
    try:
        pipe.run()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    """,
        *files,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - start < 1
    _, err = finish(process, 20)
    assert process.returncode == 0, err
    assert "left behind" in err


def test_reset_while_a_file_blocks(files: list[str]) -> None:
    """The other threads go on without the one that waits, which comes back when it can."""
    runs(
        faulty(
            PIPELINE
            + """
    steering.harm("/3", "read blocks", times=1)
    pipe = read()
    pipe.enable_api_check(False)
    pipe.schedule_run()
    steering.wait_until_blocked()
    start = time.monotonic()
    pipe.reset()
    assert time.monotonic() - start < 5
    assert [outcome(pipe) for _ in range(12)] == [[2 * n % 10, (2 * n + 1) % 10] for n in range(12)]
    assert steering.blocked() == 1
    steering.heal()
    assert [outcome(pipe) for _ in range(8)] == [[2 * n % 10, (2 * n + 1) % 10] for n in range(12, 20)]
    del pipe
    assert_all_released()
    """,
            *files,
        )
    )


@pytest.mark.parametrize("kind", ["open blocks", "read blocks"])
def test_a_file_that_blocks_for_too_long_is_an_error(kind: str, files: list[str]) -> None:
    runs(
        faulty(
            PIPELINE
            + f"""
    steering.harm("/3", {kind!r}, times=1)
    pipe = read()
    outcomes = [outcome(pipe) for _ in range(10)]
    error = outcomes.pop(1)
    assert type(error) is errors.ReadError, error
    assert (error.operator, error.file, error.sample) == ("readers.file", sys.argv[4], 1), vars(error)
    assert "has not answered for 0.5 s, which is what PENSTOCK_READ_TIMEOUT allows" in str(error), error
    assert outcomes == [[2 * n % 10, (2 * n + 1) % 10] for n in range(10) if n != 1], outcomes
    steering.heal()
    del pipe, error
    assert_all_released()
    """,
            *files, PENSTOCK_READ_TIMEOUT="0.5",
        )
    )  # fmt: skip


def test_files_that_block_all_threads_are_an_error_each_time(tmp_path: Path) -> None:
    """And when the disk is back, so is the pipeline."""
    files = [tmp_path / f"{i}.data" for i in range(10)]
    for i, file in enumerate(files):
        file.write_bytes(bytes([i]) * (i + 1))
    runs(
        faulty(
            PIPELINE
            + """
    pipe = read()
    assert outcome(pipe) == [0, 1]
    pipe.reset()
    steering.harm(".data", "read blocks")
    for n in range(1, 4):
        error = outcome(pipe)
        assert type(error) is errors.ReadError and "has not answered for 0.3 s" in str(error), error
    assert "all threads that read wait for files: the file " in str(error), error
    assert steering.blocked() == 2
    steering.heal()
    while steering.blocked():
        time.sleep(0.01)
    pipe.reset()
    assert [outcome(pipe) for _ in range(5)] == [[2 * n % 10, (2 * n + 1) % 10] for n in range(4, 9)]
    del pipe, error
    assert_all_released()
    """,
            *map(str, files), PENSTOCK_READ_TIMEOUT="0.3",
        )
    )  # fmt: skip


def test_a_slow_file_is_waited_for(files: list[str]) -> None:
    runs(
        faulty(
            PIPELINE
            + """
    steering.harm("/3", "read blocks")
    threading.Timer(2, steering.heal).start()
    pipe = read()
    start = time.monotonic()
    assert [outcome(pipe) for _ in range(5)] == [[2 * n, 2 * n + 1] for n in range(5)]
    assert time.monotonic() - start > 1
    """,
            *files,
        )
    )


def test_pipes_and_devices_are_no_files(tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would block."""
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        out = runs(
            script(
                """
                import sys
                from penstock import errors, fn, pipeline_def

                @pipeline_def(batch_size=1, num_threads=1, device_id=None)
                def read():
                    return fn.readers.file(files=sys.argv[1:])[0]

                try:
                    read().run()
                except errors.ReadError as error:
                    print(error)
                """,
                path,
            )
        )
        assert f"the file {path} cannot be read: it is a device or a pipe" in out


def test_an_archive_that_fails_costs_one_batch(tmp_path: Path) -> None:
    """Archives stay open between samples; one that failed is opened again."""
    archive = tmp_path / "a.tar"
    archive.write_bytes(tar([(f"{i}.txt", bytes([i]) * (i + 1)) for i in range(10)]))
    for kind in ("read fails", "open fails"):
        runs(
            faulty(
                f"""
                import errno, sys
                from penstock import errors, fn
                from tests.faults import steering
                from tests.small import made

                pipe = made(lambda: fn.readers.webdataset(paths=sys.argv[1], ext="txt"), batch_size=2)
                pipe.build()
                steering.harm("a.tar", {kind!r}, errno.EIO, times=1)
                outcomes = []
                for n in range(20):
                    try:
                        outcomes.append([pair.tolist() for pair in map(pipe.run()[0].at, range(2))])
                    except errors.ReadError as failure:
                        assert failure.file.startswith(sys.argv[1] + ":"), failure.file
                        assert "Input/output error" in str(failure), failure
                        outcomes.append(None)
                assert outcomes.count(None) == 1, outcomes
                for n, got in enumerate(outcomes):
                    assert got in (None, [[i % 10] * (i % 10 + 1) for i in (2 * n, 2 * n + 1)]), (n, got)
                """,
                str(archive),
            )
        )
