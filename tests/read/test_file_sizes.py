"""Files that are too large to be read whole, and what is no fault of a file: neither takes memory, nor time."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, ReadError
from tests.faults.processes import faulty, runs
from tests.small import made, values


def sparse(folder: Path, bytes: int) -> str:
    path = folder / "large.jpg"
    with path.open("wb") as file:
        file.truncate(bytes)
    return str(path)


def small(folder: Path, count: int = 3) -> list[str]:
    names = [str(folder / f"{i}.data") for i in range(count)]
    for i, name in enumerate(names):
        Path(name).write_bytes(bytes([i]) * 1000)
    return names


def reader(files: list[str], **arguments: object) -> Pipeline:
    return made(lambda: fn.readers.file(files=files, **arguments)[1], batch_size=1, prefetch_queue_depth=1)


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    name = sparse(tmp_path, 5 << 30)
    with pytest.raises(ReadError) as error:
        reader([name]).run()
    assert str(error.value).startswith(
        f"readers.file: the file {name} has 5368709120 bytes, and files are read whole: "
        "PENSTOCK_MAX_FILE_BYTES allows 2147483648"
    )
    assert error.value.file == name


def test_the_limit_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = small(tmp_path)
    monkeypatch.setenv("PENSTOCK_MAX_FILE_BYTES", "1000")
    pipe = reader(names)
    assert [values(pipe.run()[0]) for _ in range(3)] == [[0], [1], [2]]
    monkeypatch.setenv("PENSTOCK_MAX_FILE_BYTES", "999")
    with pytest.raises(ReadError, match=r"has 1000 bytes, .* PENSTOCK_MAX_FILE_BYTES allows 999"):
        reader(names).run()
    monkeypatch.setenv("PENSTOCK_MAX_FILE_BYTES", "1K")
    reader(names).run()
    monkeypatch.setenv("PENSTOCK_MAX_FILE_BYTES", "much")
    with pytest.raises(ArgumentError, match="PENSTOCK_MAX_FILE_BYTES='much': expected a number of bytes"):
        reader(names).run()


def test_a_large_file_may_be_left_out(tmp_path: Path) -> None:
    names = [*small(tmp_path), sparse(tmp_path, 3 << 30)]
    pipe = reader(names, on_error="skip")
    with pytest.warns(UserWarning, match="1 broken sample skipped"):
        assert [values(pipe.run()[0]) for _ in range(6)] == [[0], [1], [2]] * 2
    assert [sample.file for sample in pipe.broken_samples()] == names[3:]


@pytest.mark.parametrize("error", ["EMFILE", "ENFILE", "ENOMEM"])
def test_shortage_is_no_fault_of_a_file(tmp_path: Path, error: str) -> None:
    """Every file would be taken for broken, for as long as the pipeline lives."""
    runs(
        faulty(
            f"""
            import errno, sys
            from penstock import errors, fn
            from tests.faults import steering
            from tests.small import made, values

            pipe = made(lambda: fn.readers.file(files=sys.argv[1:], on_error="skip")[1], batch_size=1)
            steering.harm(".data", "open fails", errno.{error}, times=2)
            outcomes = []
            for _ in range(6):
                try:
                    outcomes.append(values(pipe.run()[0]))
                except errors.ReadError as failure:
                    outcomes.append(failure.file)
            assert sorted(map(str, outcomes)).count("[0]") in (0, 1), outcomes
            failed = [outcome for outcome in outcomes if isinstance(outcome, str)]
            assert len(failed) == 2 and set(failed) <= set(sys.argv[1:]), outcomes
            assert pipe.broken_samples() == []
            pipe.reset()
            assert [values(pipe.run()[0]) for _ in range(3)] == [[0], [1], [2]]
            """,
            *small(tmp_path),
        )
    )
