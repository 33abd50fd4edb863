"""`fn.decoders.inflate`: LZ4 blocks that the format's own library has made."""

from __future__ import annotations

from typing import Any

import lz4.block
import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError, DecodeError, LayoutError, OperatorError, PenstockError
from tests.small import made

_RNG = np.random.default_rng(0)
DEVICES = ["cpu", "gpu"]


@pytest.fixture(autouse=True)
def _gpu(request: pytest.FixtureRequest) -> None:
    """There is one where the test is of one."""
    if "device" in request.fixturenames and request.getfixturevalue("device") == "gpu":
        request.getfixturevalue("software_gpu")


def block(data: Any, **options: Any) -> Any:
    return np.frombuffer(lz4.block.compress(bytes(data), store_size=False, **options), np.uint8)


def inflated(data: Any, device: str = "cpu", count: int = 1, **arguments: Any) -> Any:
    """The samples; `data`: one or a list of some."""
    batch = data if isinstance(data, list) else [data]

    def define() -> Any:
        given = fn.external_source(lambda: batch)
        return fn.decoders.inflate(given.gpu() if device == "gpu" else given, **arguments)

    (found,) = made(define, batch_size=len(batch), device_id=0 if device == "gpu" else None).run()
    return found.as_cpu() if device == "gpu" else found


def texts() -> list[bytes]:
    """Nothing to compress, all the same, patterns of any length, and long runs."""
    found = [b"", b"a", bytes(100), bytes(100_000), _RNG.bytes(3000), bytes(range(256)) * 40]
    for period in (2, 3, 5, 7, 15, 16, 17, 31, 200):
        found.append(_RNG.bytes(period) * (2000 // period) + _RNG.bytes(30))
    for _ in range(40):
        found.append(b"".join(_RNG.bytes(int(_RNG.integers(1, 30))) * int(_RNG.integers(1, 40)) for _ in range(20)))
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"mode": "high_compression"}, {"mode": "fast", "acceleration": 20}], ids=str)
def test_blocks(device: str, options: dict[str, Any]) -> None:
    data = texts()
    shapes = [np.int32([len(text)]) for text in data]

    def define() -> Any:
        given = fn.external_source(lambda: [block(text, **options) for text in data])
        shape = fn.external_source(lambda: shapes)
        return fn.decoders.inflate(given.gpu() if device == "gpu" else given, shape=shape)

    (found,) = made(define, batch_size=len(data), device_id=0 if device == "gpu" else None).run()
    found = found.as_cpu() if device == "gpu" else found
    for i, text in enumerate(data):
        assert bytes(found.at(i)) == text, i


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["offsets", "sizes", "both"])
def test_chunks(device: str, kind: str) -> None:
    frames = _RNG.integers(0, 4, (5, 6, 7, 3)).astype(np.uint16)
    chunks = [block(frame.tobytes()) for frame in frames]
    sizes = [len(chunk) for chunk in chunks]
    offsets = np.cumsum([0, *sizes])[:-1].tolist()
    given = {"offsets": {"chunk_offsets": offsets}, "sizes": {"chunk_sizes": sizes},
             "both": {"chunk_offsets": offsets[::-1], "chunk_sizes": sizes[::-1]}}[kind]  # fmt: skip
    found = inflated(np.concatenate(chunks), device, shape=[6, 7, 3], dtype=types.UINT16, layout="HWC", **given)
    assert found.layout() == "FHWC"
    np.testing.assert_array_equal(np.array(found.at(0)), frames[::-1] if kind == "both" else frames)


def test_layouts() -> None:
    data = block(bytes(12))
    assert inflated(data, shape=[3, 4], layout="HW").layout() == "HW"
    assert inflated(data, shape=[3, 4]).layout() == ""
    found = inflated(data, shape=[3, 4], layout="HW", chunk_offsets=[0], sequence_axis_name="D")
    assert (found.layout(), found.shape()[0]) == ("DHW", (1, 3, 4))
    assert inflated(data, shape=12, algorithm="lz4").shape()[0] == (12,)
    with pytest.raises(LayoutError, match="layout='HWC' does not fit a shape of 2 extents"):
        inflated(data, shape=[3, 4], layout="HWC")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"shape": [13]}, "has 12 bytes, but the shape has 13"),
        ({"shape": [11]}, "more bytes than the shape"),
        ({"shape": [-1]}, "the extent -1"),
        ({"shape": [12], "chunk_sizes": [99]}, "chunk 0 has 99 bytes from byte 0 on, but the input has"),
        ({"shape": [12], "chunk_offsets": [-1]}, "chunk 0 has .* from byte -1 on"),
        ({"shape": [12], "chunk_offsets": [0, 1], "chunk_sizes": [1]}, "2 chunk_offsets and 1 chunk_sizes"),
    ],
)
def test_what_does_not_fit(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        inflated(block(bytes(12)), **arguments)


def test_arguments() -> None:
    with pytest.raises(ArgumentError, match="algorithm='zstd': expected 'LZ4'"):
        inflated(block(b"a"), shape=1, algorithm="zstd")
    with pytest.raises(ArgumentError, match="expected one letter"):
        inflated(block(b"a"), shape=1, sequence_axis_name="FF")
    with pytest.raises(OperatorError, match="expected compressed bytes"):
        inflated(np.zeros(3, np.int32), shape=1)


@pytest.mark.parametrize("device", DEVICES)
def test_mutated_blocks(device: str) -> None:
    """Each gives as many bytes as it should, or on the CPU an error."""
    rng = np.random.default_rng(6)
    some = [text for text in texts() if 30 < len(text) < 4000]
    good, lengths = [block(text) for text in some], [len(text) for text in some]
    samples = []
    for i in range(2000):
        data = bytearray(bytes(good[i % len(good)]))
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        if rng.random() < 0.3:
            del data[int(rng.integers(1, len(data))) :]
        samples.append((np.frombuffer(bytes(data), np.uint8), np.int32([lengths[i % len(good)]])))
    if device == "gpu":
        found = inflated([data for data, _ in samples], device, shape=5000)
        assert len(found) == 2000
        return
    source = iter(samples)
    refused = 0

    def define() -> Any:
        data, shape = fn.external_source(lambda: [[v] for v in next(source)], num_outputs=2)
        return fn.decoders.inflate(data, shape=shape)

    pipe = made(define, batch_size=1)
    for _ in range(1900):
        try:
            pipe.run()
        except DecodeError:
            refused += 1
        except PenstockError as error:
            raise AssertionError(str(error)) from error
    assert refused > 500
