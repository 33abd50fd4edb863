"""`fn.readers.coco`: annotations beside a reference in NumPy, pycocotools' masks, and DALI."""

from __future__ import annotations

import copy
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as pycoco

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, PenstockError, ReadError
from penstock.machine import codecs
from tests.read.data_sets import DataSet, case, read
from tests.small import made

HEIGHT, WIDTH = 12, 15
CATEGORIES = [90, 7, 3]


def _text(polygon: list[float]) -> str:
    """A mask as run lengths in pycocotools' text."""
    text: bytes = pycoco.frPyObjects([polygon], HEIGHT, WIDTH)[0]["counts"]
    return text.decode()


def _object(number: int, image: int, category: int, box: list[float], mask: Any, crowd: int = 0) -> dict[str, Any]:
    return {
        "id": number, "image_id": image, "category_id": category, "bbox": box, "iscrowd": crowd, "segmentation": mask,
    }  # fmt: skip


DOCUMENT: dict[str, Any] = {
    "images": [
        {"id": i, "file_name": name, "width": WIDTH, "height": HEIGHT}
        for i, name in [(10, "1.jpg"), (30, "0.jpg"), (20, "3.jpg"), (40, "2.jpg"), (50, "4.jpg")]
    ],
    "categories": [{"id": i} for i in CATEGORIES],
    "annotations": [
        _object(1, 30, 7, [1.5, 2, 3, 4], [[1, 1, 5, 1.5, 5, 6], [2, 2, 3, 3, 4, 2, 4, 1]]),
        _object(2, 30, 90, [0.1, 0.2, 8, 4], {"size": [HEIGHT, WIDTH], "counts": [5, 6, 7, 8, 154]}, 1),
        _object(3, 10, 7, [1, 2, 0.05, 4], [[1, 1, 5, 1, 5, 6]]),
        _object(4, 10, 3, [1, 2, 0.5, 4], {"size": [HEIGHT, WIDTH],
                                          "counts": _text([1.5, 2.5, 10.25, 2, 9, 8.75, 3, 7])}),
        _object(5, 20, 3, [1, 2, 10, 4.25], [[1, 1, 10, 1.5, 5, 6.25]]),
        _object(6, 50, 3, [1, 2, 0.01, 4], [[1, 1, 10, 1.5, 5, 6.25]]),
        _object(7, 30, 3, [3, 3, 7, 7], [[3, 3, 10, 3, 10, 10, 3, 10]]),
        _object(8, 99, 3, [3, 3, 7, 7], []),
        _object(9, 20, 8, [3, 4, 5, 6], [[11, 1, 13, 1, 13, 4]]),
    ],
}  # fmt: skip
PICTURES = {f"{i}.jpg": b"%d" % i * (i + 3) for i in range(5)}
FILES = {**PICTURES, "instances.json": json.dumps(DOCUMENT).encode()}


