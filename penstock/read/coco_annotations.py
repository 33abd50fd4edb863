"""COCO's annotations as NumPy tables: what `fn.readers.coco` gives besides the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.errors import ReadError
from penstock.read.coco_runs import RUN_COLUMNS, Runs, runs_of
from penstock.read.contents import contents, problem
from penstock.read.json_file import loads

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]
_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Wanted:
    """What is selected of the annotations, and how it is shown: arguments of the reader."""

    images: Sequence[str] | None = None
    ltrb: bool = False
    ratio: bool = False
    size_threshold: float = 0.1
    skip_empty: bool = False
    include_iscrowd: bool = True
    avoid_class_remapping: bool = False
    polygons: bool = False
    pixels: bool = False


@dataclass(frozen=True)
class Annotations:
    """Of each picture, in the order of the samples; what it has any number of is in rows, and ``..._starts`` say where
    those of each picture begin, and where the last one's end.

    Attributes:
        names, ids: of the pictures; ids are int32.
        sizes: height and width, int32 of shape ``(pictures, 2)``.
        boxes, labels: float32 of shape ``(objects, 4)``, and int32; ``starts`` are theirs.
        polygons: the object's number, the first vertex, and the first one behind, all counted in the picture.
        vertices: float32 of shape ``(vertices, 2)``.
        runs: of masks that are run lengths: `Runs.rows`.
        counts: the run lengths, int64.
    """

    names: list[str]
    ids: Integers
    sizes: Integers
    starts: Starts
    boxes: Floats
    labels: Integers
    polygon_starts: Starts
    polygons: Integers
    vertex_starts: Starts
    vertices: Floats
    run_starts: Starts
    runs: Integers
    count_starts: Starts
    counts: npt.NDArray[np.int64]

    def taken(self, pictures: npt.NDArray[np.int64]) -> Annotations:
        """These pictures, in this order; any of them may be there several times."""
        found: dict[str, Any] = {
            "names": [self.names[i] for i in pictures],
            "ids": self.ids[pictures],
            "sizes": self.sizes[pictures],
        }
        for starts, tables in _ROWS.items():
            rows, begins = taken_rows(getattr(self, starts), pictures)
            found |= {starts: begins} | {table: getattr(self, table)[rows] for table in tables}
        return replace(self, **found)


_ROWS = {
    "starts": ("boxes", "labels"), "polygon_starts": ("polygons",), "vertex_starts": ("vertices",),
    "run_starts": ("runs",), "count_starts": ("counts",),
}  # fmt: skip


def taken_rows(starts: Starts, of: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Starts]:
    """The rows of these pictures, one picture behind the other, and where those of each begin then."""
    lengths = np.diff(starts)[of]
    begins = starts_of(lengths)
    return np.arange(begins[-1]) + np.repeat(starts[of] - begins[:-1], lengths), begins


def starts_of(lengths: npt.NDArray[Any]) -> Starts:
    """Where rows begin, given how many there are of each."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def load(path: str, wanted: Wanted) -> Annotations:
    """What the file has. Raises ReadError."""
    return _File(path).annotations(wanted)


def parsed(path: str) -> Any:
    """What a JSON file says."""
    try:
        text = contents(path)
    except OSError as error:
        raise ReadError(f"the annotations {path} cannot be read: {problem(error)}") from error
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"the annotations {path} are no JSON: {error}") from error


