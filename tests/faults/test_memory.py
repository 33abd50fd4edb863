"""Memory that is refused, and shapes that no memory can hold: a clear error, and the pipeline goes on when it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.processes import faulty, runs

PIPELINE = """
    import gc, resource, sys
    from penstock import errors, fn, pipeline_def, types
    from tests.faults import steering

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=1)
    def pictures(size=224):
        files, labels = fn.readers.file(file_root=sys.argv[1], name="Reader")
        return fn.resize(fn.decoders.image(files), size=size), labels

    def refused(pipe):
        try:
            pipe.run()
        except errors.OutOfMemoryError as error:
            assert isinstance(error, MemoryError)
            return error
"""


@pytest.mark.parametrize("least", [400_000, 1_000_000])
def test_requests_refused_one_after_the_other(least: int, photographs: Path) -> None:
    """Whichever it is that fails, only its batch is lost."""
    runs(
        faulty(
            PIPELINE
            + f"""
    pipe = pictures()
    labels = [pipe.run()[1].as_array().ravel().tolist() for _ in range(4)]
    del pipe
    failures = 0
    for after in range(12):
        pipe = pictures()
        steering.refuse({least}, after)
        error = refused(pipe)
        if error:
            failures += 1
            text = str(error)
            assert error.operator in ("readers.file", "decoders.image", "resize"), text
            assert "the system refused " in text and "operator made at <string>" in text, text
        steering.refuse(0)
        pipe.reset()
        n = 1  # the first one was lost, or handed out
        for _ in range(3):
            outputs = pipe.run()
            assert outputs[1].as_array().ravel().tolist() == labels[n], (after, n)
            n += 1
        del pipe, outputs
        gc.collect()
    assert 0 < failures <= steering.refusals()
    assert not steering.threads()
    """,
            str(photographs),
        ),
        120,
    )


def test_the_same_pixels_after_a_refusal(photographs: Path) -> None:
    runs(
        faulty(
            PIPELINE
            + """
    pipe = pictures()
    expected = [[b.tobytes() for b in map(pipe.run()[0].at, range(4))] for _ in range(4)]
    steering.refuse(500_000)
    pipe = pictures()
    assert refused(pipe)
    steering.refuse(0)
    pipe.reset()
    for n in range(1, 4):
        assert [b.tobytes() for b in map(pipe.run()[0].at, range(4))] == expected[n], n
    """,
            str(photographs),
        ),
        60,
    )


@pytest.mark.parametrize(
    ("size", "problem"),
    [
        ("100_000", "the system refused "),
        ("[1_000_000, 900_000]", "the system refused "),
        ("[2_000_000_000, 2_000_000_000]", "no memory holds a tensor of the shape (2000000000, 2000000000, 3)"),
    ],
)
def test_pictures_that_no_memory_can_hold(size: str, problem: str, photographs: Path) -> None:
    """Under a limit, since Linux may promise more than there is."""
    out = runs(
        faulty(
            PIPELINE
            + f"""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    pipe = pictures({size})
    print(refused(pipe))
    del pipe
    assert not steering.threads()
    print(len(pictures(64).run()[0]))
    """,
            str(photographs),
        ),
        60,
    )
    *text, count = out.splitlines()
    assert text[0].startswith("resize: "), out
    assert count == "4"
    assert problem in text[0], out
    assert "operator made at <string>" in out


def test_threads_that_are_refused() -> None:
    """Their stacks need memory, too. Those that had started end."""
    runs(
        faulty(
            PIPELINE
            + """
    @pipeline_def(batch_size=4, device_id=None)
    def numbers():
        return fn.random.uniform()

    numbers(num_threads=2).run()
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (200 << 20), -1))
    try:
        numbers(num_threads=500).build()
        assert False, "was not refused"
    except errors.OutOfMemoryError as error:
        assert "the system refused a thread" in str(error), error
    gc.collect()
    assert not steering.threads(), steering.threads()
    assert len(numbers(num_threads=2).run()[0]) == 4
    """,
        )
    )