def mask_of(one: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The pixels of an object; vertices are float32."""
    mask = one["segmentation"]
    if isinstance(mask, dict):
        runs = mask if isinstance(mask["counts"], str) else pycoco.frPyObjects(mask, HEIGHT, WIDTH)
        return np.asarray(pycoco.decode(runs))
    rounded = [[float(np.float32(v)) for v in polygon] for polygon in mask]
    if not rounded:
        return np.zeros((HEIGHT, WIDTH), np.uint8)
    return np.asarray(pycoco.decode(pycoco.merge(pycoco.frPyObjects(rounded, HEIGHT, WIDTH))))


def expected(
    *, names: list[str] | None = None, ltrb: bool = False, ratio: bool = False, threshold: float = 0.1,
    skip_empty: bool = False, crowds: bool = True, own_labels: bool = False, polygons: int = 0, pixels: bool = False,
    ids: bool = False,
) -> list[tuple[Any, ...]]:  # fmt: skip
    """The samples; ``polygons``: 1 for vertices, 2 for coordinates."""
    images = sorted(DOCUMENT["images"], key=lambda image: image["id"])
    if names is not None:
        images = [next(i for i in images if i["file_name"] == name) for name in names if name in PICTURES]
    f, found = np.float32, []
    for image in images:
        kept = [
            one for one in DOCUMENT["annotations"]
            if one["image_id"] == image["id"] and min(f(one["bbox"][2:])) >= f(threshold)
            and (crowds or not one["iscrowd"])
        ]  # fmt: skip
        if skip_empty and not kept:
            continue
        scale = f([WIDTH, HEIGHT]) if ratio else f([1, 1])
        boxes, labels, rows, vertices = [], [], [], np.zeros((0, 2), f)
        picture = np.zeros((HEIGHT, WIDTH), np.int32)
        for number, one in enumerate(kept):
            box = f(one["bbox"])
            boxes.append(np.concatenate([box[:2], box[2:] + box[:2] * f(ltrb)]) / np.tile(scale, 2))
            known = one["category_id"] in CATEGORIES
            labels.append(
                one["category_id"] if own_labels else 1 + CATEGORIES.index(one["category_id"]) if known else 0
            )
            for polygon in one["segmentation"] if isinstance(one["segmentation"], list) else []:
                rows.append([number, len(vertices), len(vertices) + len(polygon) // 2])
                vertices = np.concatenate([vertices, f(polygon).reshape(-1, 2) / scale])
        for label, one in sorted(zip(labels, kept, strict=True), key=lambda pair: pair[0]):
            picture[mask_of(one) > 0] = label
        sample = [PICTURES[image["file_name"]], np.array(boxes, f).reshape(-1, 4), np.int32(labels)]
        if polygons:
            sample += [np.int32(rows).reshape(-1, 3) * np.int32([1, polygons, polygons]), vertices]
        if pixels:
            sample.append(picture[..., None])
        if ids:
            sample.append(np.int32([image["id"]]))
        found.append(tuple(sample))
    return found


def _saved() -> dict[str, bytes]:
    """The files of preprocessed annotations."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "instances.json").write_bytes(FILES["instances.json"])
        with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            arguments = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": f"{folder}/saved"}
            outputs = fn.readers.coco(
                annotations_file=root / "instances.json", ltrb=True, pixelwise_masks=True, **arguments
            )
            pipe.set_outputs(*outputs)
        pipe.build()
        return {f"saved/{path.name}": path.read_bytes() for path in (root / "saved").iterdir()}


def coco_case(title: str, samples: list[tuple[Any, ...]], differs: str | None = None, **arguments: Any) -> DataSet:
    def given(root: str) -> dict[str, Any]:
        return {"file_root": root, "annotations_file": f"{root}/instances.json", **arguments}

    return case("readers.coco", FILES, samples, given, in_memory=False, title=title, differs=differs)


CASES = [
    case(
        "readers.coco",
        FILES,
        expected(),
        lambda root: {"file_root": root, "annotations_file": f"{root}/instances.json"},
        broken=("0.jpg", None, 2),
        in_memory=False,
        title="boxes",
    ),
    coco_case(
        "shares, polygons and ids",
        expected(ltrb=True, ratio=True, polygons=1, ids=True),
        ltrb=True, ratio=True, polygon_masks=True, image_ids=True,
    ),
    coco_case(
        "small objects, no crowds, no empty pictures",
        expected(threshold=0.0, crowds=False, skip_empty=True, own_labels=True),
        size_threshold=0.0, include_iscrowd=False, skip_empty=True, avoid_class_remapping=True,
    ),
    coco_case(
        "some pictures",
        expected(names=["3.jpg", "0.jpg", "9.jpg", "3.jpg"], polygons=1),
        images=["3.jpg", "0.jpg", "9.jpg", "3.jpg"], polygon_masks=True,
    ),
    coco_case("pixels and ids", expected(pixels=True, ids=True), pixelwise_masks=True, image_ids=True),
    case(
        "readers.coco",
        {**PICTURES, **_saved()},
        expected(ltrb=True, pixels=True),
        lambda root: {"file_root": root, "preprocessed_annotations": f"{root}/saved", "pixelwise_masks": True},
        in_memory=False,
        title="preprocessed",
    ),
    case(
        "readers.coco",
        {**PICTURES, **_saved()},
        expected(ltrb=True, polygons=1, ids=True),
        lambda root: {
            "file_root": root, "preprocessed_annotations": f"{root}/saved", "polygon_masks": True, "image_ids": True,
        },
        in_memory=False,
        title="preprocessed polygons",
    ),
]  # fmt: skip


def samples(folder: Path, document: Any, count: int = 1, **arguments: Any) -> list[Any]:
    (folder / "0.jpg").write_bytes(b"zero")
    file = folder / "instances.json"
    file.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    pipe = made(lambda: tuple(fn.readers.coco(file_root=folder, annotations_file=file, **arguments)), batch_size=1)
    return read(pipe, count)


def one_picture(objects: list[tuple[int, Any]], height: int = HEIGHT, width: int = WIDTH) -> dict[str, Any]:
    return {
        "images": [{"id": 1, "file_name": "0.jpg", "width": width, "height": height}],
        "categories": [{"id": i} for i in range(1, 5)],
        "annotations": [_object(i, 1, label, [0, 0, 5, 5], mask) for i, (label, mask) in enumerate(objects)],
    }


@pytest.mark.parametrize("parser", ["json", "orjson"])
def test_either_parser(parser: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if parser == "json":
        monkeypatch.setitem(sys.modules, "orjson", None)
    ((_, boxes, labels),) = samples(tmp_path, one_picture([(2, [])]))
    assert (boxes.tolist(), labels.tolist()) == ([[0, 0, 5, 5]], [2])
    with pytest.raises(ReadError, match=r"instances\.json are no JSON"):
        samples(tmp_path, b'{"images": [}')


def test_polygons_have_the_pixels_of_pycocotools(tmp_path: Path) -> None:
    """Vertices on the grid, between its points, beyond the picture, and twice the same."""
    rng = np.random.default_rng(0)
    for trial in range(60):
        height, width = (int(v) for v in rng.integers(1, 70, 2))
        objects = []
        for label in range(1, 5):
            many = int(rng.integers(3, 9))
            points = np.round(rng.uniform(-0.3, 1.3, (many, 2)) * [width, height], trial % 3)
            objects.append((label, [np.float32(points).ravel().astype(float).tolist()]))
            objects[-1][1][0][:2] = objects[-1][1][0][2:4]
        *_, found = samples(tmp_path, one_picture(objects, height, width), pixelwise_masks=True)[0]
        wanted = np.zeros((height, width), np.int32)
        for label, mask in objects:
            wanted[pycoco.decode(pycoco.merge(pycoco.frPyObjects(mask, height, width))) > 0] = label
        np.testing.assert_array_equal(found[..., 0], wanted)


@pytest.mark.parametrize("as_text", [False, True])
def test_run_lengths(as_text: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        mask = (rng.random((HEIGHT, WIDTH)) < rng.random()).astype(np.uint8, order="F")
        runs = pycoco.encode(mask)
        turns = np.flatnonzero(np.diff(np.concatenate([[0], mask.ravel(order="F")]))).tolist()
        counts = np.diff([0, *turns, mask.size]).tolist()
        given = {"size": [HEIGHT, WIDTH], "counts": runs["counts"].decode() if as_text else counts}
        *_, found = samples(tmp_path, one_picture([(3, given)]), pixelwise_masks=True)[0]
        np.testing.assert_array_equal(found[..., 0], mask * 3)


def test_a_label_has_all_of_its_masks(tmp_path: Path) -> None:
    """Where DALI has those of polygons, or the last run lengths."""
    runs = [{"size": [HEIGHT, WIDTH], "counts": [i, 2, HEIGHT * WIDTH - 2 - i]} for i in (3, 40)]
    *_, found = samples(tmp_path, one_picture([(1, runs[0]), (1, runs[1]), (1, [[5, 5, 9, 5, 9, 9]])]),
                        pixelwise_masks=True)[0]  # fmt: skip
    lines = found[..., 0].ravel(order="F")
    assert lines[[3, 4, 40, 41]].tolist() == [1, 1, 1, 1]
    assert found[6, 8, 0] == 1


def test_old_names(tmp_path: Path) -> None:
    document = one_picture([(1, [[1, 1, 5, 1, 5, 6]])])
    with pytest.warns(DeprecationWarning, match="masks is deprecated: use polygon_masks"):
        ((_, _, _, polygons, _),) = samples(tmp_path, document, masks=True)
    assert polygons.tolist() == [[0, 0, 6]]
    with pytest.warns(DeprecationWarning, match="use image_ids"):
        assert samples(tmp_path, document, save_img_ids=True)[0][-1].tolist() == [1]
    saved = tmp_path / "saved"
    with pytest.warns(DeprecationWarning, match="use save_preprocessed_annotations"):
        samples(tmp_path, document, dump_meta_files=True, dump_meta_files_path=saved)
    with pytest.warns(DeprecationWarning, match="use preprocessed_annotations"):
        pipe = made(lambda: tuple(fn.readers.coco(file_root=tmp_path, meta_files_path=saved)), batch_size=1)
    assert read(pipe, 1)[0][1].tolist() == [[0, 0, 5, 5]]
    with pytest.raises(ArgumentError, match="cannot be given together with image_ids"):
        samples(tmp_path, document, image_ids=True, save_img_ids=True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"polygon_masks": True, "pixelwise_masks": True}, "masks are a picture or polygons"),
        ({"save_preprocessed_annotations": True}, "goes together with save_preprocessed_annotations_dir"),
        ({"images": ["9.jpg"]}, "no picture that is wanted"),
        ({"preprocessed_annotations": "x"}, "annotations_file=.*leave it out"),
        ({"annotations_file": None}, "give this or preprocessed_annotations"),
        ({"annotations_file": None, "preprocessed_annotations": "x", "ratio": True}, "ratio=True: leave it out"),
    ],
)
def test_arguments_that_do_not_go_together(arguments: dict[str, Any], problem: str, tmp_path: Path) -> None:
    (tmp_path / "instances.json").write_bytes(FILES["instances.json"])
    given = {"annotations_file": tmp_path / "instances.json"} | arguments
    with pytest.raises(ArgumentError, match=problem):
        made(lambda: tuple(fn.readers.coco(file_root=tmp_path, **given)), batch_size=1).build()


