"""Broken files of every reader's data sets: samples, or an error of the library's own that names the file."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import PenstockError
from tests.read.data_sets import DataSet, pipeline
from tests.read.test_broken_records import harmed
from tests.read.test_sweep import CASES

BATCHES = 6  # of one sample, since each of them may be the broken one
READERS = sorted({case.reader for case in CASES})


def refused(case: DataSet, folder: Path, random: np.random.Generator) -> bool:
    """Whether one of the case's files, changed, is an error; the file is as it was then."""
    name = list(case.files)[int(random.integers(len(case.files)))]
    path, found = folder / name, False
    path.write_bytes(harmed(case.files[name], random) if case.files[name] else b"\0")
    try:
        pipe = pipeline(case, case.arguments(str(folder)), batch_size=1, prefetch_queue_depth=1)
        for _ in range(min(len(case.samples), BATCHES)):
            try:
                pipe.run()
            except PenstockError as error:
                assert getattr(error, "file", "") or str(folder) in str(error), str(error)  # noqa: PT017
                found = True
    except PenstockError as error:  # of the index
        named = str(folder) in str(error) or any(os.path.basename(file) in str(error) for file in case.files)
        assert named or "there are no" in str(error) or "no sample" in str(error), str(error)  # noqa: PT017
        return True
    finally:
        path.write_bytes(case.files[name])
    return found


@pytest.mark.parametrize("count", [8, pytest.param(2000, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("reader", READERS)
def test_broken_files(reader: str, count: int, tmp_path: Path, random: np.random.Generator) -> None:
    cases = [case for case in CASES if case.reader == reader]
    for number, case in enumerate(cases):
        case.written(tmp_path / str(number))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sum(refused(cases[i % len(cases)], tmp_path / str(i % len(cases)), random) for i in range(count))
    assert found < count
    assert found > 0 or count < 100 or reader == "readers.file"  # whose bytes mean nothing to it
