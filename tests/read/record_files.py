"""Files of records, made in memory: by the formats' own libraries where these can, else by what the formats say."""

from __future__ import annotations

import io
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import crc32c
import lmdb

MAGIC = struct.pack("<I", 0xCED7230A)


def tfrecord(examples: Iterable[Mapping[str, tuple[Any, str]]]) -> bytes:
    """A TFRecord file of examples, whose features are values and "byte", "int" or "float"."""
    from tfrecord.writer import TFRecordWriter  # takes a second, for it imports PyTorch

    with tempfile.NamedTemporaryFile() as file:
        writer = TFRecordWriter(file.name)
        for example in examples:
            writer.write(dict(example))
        writer.close()
        return Path(file.name).read_bytes()


def framed(data: bytes) -> bytes:
    """A record of TFRecord with these bytes."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    crc = crc32c.crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord_index(data: bytes) -> bytes:
    """Its index, as tfrecord2idx writes it."""
    lines, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0] + 16
        lines.append(f"{at} {size}\n")
        at += size
    return "".join(lines).encode()


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def field(number: int, value: bytes | int | float) -> bytes:
    """A field of a message of protocol buffers: bytes, a varint, or a float of 32 bits."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def fields(number: int, values: Iterable[bytes | int | float]) -> bytes:
    return b"".join(field(number, value) for value in values)


def packed(number: int, values: Sequence[int | float]) -> bytes:
    """Numbers in one field: all whole, or all floats."""
    if all(isinstance(v, int) for v in values):
        return field(number, b"".join(map(varint, values)))  # type: ignore[arg-type]
    return field(number, struct.pack(f"<{len(values)}f", *values))


def example(features: Mapping[str, bytes]) -> bytes:
    """A tf.train.Example of features whose messages are given."""
    return field(1, b"".join(field(1, field(1, name.encode()) + field(2, data)) for name, data in features.items()))


def recordio(records: Iterable[Sequence[bytes]]) -> bytes:
    """A RecordIO file: of each record its parts."""
    file = io.BytesIO()
    for parts in records:
        for i, data in enumerate(parts):
            part = 0 if len(parts) == 1 else 1 if i == 0 else 3 if i == len(parts) - 1 else 2
            file.write(MAGIC + struct.pack("<I", part << 29 | len(data)) + data + b"\0" * (-len(data) % 4))
    return file.getvalue()


def labelled(data: bytes, *labels: float, number: int = 0) -> bytes:
    """A record of MXNet's: one label in its header, or several behind it."""
    many = len(labels) if len(labels) > 1 else 0
    head = struct.pack("<IfQQ", many, 0.0 if many else labels[0], number, 0)
    return head + struct.pack(f"<{many}f", *labels[:many]) + data


def recordio_index(data: bytes) -> bytes:
    """Its index, as im2rec writes it: keys and places."""
    lines, at = [], 0
    while at < len(data):
        word = struct.unpack_from("<I", data, at + 4)[0]
        if word >> 29 in (0, 1):
            lines.append(f"{len(lines)}\t{at}\n")
        at += 8 + ((word & (1 << 29) - 1) + 3) // 4 * 4
    return "".join(lines).encode()


def database(values: Iterable[bytes], keys: Iterable[bytes] | None = None) -> bytes:
    """The file data.mdb of an LMDB data base."""
    with tempfile.TemporaryDirectory() as folder:
        environment = lmdb.open(folder, map_size=1 << 31)
        with environment.begin(write=True) as transaction:
            for i, value in enumerate(values):
                transaction.put(b"%08d" % i, value) if keys is None else transaction.put([*keys][i], value)
        environment.close()
        return (Path(folder) / "data.mdb").read_bytes()


def datum(data: bytes | None, label: int | None, *, size: Sequence[int] = (), encoded: bool | None = None) -> bytes:
    """A Datum of Caffe's; ``size``: channels, height, width."""
    found = b"".join(field(i + 1, n) for i, n in enumerate(size))
    found += b"" if data is None else field(4, data)
    found += b"" if label is None else field(5, label)
    return found + (b"" if encoded is None else field(7, int(encoded)))


FLOATS, INT32, BYTES, STRING, INT64 = 1, 2, 3, 4, 10


def proto(kind: int, values: Any, dims: Sequence[int] = (), *, loose: bool = False) -> bytes:
    """A TensorProto of Caffe2's; ``loose``: numbers are not packed."""
    found = fields(1, dims) + field(2, kind)
    if kind == BYTES:
        return found + field(5, values)
    if kind == STRING:
        return found + fields(6, values)
    number = {FLOATS: 3, INT32: 4, INT64: 10}[kind]
    return found + (fields(number, values) if loose else packed(number, values))


def protos(*tensors: bytes) -> bytes:
    return fields(1, tensors)


def examples(folder: Path) -> dict[str, str]:
    """A small data set of each format, for the examples in docstrings: their paths by the names that these use."""
    named = {name: str(folder / name) for name in ("records", "recordio", "caffe_lmdb", "caffe2_lmdb")}
    Path(named["records"]).write_bytes(tfrecord({"image": (b"picture", "byte"), "label": (i, "int")} for i in range(4)))
    Path(named["recordio"]).write_bytes(recordio([labelled(b"picture", float(i))] for i in range(4)))
    values = {
        "caffe_lmdb": [datum(b"picture", i) for i in range(4)],
        "caffe2_lmdb": [protos(proto(STRING, [b"picture"]), proto(INT32, [i])) for i in range(4)],
    }
    for name, some in values.items():
        Path(named[name]).mkdir()
        (Path(named[name]) / "data.mdb").write_bytes(database(some))
    return named
