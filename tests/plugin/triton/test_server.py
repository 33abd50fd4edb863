"""A real server of PyTriton's, with Triton's own client."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pytriton", reason="needs nvidia-pytriton: ./dev test frameworks triton has it")
grpc: Any = importlib.import_module("tritonclient.grpc")

import penstock  # noqa: E402
from bench.serving_load import put_load, server  # noqa: E402
from bench.serving_server import definition  # noqa: E402


@pytest.fixture(scope="module")
def port() -> Any:
    with server("penstock", 2) as found:
        yield found


def asked(port: int, batch: list[bytes]) -> Any:
    with grpc.InferenceServerClient(f"127.0.0.1:{port}") as client:
        tensor = grpc.InferInput("FILE", [len(batch), 1], "BYTES")
        tensor.set_data_from_numpy(np.array(batch, object)[:, None])
        answer = client.infer("prepared", [tensor])
        return answer.as_numpy("image"), [text.decode() for text in answer.as_numpy("ERROR").reshape(-1)]


@pytest.mark.parametrize("size", [1, 5, 32])
def test_requests_of_several_sizes(size: int, port: int, files: list[bytes]) -> None:
    batch = (files * 2)[:size]
    images, errors = asked(port, batch)
    pipe = definition(penstock, 1)
    wanted = pipe.run(FILE=[np.frombuffer(file, np.uint8) for file in batch])[0]
    assert errors == [""] * size
    assert np.array_equal(images, wanted.as_array())


def test_a_bad_file_is_told_to_who_sent_it(port: int, files: list[bytes]) -> None:
    _, errors = asked(port, [files[0], b"no picture"])
    assert all(error.startswith("DecodeError") for error in errors)
    assert asked(port, files[:1])[1] == [""]


def test_no_request_is_lost_under_load(port: int, files: list[bytes]) -> None:
    load = put_load(port, files, clients=64, seconds=4)
    assert load.problems == []
    assert len(load.seconds) == load.sent > 64
