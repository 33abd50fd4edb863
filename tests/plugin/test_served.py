"""Pipelines that answer requests, as servers of models have them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, pipeline_def, types
from penstock.errors import ArgumentError, DecodeError, InputError
from penstock.plugin.served import Served


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def decoded(whole: bool = False) -> Any:
    files = fn.external_source(name="file", dtype=types.UINT8, ndim=1, no_copy=True)
    images = fn.decoders.image(files, output_type=types.RGB)
    return images if whole else fn.resize(images, size=(20, 30)), images.shape()


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def added() -> Any:
    return fn.external_source(name="a") + fn.external_source(name="b")


@pytest.fixture
def files(photographs: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(photographs.glob("*/*.jpg"))]


def alone(file: bytes) -> Any:
    return decoded().run(file=[np.frombuffer(file, np.uint8)])[0].at(0)


@pytest.mark.parametrize("sizes", [[1], [4], [1, 1, 1], [3, 3, 3], [9], [2, 7, 1, 1, 5]])
def test_requests_of_any_size(sizes: list[int], files: list[bytes]) -> None:
    served, wanted = Served(decoded()), [alone(file) for file in files]
    begin, requests = 0, []
    for size in sizes:
        requests.append({"file": np.array(files[begin : begin + size], object)})
        begin += size
    answers = served.answer(requests)
    assert [len(answer[0]) for answer in answers] == sizes
    for k, image in enumerate(np.concatenate([answer[0] for answer in answers])):
        assert np.array_equal(image, wanted[k])


def test_a_bad_file_fails_alone(files: list[bytes]) -> None:
    served = Served(decoded())
    good, bad = {"file": np.array([files[0]], object)}, {"file": np.array([files[1], b"none"], object)}
    for _ in range(2):
        first, second, third, fourth = served.answer([good, bad, good, {"x": np.zeros(1)}])
        assert np.array_equal(first[0][0], alone(files[0]))
        assert np.array_equal(third[0], first[0])
        assert isinstance(second, DecodeError)
        assert isinstance(fourth, ArgumentError)


def test_inputs_of_numbers() -> None:
    served = Served(added())
    ones, tens = np.ones((6, 2)), np.full((6, 2), 10.0)
    (answer,) = served.answer([{"a": ones, "b": tens}])
    assert np.array_equal(answer[0], ones + tens)
    failures = served.answer([{"a": ones, "b": tens[:5]}, {"a": ones[:0], "b": tens[:0]}])
    assert all("as many samples each" in str(failure) for failure in failures)


def test_shapes_that_differ(files: list[bytes]) -> None:
    served = Served(decoded(whole=True))
    small = b"P6 10 8 255\n" + bytes(240)
    pair, one = np.array([files[0], small], object), np.array([small], object)
    refused, fine = served.answer([{"file": pair}, {"file": one}])
    assert isinstance(refused, InputError)
    assert fine[0].shape == (1, 8, 10, 3)
    far = np.array([*files[:4], small], object)  # in different batches
    assert isinstance(served.answer([{"file": far}])[0], InputError)


def test_streams_come_batch_by_batch(files: list[bytes]) -> None:
    served = Served(decoded())
    stream = served.stream({"file": np.array(files[:10], object)})
    assert [len(part[0]) for part in stream] == [4, 4, 2]
    begun = served.stream({"file": np.array(files[:10], object)})
    next(begun)
    begun.close()  # whoever asked has gone
    assert [len(part[0]) for part in served.stream({"file": np.array(files[:3], object)})] == [3]
    with pytest.raises(DecodeError):
        list(served.stream({"file": np.array([files[0], b""], object)}))


def test_threads_take_turns(files: list[bytes]) -> None:
    served, wanted = Served(decoded()), [alone(file) for file in files]
    with ThreadPoolExecutor(8) as pool:
        asked = [[{"file": np.array([file], object)}] for file in files] * 3
        for k, (answer,) in enumerate(pool.map(served.answer, asked)):
            assert np.array_equal(answer[0][0], wanted[k % len(files)])


def test_only_fed_pipelines_are_served(photographs: Path) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.readers.file(file_root=str(photographs)))
    with pytest.raises(ArgumentError, match="has external sources to feed"):
        Served(pipe)