class _File:
    """One file: its errors name it."""

    def __init__(self, path: str):
        self._path = path
        data = parsed(path)
        if not isinstance(data, dict):
            raise self._wrong("expected an object with images, annotations and categories")
        self._images = self._list(data, "images")
        self._objects = self._list(data, "annotations")
        self._categories = self._list(data, "categories")

    def annotations(self, wanted: Wanted) -> Annotations:
        all_ids = self._integers(self._images, "images", "id")
        order = np.argsort(all_ids, kind="stable")
        ids = all_ids[order]
        if len(twice := np.flatnonzero(np.diff(ids) == 0)):
            raise self._wrong(f"two images have the id {ids[twice[0]]}")
        images = [self._images[i] for i in order]
        names = self._texts(images, "images", "file_name")
        sizes = np.zeros((len(images), 2), np.int32)
        if wanted.ratio or wanted.pixels:
            sizes = np.stack([self._integers(images, "images", side) for side in ("height", "width")], axis=1)
            if (sizes < 1).any():
                raise self._wrong(f"the image with the id {ids[(sizes < 1).any(axis=1).argmax()]} has no pixels")
        objects, categories, starts, boxes = self._kept(wanted, ids)
        found = Annotations(
            names, ids, sizes, starts, boxes, self._labels(categories, wanted),
            *self._masks(objects, starts, wanted, sizes),
        )  # fmt: skip
        return self._selected(self._shown(found, wanted), wanted)

    def _kept(self, wanted: Wanted, ids: Integers) -> tuple[list[Any], Integers, Starts, Floats]:
        """The objects that count, image by image; their categories; where those of each image begin; their boxes."""
        objects = self._objects
        of = self._integers(objects, "annotations", "image_id")
        categories = self._integers(objects, "annotations", "category_id")
        boxes = self._boxes(objects)
        image = np.searchsorted(ids, of)
        kept = image < len(ids)
        kept[kept] = ids[image[kept]] == of[kept]
        kept &= (boxes[:, 2:] >= np.float32(wanted.size_threshold)).all(axis=1)
        if not wanted.include_iscrowd:
            kept &= ~np.array([bool(one.get("iscrowd")) for one in objects], bool)
        rows = np.flatnonzero(kept)
        rows = rows[np.argsort(image[rows], kind="stable")]
        starts = starts_of(np.bincount(image[rows], minlength=len(ids)))
        return [objects[i] for i in rows], categories[rows], starts, np.ascontiguousarray(boxes[rows])

    def _boxes(self, objects: list[Any]) -> Floats:
        found = self._fields(objects, "annotations", "bbox")
        if not set(map(type, found)) <= {list} or not set(map(len, found)) <= {4}:
            bad = next(i for i, box in enumerate(found) if not isinstance(box, list) or len(box) != 4)
            raise self._wrong(f"annotations[{bad}]: bbox={found[bad]!r}: expected four numbers")
        return self._floats(found, "bbox").reshape(-1, 4)

    def _floats(self, lists: Sequence[Iterable[Any]], what: str) -> Floats:
        try:
            numbers = np.fromiter(chain.from_iterable(lists), np.float64)
        except (TypeError, ValueError) as error:
            raise self._wrong(f"some {what} has what is no number: {error}") from error
        with np.errstate(over="ignore"):
            floats = numbers.astype(np.float32)
        if not np.isfinite(floats).all():
            raise self._wrong(f"some {what} has a number that is not finite")
        return floats

    def _labels(self, categories: Integers, wanted: Wanted) -> Integers:
        if wanted.avoid_class_remapping:
            return categories
        known = self._integers(self._categories, "categories", "id")
        label = {int(category): i for i, category in reversed([*enumerate(known, 1)])}
        values, where = np.unique(categories, return_inverse=True)
        return np.array([label.get(int(v), 0) for v in values], np.int32)[where].astype(np.int32)

    def _masks(self, objects: list[Any], starts: Starts, wanted: Wanted, sizes: Integers) -> tuple[Any, ...]:
        """Polygons and run lengths, each with its starts."""
        pictures = len(starts) - 1
        none = np.zeros(pictures + 1, np.int64)
        if not (wanted.polygons or wanted.pixels):
            return (none, np.zeros((0, 3), np.int32), none, np.zeros((0, 2), np.float32),
                    none, np.zeros((0, RUN_COLUMNS), np.int32), none, np.zeros(0, np.int64))  # fmt: skip
        masks: list[Any] = [o.get("segmentation") or () for o in objects]
        picture = np.repeat(np.arange(pictures), np.diff(starts))
        number = np.arange(len(objects)) - starts[picture]  # in the picture
        runs = Runs.none(pictures)
        if wanted.pixels:
            at = [i for i, mask in enumerate(masks) if isinstance(mask, dict)]
            try:
                runs = runs_of([masks[i] for i in at], picture[at], number[at], sizes)
            except ValueError as error:
                raise self._wrong(str(error)) from error
        lists = [() if isinstance(mask, dict) else mask for mask in masks]
        polygons = self._polygons(lists, picture, number, pictures)
        return (*polygons, runs.row_starts, runs.rows, runs.count_starts, runs.counts)

    def _polygons(
        self, masks: list[Any], picture: npt.NDArray[Any], number: npt.NDArray[Any], pictures: int
    ) -> tuple[Any, ...]:
        if not all(isinstance(mask, (list, tuple)) for mask in masks):
            raise self._wrong("some segmentation is neither a list of polygons nor an object with counts")
        many = np.fromiter(map(len, masks), np.int64, len(masks))
        lists = list(chain.from_iterable(masks))
        if not set(map(type, lists)) <= {list}:
            raise self._wrong("some segmentation has a polygon that is no list of numbers")
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        if (lengths % 2).any():
            raise self._wrong(f"some polygon has {lengths[(lengths % 2).argmax()]} coordinates, which are no pairs")
        vertices = self._floats(lists, "polygon").reshape(-1, 2)
        of = np.repeat(picture, many)  # of each polygon
        polygon_starts = starts_of(np.bincount(of, minlength=pictures))
        ends = np.cumsum(lengths // 2)
        vertex_starts = np.concatenate([np.zeros(1, np.int64), ends])[polygon_starts]
        first = ends - lengths // 2 - vertex_starts[:-1][of]
        polygons = np.stack([np.repeat(number, many), first, first + lengths // 2], axis=1)
        return polygon_starts, polygons.astype(np.int32), vertex_starts, vertices

    @staticmethod
    def _shown(found: Annotations, wanted: Wanted) -> Annotations:
        """With boxes and vertices as they are wanted; all arithmetic is in float32, as DALI's."""
        boxes, vertices = found.boxes.copy(), found.vertices.copy()
        if wanted.ltrb:
            boxes[:, 2:] += boxes[:, :2]
        if wanted.ratio:
            whole = found.sizes[:, ::-1].astype(np.float32)  # width, height
            boxes /= np.tile(np.repeat(whole, np.diff(found.starts), axis=0), 2)
            if not wanted.pixels:
                vertices /= np.repeat(whole, np.diff(found.vertex_starts), axis=0)
        return replace(found, boxes=boxes, vertices=vertices)

    @staticmethod
    def _selected(found: Annotations, wanted: Wanted) -> Annotations:
        pictures = np.arange(len(found.names))
        if wanted.images is not None:
            places = {name: i for i, name in enumerate(found.names)}
            pictures = np.array([places[name] for name in wanted.images if name in places], np.int64)
        if wanted.skip_empty:
            pictures = pictures[np.diff(found.starts)[pictures] > 0]
        if np.array_equal(pictures, np.arange(len(found.names))):
            return found
        return found.taken(pictures)

    def _list(self, data: dict[str, Any], name: str) -> list[Any]:
        found = data.get(name, [])
        if not isinstance(found, list):
            raise self._wrong(f"{name} is no list")
        return found

    def _fields(self, rows: list[Any], what: str, field: str) -> list[Any]:
        try:
            return [row[field] for row in rows]
        except (KeyError, TypeError, IndexError):
            bad = next(i for i, row in enumerate(rows) if not isinstance(row, dict) or field not in row)
            raise self._wrong(f"{what}[{bad}] has no {field!r}") from None

    def _texts(self, rows: list[Any], what: str, field: str) -> list[str]:
        found = self._fields(rows, what, field)
        for i, text in enumerate(found):
            if not isinstance(text, str) or "\0" in text or not text:
                raise self._wrong(f"{what}[{i}]: {field}={text!r}: expected the name of a file")
        return found

    def _integers(self, rows: list[Any], what: str, field: str) -> Integers:
        found = self._fields(rows, what, field)
        if not set(map(type, found)) <= {int}:
            bad = next(i for i, number in enumerate(found) if type(number) is not int)
            raise self._wrong(f"{what}[{bad}]: {field}={found[bad]!r}: expected a whole number")
        if found and not _INT32.min <= min(found) <= max(found) <= _INT32.max:
            bad = next(i for i, number in enumerate(found) if not _INT32.min <= number <= _INT32.max)
            raise self._wrong(f"{what}[{bad}]: {field}={found[bad]}: it does not fit into 32 bits")
        return np.array(found, np.int32)

    def _wrong(self, problem: str) -> ReadError:
        return ReadError(f"the annotations {self._path}: {problem}")