def _with(change: Callable[[dict[str, Any]], None]) -> bytes:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return json.dumps(document).encode()


def _first(kind: str, **values: Any) -> bytes:
    return _with(lambda document: document[kind][0].update(values))


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (b"[]", "expected an object with images"),
        (b'{"images": 3}', "images is no list"),
        (b"\xff\xfe", "are no JSON"),
        (b"[" * 100000, "are no JSON"),
        (_first("images", id=20), "two images have the id 20"),
        (_first("images", id="a"), r"images\[0\]: id='a': expected a whole number"),
        (_first("images", id=2**33), r"images\[0\]: id=8589934592: it does not fit"),
        (_first("images", file_name=3), r"images\[0\]: file_name=3: expected the name of a file"),
        (_first("images", height=0), "the image with the id 10 has no pixels"),
        (_first("annotations", bbox=[1, 2, 3]), r"annotations\[0\]: bbox=\[1, 2, 3\]: expected four numbers"),
        (_first("annotations", bbox=[1, 2, 3, "a"]), "some bbox has what is no number"),
        (_first("annotations", bbox=[1, 2, 3, 1e300]), "some bbox has a number that is not finite"),
        (_first("annotations", category_id=None), r"annotations\[0\]: category_id=None"),
        (_first("annotations", segmentation=[[1, 2, 3]]), "some polygon has 3 coordinates"),
        (_first("annotations", segmentation=[3]), "a polygon that is no list"),
        (_first("annotations", segmentation="a"), "neither a list of polygons nor an object"),
        (_first("annotations", segmentation={"size": [1, 2], "counts": []}), "a mask has size="),
        (_first("annotations", segmentation={"size": [12, 15], "counts": [1.5]}), "neither whole numbers nor a text"),
        (_first("annotations", segmentation={"size": [12, 15], "counts": "\x7f"}), "letters that no such text has"),
        (_first("annotations", segmentation={"size": [12, 15], "counts": "oo"}), "end within a number"),
        (_first("annotations", segmentation={"size": [12, 15], "counts": "o" * 9 + "0"}), "are too large"),
        (_with(lambda d: d["annotations"][2].pop("bbox")), r"annotations\[2\] has no 'bbox'"),
        (_with(lambda d: d["annotations"].append(7)), r"annotations\[9\] has no 'image_id'"),
    ],
)  # fmt: skip
def test_broken_annotations(document: bytes, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=problem) as caught:
        samples(tmp_path, document, ratio=True, pixelwise_masks=True)
    assert "instances.json" in str(caught.value)


