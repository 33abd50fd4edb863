"""COCO's annotations in binary files, which are read without parsing. They are DALI's: either reads what the other one
has saved.

All but the names are 32 bits that count rows, and then the rows.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import ReadError
from penstock.read.coco_annotations import Annotations, starts_of
from penstock.read.coco_runs import RUN_COLUMNS, Runs
from penstock.read.contents import contents, problem

Array = npt.NDArray[Any]
_NAMES = "filenames.dat"


def save_preprocessed(found: Annotations, folder: str, polygons: bool, pixels: bool) -> None:
    """Writes the files into the folder, which is made if need be."""
    many = np.diff(found.starts)
    tables: dict[str, tuple[Array, Any]] = {
        "original_ids": (found.ids, np.int32),
        "offsets": (found.starts[:-1], np.int32),
        "counts": (many, np.int32),
        "boxes": (found.boxes, np.float32),
        "labels": (found.labels, np.int32),
    }
    if polygons or pixels:
        tables |= {
            "polygon_data": (found.polygons, np.int32),
            "polygon_offset": (found.polygon_starts[:-1], np.int64),
            "polygons_count": (np.diff(found.polygon_starts), np.int64),
            "vertices": (found.vertices, np.float32),
            "vertices_offset": (found.vertex_starts[:-1], np.int64),
            "vertices_count": (np.diff(found.vertex_starts), np.int64),
        }
    if pixels:
        tables |= {
            "heights": (found.sizes[:, 0], np.int32),
            "widths": (found.sizes[:, 1], np.int32),
            "masks_offset": (found.run_starts[:-1], np.int64),
            "mask_count": (np.diff(found.run_starts), np.int64),
            "masks_rles_idx": (found.runs[:, 0], np.int32),
        }
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, _NAMES), "wb") as file:
            file.write(b"".join(os.fsencode(name) + b"\n" for name in found.names))
        for name, (table, kind) in tables.items():
            _write(folder, name, _head(table.size if name == "boxes" else len(table)) + table.astype(kind).tobytes())
        if pixels:
            _write(folder, "masks_rles", _head(len(found.runs)) + _packed_runs(found))
    except OSError as error:
        raise ReadError(f"save_preprocessed_annotations_dir={folder!r}: cannot write: {error.strerror}") from error


def _head(rows: int) -> bytes:
    return rows.to_bytes(4, "little")


def _write(folder: str, name: str, data: bytes) -> None:
    with open(os.path.join(folder, f"{name}.dat"), "wb") as file:
        file.write(data)


def _packed_runs(found: Annotations) -> bytes:
    """Of each mask 64 bits each of its height, width and number of counts, then 32 bits of each count."""
    picture = np.repeat(np.arange(len(found.names)), np.diff(found.run_starts))
    parts = []
    for (_, first, end, differences), of in zip(found.runs.tolist(), picture, strict=True):
        counts = found.counts[found.count_starts[of] + first : found.count_starts[of] + end].copy()
        if differences:
            counts[2::2] = np.cumsum(counts[2::2])
            counts[1::2] = np.cumsum(counts[1::2])
        parts += [np.array([*found.sizes[of], len(counts)], np.uint64).tobytes(), counts.astype(np.uint32).tobytes()]
    return b"".join(parts)


class _Folder:
    def __init__(self, path: str):
        self._path = path

    def bytes_of(self, name: str) -> bytes:
        path = os.path.join(self._path, name)
        try:
            return contents(path)
        except OSError as error:
            raise ReadError(f"the preprocessed annotations {path} cannot be read: {problem(error)}") from error

    def table(self, name: str, kind: Any, columns: int = 1) -> Array:
        data = self.bytes_of(f"{name}.dat")
        rows = int(np.frombuffer(data[:4], np.int32)[0]) if len(data) >= 4 else -1
        if rows < 0 or len(data) != 4 + rows * columns * np.dtype(kind).itemsize:
            raise self.wrong(name, f"it has {len(data)} bytes, which do not fit the number of rows that it tells")
        found = np.frombuffer(data, kind, offset=4)
        return found if columns == 1 else found.reshape(-1, columns)

    def starts(self, offsets: str, counts: str, kind: Any, pictures: int, rows: int) -> npt.NDArray[np.int64]:
        first, many = self.table(offsets, kind), self.table(counts, kind)
        if len(first) != pictures or len(many) != pictures or (many < 0).any():
            raise self.wrong(counts, f"expected one for each of {pictures} files")
        starts = starts_of(many)
        if starts[-1] != rows or not np.array_equal(starts[:-1][many > 0], first[many > 0]):
            raise self.wrong(offsets, "the rows of the files do not lie one behind the other")
        return starts

    def wrong(self, name: str, problem: str) -> ReadError:
        return ReadError(f"the preprocessed annotations {os.path.join(self._path, name)}.dat: {problem}")


def load_preprocessed(path: str, polygons: bool, pixels: bool) -> Annotations:
    """What the folder has; raises ReadError."""
    folder = _Folder(path)
    names = [os.fsdecode(name) for name in folder.bytes_of(_NAMES).split(b"\n") if name]
    many = len(names)
    if any("\0" in name for name in names):
        raise folder.wrong("filenames", "a name has a zero byte")
    boxes = folder.table("boxes", np.float32)
    labels, ids = folder.table("labels", np.int32), folder.table("original_ids", np.int32)
    starts = folder.starts("offsets", "counts", np.int32, many, len(labels))
    if len(boxes) != 4 * len(labels) or len(ids) != many:
        raise folder.wrong("labels", f"there are {len(labels)} labels, {len(boxes)} numbers of boxes, {len(ids)} ids")
    none, sizes, runs = np.zeros(many + 1, np.int64), np.zeros((many, 2), np.int32), Runs.none(many)
    masks: tuple[Any, ...] = (none, np.zeros((0, 3), np.int32), none, np.zeros((0, 2), np.float32))
    if polygons or pixels:
        rows, vertices = folder.table("polygon_data", np.int32, 3), folder.table("vertices", np.float32, 2)
        polygon_starts = folder.starts("polygon_offset", "polygons_count", np.int64, many, len(rows))
        vertex_starts = folder.starts("vertices_offset", "vertices_count", np.int64, many, len(vertices))
        masks = (polygon_starts, rows, vertex_starts, vertices)
    if pixels:
        sides = [folder.table(side, np.int32) for side in ("heights", "widths")]
        if {len(side) for side in sides} != {many} or min(side.min(initial=1) for side in sides) < 1:
            raise folder.wrong("heights", f"expected heights and widths of {many} pictures")
        sizes = np.stack(sides, axis=1)
        runs = _unpacked_runs(folder, many)
    masks += (runs.row_starts, runs.rows, runs.count_starts, runs.counts)
    return Annotations(names, ids, sizes, starts, boxes.reshape(-1, 4), labels, *masks)


def _unpacked_runs(folder: _Folder, pictures: int) -> Runs:
    numbers, data = folder.table("masks_rles_idx", np.int32), folder.bytes_of("masks_rles.dat")
    row_starts = folder.starts("masks_offset", "mask_count", np.int64, pictures, len(numbers))
    counts, at = [], 4
    for _ in numbers:
        length = int(np.frombuffer(data[at + 16 : at + 24], np.uint64)[0]) if len(data) >= at + 24 else -1
        at += 24
        if length < 0 or length > (len(data) - at) // 4:
            raise folder.wrong("masks_rles", "it ends within a mask")
        counts.append(np.frombuffer(data, np.uint32, length, at).astype(np.int64))
        at += 4 * length
    lengths = np.array([len(one) for one in counts], np.int64)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    count_starts = ends[row_starts]
    picture = np.repeat(np.arange(pictures), np.diff(row_starts))
    first = ends[:-1] - count_starts[:-1][picture]
    rows = np.zeros((len(numbers), RUN_COLUMNS), np.int32)
    rows[:, 0], rows[:, 1], rows[:, 2] = numbers, first, first + lengths
    return Runs(row_starts, rows, count_starts, np.concatenate(counts) if counts else np.zeros(0, np.int64))
