"""External sources stay in step with each other and with readers, whatever goes wrong with an iteration."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn
from penstock.plugin.pytorch import DALIGenericIterator
from tests.faults.interrupts import interrupted_at
from tests.small import made, numbers, ten_files, values

BAD = 2  # the iteration that goes wrong


def item(n: int, problem: str) -> Any:
    """Two samples of value n; of iteration BAD, what fits nothing."""
    if n != BAD:
        return np.full((2, 1), n)
    return {
        "one sample less": np.full((1, 1), n), "one sample more": np.full((3, 1), n),
        "another type": np.full((2, 1), n, np.float32), "other axes": np.full(2, n), "no data": None,
    }[problem]  # fmt: skip


PROBLEMS = ["one sample less", "one sample more", "another type", "other axes", "no data"]
SOURCES: dict[str, Callable[[str], Any]] = {
    "index": lambda problem: lambda n: item(n, problem),
    "no argument": lambda problem: (item(n, problem) for n in itertools.count()).__next__,
    "generator": lambda problem: (item(n, problem) for n in itertools.count()),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("depth", [1, 3])
def test_refused_data_fails_its_iteration_and_no_other(kind: str, problem: str, depth: int, tmp_path: Path) -> None:
    """It is raised in its turn, and the reader's samples and what other sources gave are used up with it."""
    files = ten_files(tmp_path)
    pipe = made(
        lambda: (
            numbers(files), fn.external_source(SOURCES[kind](problem), name="s"),
            fn.external_source(lambda n: np.full((2, 1), n)),
        ),
        batch_size=2, prefetch_queue_depth=depth,
    )  # fmt: skip
    got: list[Any] = []
    for _ in range(7):
        try:
            got.append([values(o) for o in pipe.run()])
        except errors.TensorError as e:
            got.append(str(e))
    assert "'s'" in got[BAD]
    for n, batch in enumerate(got):
        assert n == BAD or batch == [[2 * n % 10, (2 * n + 1) % 10], [n, n], [n, n]]


@pytest.mark.parametrize("resets", range(4))
def test_a_reset_before_the_refused_iteration_keeps_it(resets: int, tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    pipe = made(
        lambda: (numbers(files), fn.external_source(SOURCES["generator"]("one sample less"))), batch_size=2,
        prefetch_queue_depth=3,
    )  # fmt: skip
    got = []
    for n in range(5):
        if n == resets:
            pipe.reset()
        try:
            got.append([values(o)[0] for o in pipe.run()])
        except errors.TensorError:
            got.append([])
    assert got == [[0, 0], [2, 1], [], [6, 3], [8, 4]]


def test_a_checkpoint_behind_a_refused_iteration(tmp_path: Path) -> None:
    files = ten_files(tmp_path)

    def define() -> Any:
        return numbers(files), fn.external_source(SOURCES["index"]("one sample less"), name="s")

    pipe = made(define, batch_size=2)
    for n in range(3):
        if n == BAD:
            with pytest.raises(errors.TensorError):
                pipe.run()
        else:
            pipe.run()
    again = made(define, batch_size=2, checkpoint=pipe.checkpoint())
    assert [values(o)[0] for o in again.run()] == [values(o)[0] for o in pipe.run()] == [6, 3]


def test_iterators_count_a_refused_batch(tmp_path: Path) -> None:
    files = ten_files(tmp_path)
    pipe = made(
        lambda: (numbers(files), fn.external_source(SOURCES["index"]("one sample more"))), batch_size=2,
    )  # fmt: skip
    batches, got = iter(DALIGenericIterator(pipe, ["number", "s"], reader_name="Reader")), []
    while True:
        try:
            got.append([int(next(batches)[0][name][0]) for name in ("number",)])
        except errors.TensorError:
            got.append([-1])
        except StopIteration:
            break
    assert got == [[0], [2], [-1], [6], [8]]


@pytest.mark.parametrize("kind", ["raises", "raises between samples"])
def test_what_raises_is_asked_again(kind: str, tmp_path: Path) -> None:
    """Nothing is used up: neither of the reader, nor of other sources, nor samples that were given already."""
    files = ten_files(tmp_path)
    failed: list[int] = []

    class Source:
        count = -1

        def __call__(self) -> Any:
            number = self.count + 1
            if number == 5 and not failed:
                failed.append(number)
                raise KeyError(number)
            self.count = number
            return np.full((2, 1), number) if kind == "raises" else np.full(1, number)

    pipe = made(
        lambda: (
            fn.external_source(lambda n: np.full((2, 1), n)), numbers(files),
            fn.external_source(Source(), batch=kind == "raises"),
        ),
        batch_size=2,
    )  # fmt: skip
    got: list[Any] = []
    while len(got) < 8:
        try:
            got.append([values(o) for o in pipe.run()])
        except KeyError:
            assert failed == [5]
    assert failed
    for n, (other, number, given) in enumerate(got):
        assert other == [n, n]
        assert number == [2 * n % 10, (2 * n + 1) % 10]
        assert given == ([n, n] if kind == "raises" else [2 * n, 2 * n + 1])


def test_ctrl_c_loses_nothing_of_an_iterable(tmp_path: Path) -> None:
    """Before any line that follows on what the source gave."""
    files, line, outcome = ten_files(tmp_path), 0, "interrupted"

    def items() -> Iterator[Any]:
        for n in itertools.count():
            yield np.full((2, 1), n)

    pipe = made(lambda: (numbers(files), fn.external_source(items)), batch_size=2, prefetch_queue_depth=1)
    pipe.run()
    while outcome == "interrupted":
        line += 1
        outcome = interrupted_at(line, pipe.run)
        number, given = (values(o) for o in pipe.run())
        assert number[0] == 2 * given[0] % 10, f"line {line}"
    assert line > 30