@pytest.mark.parametrize(
    ("mask", "problem"),
    [
        ([[0, 0, 1e9, 0, 5, 5]], "a vertex at 1000000000"),
        ({"size": [HEIGHT, WIDTH], "counts": [100, 100]}, "do not fit a picture of 12 x 15 pixels"),
        ({"size": [HEIGHT, WIDTH], "counts": [5, -1]}, "do not fit a picture of 12 x 15 pixels"),
    ],
)
def test_masks_that_cannot_be_drawn(mask: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=problem):
        samples(tmp_path, one_picture([(1, mask)]), pixelwise_masks=True)


def test_mutated_annotations(tmp_path: Path) -> None:
    """Whatever is in the file: samples, or an error that names it."""
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(300):
        data = bytearray(FILES["instances.json"])
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(32, 127))
        if rng.random() < 0.2:
            del data[int(rng.integers(len(data))) :]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                samples(tmp_path, bytes(data), pixelwise_masks=True, ratio=True)
        except PenstockError as error:
            assert "instances.json" in str(error) or "jpg" in str(error) or "mask" in str(error), str(error)  # noqa: PT017
            refused += 1
    assert refused > 100


def test_mutated_preprocessed_annotations(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    codecs.set_max_pixels(1 << 20)  # so that a broken height takes no time
    request.addfinalizer(lambda: codecs.set_max_pixels(None))
    rng = np.random.default_rng(3)
    saved = _saved()
    for name in PICTURES:
        (tmp_path / name).write_bytes(PICTURES[name])
    (tmp_path / "saved").mkdir()
    for _ in range(300):
        name = list(saved)[int(rng.integers(len(saved)))]
        data = bytearray(saved[name])
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        if rng.random() < 0.3:
            del data[int(rng.integers(len(data))) :]
        for other in saved:
            (tmp_path / other).write_bytes(data if other == name else saved[other])
        arguments = {"preprocessed_annotations": tmp_path / "saved", "pixelwise_masks": True, "image_ids": True}
        try:
            read(made(lambda: tuple(fn.readers.coco(file_root=tmp_path, **arguments)), batch_size=1), 5)  # noqa: B023
        except PenstockError as error:
            assert str(tmp_path) in str(error) or "mask" in str(error), str(error)  # noqa: PT017


def test_beside_dali_on_its_own_media(dali_extra: Path) -> None:
    """Masks of whole photographs, but for the last column, where DALI may give a pixel to the lower of two labels."""
    dali_fn = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import Pipeline as DaliPipeline

    folder = dali_extra / "db" / "coco_pixelwise"
    arguments = {"file_root": str(folder / "images"), "annotations_file": str(folder / "instances.json"),
                 "pixelwise_masks": True, "ltrb": True, "ratio": True}  # fmt: skip
    theirs = DaliPipeline(batch_size=6, num_threads=1, device_id=None)
    with theirs:
        theirs.set_outputs(*dali_fn.readers.coco(**arguments))
    theirs.build()
    ours = made(lambda: tuple(fn.readers.coco(**arguments)), batch_size=6)
    for mine, its in zip(ours.run(), theirs.run(), strict=True):
        for i in range(6):
            a, b = np.array(mine.at(i)), np.array(its.at(i))
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(*((a[:, :-1], b[:, :-1]) if a.ndim == 3 else (a, b)))
