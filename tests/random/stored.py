"""Small data sets on the disk, the same in each process for the same seed: what random cases of readers read."""

from __future__ import annotations

import atexit
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.decode.sounds import encoded, wav
from tests.read import record_files as files
from tests.read import tars

Random = np.random.Generator
Array = np.ndarray[Any, Any]


@cache
def stored(kind: str, seed: int) -> str:
    """The folder of a data set of this kind, for as long as the process lives."""
    folder = Path(tempfile.mkdtemp(prefix=f"penstock-{kind}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    WRITERS[kind](folder, np.random.default_rng([seed, *kind.encode()]))
    return str(folder)


def stored_files(kind: str, seed: int, count: int, suffix: str) -> list[str]:
    """The first `count` files of such a folder with this suffix, by name."""
    return [str(path) for path in sorted(Path(stored(kind, seed)).glob(f"*{suffix}"))][:count]


def name_of(kind: str, seed: int, number: int) -> Array:
    """The path of a file, as `fn.io.file.read` takes it."""
    found = sorted(path for path in Path(stored(kind, seed)).rglob("*") if path.is_file())
    return np.frombuffer(str(found[number % len(found)]).encode(), np.uint8)


def _bytes(random: Random, most: int = 300) -> bytes:
    return random.bytes(int(random.integers(0 if random.random() < 0.1 else 1, most)))


def _folders(folder: Path, random: Random) -> None:
    lines = []
    for number in range(int(random.integers(2, 5))):
        (folder / f"class {number}").mkdir()
        for i in range(int(random.integers(1, 5))):
            name = f"class {number}/{i}.{random.choice(['jpg', 'JPEG', 'png', 'txt'])}"
            (folder / name).write_bytes(_bytes(random) or b"x")
            lines.append(f"{name} {random.integers(-3, 30)}")
    (folder / "class 0" / "first.jpg").write_bytes(b"x")  # there is one
    (folder / "list.txt").write_text("\n".join(random.permutation(lines).tolist()) + "\n")


def _tfrecord(folder: Path, random: Random) -> None:
    for part in range(2):
        examples = []
        for _ in range(int(random.integers(1, 6))):
            shape = (2, int(random.integers(0, 4)))
            examples.append({
                "bytes": (_bytes(random), "byte"),
                "one": (int(random.integers(-(2**40), 2**40)), "int"),
                "two": ([float(np.float32(v)) for v in random.normal(size=2)], "float"),
                "many": (random.integers(-99, 99, int(random.integers(1, 7))).tolist(), "int"),
                "rows": (np.float32(random.normal(size=shape)).ravel().tolist() or [1.0, 2.0], "float"),
            })  # fmt: skip
        data = files.tfrecord(examples)
        (folder / f"{part}.tfrecord").write_bytes(data)
        (folder / f"{part}.idx").write_bytes(files.tfrecord_index(data))


def _recordio(folder: Path, random: Random) -> None:
    parts = []
    for i in range(int(random.integers(1, 9))):
        labels = [float(v) for v in np.float32(random.normal(size=random.integers(1, 4)))]
        parts.append([files.labelled(_bytes(random) or b"x", *labels, number=i)])
    data = files.recordio(parts)
    (folder / "0.rec").write_bytes(data)
    (folder / "0.idx").write_bytes(files.recordio_index(data))


def _caffe(folder: Path, random: Random) -> None:
    values = [files.datum(_bytes(random), i, encoded=True) for i in range(int(random.integers(1, 9)))]
    (folder / "data.mdb").write_bytes(files.database(values))


def _caffe2(folder: Path, random: Random) -> None:
    values = [
        files.protos(
            files.proto(files.STRING, [_bytes(random) or b"x"]), files.proto(files.INT32, [i]),
            files.proto(files.FLOATS, random.normal(size=4).astype(np.float32).tolist()),
        )
        for i in range(int(random.integers(1, 9)))
    ]  # fmt: skip
    (folder / "data.mdb").write_bytes(files.database(values))


def _webdataset(folder: Path, random: Random) -> None:
    for part in range(2):
        members: list[tars.Member] = []
        for i in range(int(random.integers(1, 6))):
            here = [e for e in ("jpg", "cls", "json", "seg.npy") if random.random() < 0.85] or ["jpg"]
            members += [(f"folder/{part}-{i:03}.{e}", _bytes(random, 40) * 4) for e in here]
        archive = tars.tar(members, int(random.integers(0, 3)))
        (folder / f"{part}.tar").write_bytes(archive)
        (folder / f"{part}.idx").write_bytes(tars.index(archive, str(random.choice(["v1.1", "v1.2"]))))


def _coco(folder: Path, random: Random) -> None:
    images: list[dict[str, Any]] = []
    objects: list[dict[str, Any]] = []
    for i in range(int(random.integers(2, 7))):
        height, width = (int(n) for n in random.integers(8, 40, 2))
        images.append({"id": int(random.integers(1000)) * 10 + i, "file_name": f"{i}.jpg", "width": width,
                       "height": height})  # fmt: skip
        (folder / f"{i}.jpg").write_bytes(_bytes(random) or b"x")
        for _ in range(int(random.integers(0, 4))):
            x, y, w, h = (round(float(v), 2) for v in random.uniform(1, [width / 2, height / 2] * 2))
            corners = [x, y, x + w, y, x + w, y + h, x, y + h]
            first = int(random.integers(0, width * height // 2))
            runs = {"size": [height, width], "counts": [first, 5, width * height - first - 5]}
            crowd = int(random.random() < 0.2)
            objects.append({"id": len(objects) + 1, "image_id": images[-1]["id"], "iscrowd": crowd, "area": w * h,
                            "category_id": int(random.integers(1, 6)), "bbox": [x, y, w, h],
                            "segmentation": runs if crowd else [corners]})  # fmt: skip
    order = random.permutation(len(images))
    document = {"images": [images[i] for i in order], "annotations": objects,
                "categories": [{"id": i} for i in random.permutation(np.arange(1, 6)).tolist()]}  # fmt: skip
    (folder / "annotations.json").write_text(json.dumps(document))


def _numpy(folder: Path, random: Random) -> None:
    dtype, axes = random.choice(["u1", "<i2", "<f4", "<f8", "<i8", "<u4"]), int(random.integers(1, 4))
    for i in range(int(random.integers(1, 6))):
        array = (random.random(random.integers(4, 9, axes)) * 100).astype(dtype)
        file = io.BytesIO()
        np.save(file, np.asfortranarray(array) if random.random() < 0.3 else array)
        (folder / f"{i}.npy").write_bytes(file.getvalue())


def _sequence(folder: Path, random: Random) -> None:
    for video in range(2):
        (folder / str(video)).mkdir()
        for i in range(int(random.integers(4, 9))):
            pixels = random.integers(0, 256, (6, 7, 3), np.uint8)
            Image.fromarray(pixels).save(folder / str(video) / f"{i:02}.png")


def _sounds(folder: Path, random: Random) -> None:
    lines = []
    for i in range(int(random.integers(1, 7))):
        rate = int(random.choice([8000, 16000, 22050]))
        length, channels = int(random.integers(50, 3000)), int(random.integers(1, 3))
        (folder / f"{i}.wav").write_bytes(wav(random.integers(-30000, 30000, (length, channels)), rate))
        line: dict[str, Any] = {"audio_filepath": str(folder / f"{i}.wav"), "duration": length / rate}
        if random.random() < 0.8:
            line["text"] = "w" * int(random.integers(1, 20))
        if random.random() < 0.3:
            line |= {"offset": length / rate / 4, "duration": length / rate / 2}
        lines.append(json.dumps(line))
    (folder / "manifest.json").write_text("\n".join(lines) + "\n")


@cache
def sound(format: str, subtype: str | None, length: int, channels: int, rate: int) -> Array:
    """The bytes of a file of sound."""
    return np.frombuffer(encoded(format, subtype, length, channels, rate), np.uint8)


def npy(array: Any, fortran: bool = False) -> Array:
    """The bytes of a file of an array."""
    file = io.BytesIO()
    np.save(file, np.asfortranarray(array) if fortran else np.ascontiguousarray(array))
    return np.frombuffer(file.getvalue(), np.uint8)


def harmed(data: Array, at: float, bit: int) -> Array:
    """With one bit changed at a part of its length, or cut off there, for a negative bit."""
    place = int(at * len(data))
    if bit < 0:
        return data[:place]
    changed = data.copy()
    changed[place : place + 1] ^= 1 << bit
    return changed


WRITERS: dict[str, Callable[[Path, Random], None]] = {
    "folders": _folders,
    "tfrecord": _tfrecord,
    "recordio": _recordio,
    "caffe": _caffe,
    "caffe2": _caffe2,
    "webdataset": _webdataset,
    "coco": _coco,
    "numpy": _numpy,
    "sequence": _sequence,
    "sounds": _sounds,
}
