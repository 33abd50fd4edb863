"""examples/serve: good uploads are answered with tensors, and whatever else comes with an error of the client's."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs FastAPI: ./dev test frameworks triton has it")
testclient = pytest.importorskip("fastapi.testclient", reason="needs httpx: ./dev test frameworks triton has it")

from examples.serve.app import Limits, prepared, service  # noqa: E402
from penstock import backend  # noqa: E402


@pytest.fixture
def client() -> Iterator[Any]:
    with testclient.TestClient(service(Limits(file_bytes=1 << 20, pixels=1_000_000))) as made:
        yield made
    backend.set_max_decoded_pixels(None)


@pytest.fixture
def files(photographs: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(photographs.glob("*/*.jpg"))]


def wanted(file: bytes) -> Any:
    return prepared().run(file=[np.frombuffer(file, np.uint8)])[0].at(0)


def tensor(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return np.load(io.BytesIO(answer.content))


def test_pictures_are_prepared(client: Any, files: list[bytes]) -> None:
    found = tensor(client.post("/prepare", content=files[0]))
    assert found.shape == (3, 224, 224)
    assert np.array_equal(found, wanted(files[0]))


def test_uploads_at_the_same_time(client: Any, files: list[bytes]) -> None:
    """Good and bad ones share batches, and each gets its own answer."""
    uploads = [file if k % 5 else file[:100] for k, file in enumerate(files * 3)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda file: client.post("/prepare", content=file), uploads))
    assert [answer.status_code for answer in answers] == [200 if k % 5 else 422 for k in range(len(uploads))]
    assert all(np.array_equal(tensor(answers[k]), wanted(uploads[k])) for k in (1, 17, 33))


def large_png() -> bytes:
    """A header that says 100 000 x 100 000 pixels, in a small file."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422), (b"no picture", 422), (b"\xff\xd8\xff\xe0" + bytes(500), 422), (b"<svg/>", 422), (bytes(500), 422),
        (bytes(2 << 20), 413), (large_png(), 413),
    ],
)  # fmt: skip
def test_bad_uploads(client: Any, content: bytes, status: int) -> None:
    answer = client.post("/prepare", content=content)
    assert answer.status_code == status
    assert "\n" not in answer.json()["detail"]
    assert ".py" not in answer.json()["detail"]  # nothing of the service's own code


def test_a_length_that_is_not_said_is_limited_too(client: Any) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(40):
            yield bytes(1 << 16)

    assert client.post("/prepare", content=parts()).status_code == 413


def test_broken_files_of_all_lengths(client: Any, files: list[bytes]) -> None:
    for end in range(0, len(files[0]), len(files[0]) // 40):
        assert client.post("/prepare", content=files[0][:end]).status_code in (200, 422)
    assert tensor(client.post("/prepare", content=files[0])).shape == (3, 224, 224)


def test_too_many_at_a_time_are_asked_to_come_later(files: list[bytes]) -> None:
    with testclient.TestClient(service(Limits(waiting=0))) as full:
        answer = full.post("/prepare", content=files[0])
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    backend.set_max_decoded_pixels(None)
