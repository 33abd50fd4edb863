"""`fn.decoders.inflate`: LZ4 blocks that the format's own library has made."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import lz4.block
import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError, DecodeError, LayoutError, OperatorError
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


@pytest.mark.parametrize("device", DEVICES)
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
def test_what_does_not_fit(device: str, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        inflated(block(bytes(12)), device, **arguments)


@pytest.mark.parametrize("device", DEVICES)
def test_broken_blocks_are_told_of(device: str, tmp_path: Path) -> None:
    """By file, sample and chunk, or they are left out; the others are as they were."""
    good = np.concatenate([block(bytes(12)), block(bytes(range(12)))])
    first = len(block(bytes(12)))
    bad = good.copy()
    bad[first] = 0x0F  # a match before there is anything
    files = [str(tmp_path / f"{i}.lz4") for i in range(5)]
    for i, file in enumerate(files):
        Path(file).write_bytes((bad if i in (1, 3) else good).tobytes())

    def define(on_error: str) -> Any:
        data, label = fn.readers.file(files=files, name="Reader", on_error=on_error)
        data = data.gpu() if device == "gpu" else data
        chunks = {"chunk_offsets": [0, first], "on_error": on_error}
        return fn.decoders.inflate(data, shape=[12], **chunks), label

    device_id = 0 if device == "gpu" else None
    with pytest.raises(DecodeError, match="chunk 1: the LZ4 block is broken: a match lies before") as caught:
        made(lambda: define("raise"), batch_size=4, device_id=device_id).run()
    assert caught.value.file == files[1]
    pipe = made(lambda: define("skip"), batch_size=3, device_id=device_id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, labels = pipe.run()
    found = found.as_cpu() if device == "gpu" else found
    assert [int(labels.at(i)[0]) for i in range(3)] == [0, 2, 4]
    for i in range(3):
        np.testing.assert_array_equal(found.at(i)[1], np.arange(12))
    assert {one.index for one in pipe.broken_samples()} == {1, 3}


def test_arguments() -> None:
    with pytest.raises(ArgumentError, match="algorithm='zstd': expected 'LZ4'"):
        inflated(block(b"a"), shape=1, algorithm="zstd")
    with pytest.raises(ArgumentError, match="expected one letter"):
        inflated(block(b"a"), shape=1, sequence_axis_name="FF")
    with pytest.raises(OperatorError, match="expected compressed bytes"):
        inflated(np.zeros(3, np.int32), shape=1)


@pytest.mark.parametrize("device", DEVICES)
def test_mutated_blocks(device: str) -> None:
    """Each gives as many bytes as it should, or an error; both devices refuse the same ones."""
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
    refused = set(_refused(samples))
    assert 500 < len(refused) < 2000
    if device == "gpu":  # all that are sound in one batch; of the others some, each of which takes its time
        sound = [sample for i, sample in enumerate(samples) if i not in refused]

        def define() -> Any:
            data, shape = fn.external_source(lambda: list(zip(*sound, strict=True)), num_outputs=2)
            return data.gpu(), fn.decoders.inflate(data.gpu(), shape=shape), fn.decoders.inflate(data, shape=shape)

        _, found, wanted = made(define, batch_size=len(sound), device_id=0).run()
        for i, one in enumerate(found.as_cpu()):
            np.testing.assert_array_equal(np.array(one), np.array(wanted.at(i)))
        broken = [samples[i] for i in sorted(refused)[::20]]
        assert len(_refused(broken, device)) == len(broken)


def _refused(samples: list[Any], device: str = "cpu") -> list[int]:
    """Which of them are errors."""
    source = iter(samples)
    found: list[int] = []

    def define() -> Any:
        data, shape = fn.external_source(lambda: [[v] for v in next(source)], num_outputs=2, cycle=False)
        return fn.decoders.inflate(data.gpu() if device == "gpu" else data, shape=shape)

    pipe = made(define, batch_size=1, device_id=0 if device == "gpu" else None)
    for i in range(len(samples)):
        try:
            pipe.run()
        except DecodeError:
            found.append(i)
    return found
