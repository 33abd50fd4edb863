"""``fn.readers.coco``: pictures with their boxes, labels and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from penstock.op import arg, op
from penstock.read.base import SamplesShuffler
from penstock.read.coco_annotations import Annotations, Wanted, load
from penstock.read.coco_files import load_preprocessed, save_preprocessed
from penstock.read.index import Column, Index, digest_of, packed

_T = TypeVar("_T")
_NOT_PREPROCESSED = (
    "annotations_file", "images", "skip_empty", "ratio", "ltrb", "size_threshold", "save_preprocessed_annotations"
)  # fmt: skip


@op("readers.coco", kernel="read_ranges", inputs=0, legacy=["coco_reader"])
class Coco(SamplesShuffler):
    """Reads pictures with annotations in COCO's format: one JSON file that lists pictures, objects and categories.

    Samples are in the order of the pictures' ids, or of ``images``. Objects of a picture are in the file's order.

    Outputs: the files' bytes, uint8 of shape ``(size,)``; boxes, float32 of shape ``(objects, 4)``, as (x, y, width,
    height) in pixels; labels, int32 of shape ``(objects,)``. Then

    - with ``polygon_masks`` polygons, int32 of shape ``(polygons, 3)``: the number of the object in the picture, the
      polygon's first vertex, and the first one behind it; and vertices, float32 of shape ``(vertices, 2)``. Masks that
      are run lengths have no polygons.
    - or with ``pixelwise_masks`` the label of each pixel, int32 of shape ``(height, width, 1)``, layout HWC; 0 is the
      background. Where several objects have a pixel, the highest label has it.
    - with ``image_ids`` the picture's id, int32 of shape ``(1,)``.

    Labels are the categories' places in the file, from 1, and 0 for objects of a category that is not in it.

    Errors: ArgumentError for arguments that do not go together or select nothing; ReadError for annotations and files
    that cannot be read, naming the file and the picture or annotation that is wrong.

    With `orjson` (``pip install penstock[json]``), annotations are parsed faster than by Python's own `json`.

    Unlike in DALI all masks of one label are drawn, where DALI loses run lengths beside others; objects without a mask
    take none from others; and the last column is as all others, where DALI may show the lower of two labels.
    Annotations without a box or a category are refused, where DALI takes the last one's, and so are two pictures of one
    id.

    Example:
        >>> import json
        >>> objects = [{"id": 1, "image_id": 7, "category_id": 18, "bbox": [10, 20, 30, 40]}]
        >>> pictures = [{"id": 7, "file_name": "a.jpg", "width": 500, "height": 375}]
        >>> annotations = f"{folder}/instances.json"
        >>> with open(annotations, "w") as file:
        ...     json.dump({"images": pictures, "annotations": objects, "categories": [{"id": 18}]}, file)
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.coco(file_root=folder, annotations_file=annotations))
        >>> files, boxes, labels = pipeline().run()
        >>> boxes.at(0).tolist(), labels.at(0).tolist()
        ([[10.0, 20.0, 30.0, 40.0]], [1])
    """

    file_root = arg(
        None,
        "Folder that the files' names are relative to.",
        kind="path",
        to_kernel=False,
        aka=["root", "img_folder", "image_dir", "data_dir"],
    )
    annotations_file = arg(
        "", "The JSON file.", kind="path", to_kernel=False, aka=["ann_file", "annFile", "annotation_file"]
    )
    images = arg(
        None,
        "The files to read, in this order, by the names that the annotations have for them; those which these do not "
        "have are left out. Default: all, by their ids.",
        kind="paths",
        to_kernel=False,
    )
    ltrb = arg(False, "Boxes as (left, top, right, bottom).", to_kernel=False)
    ratio = arg(
        False, "Boxes and vertices as shares of the picture's width and height.", to_kernel=False, aka=["normalized"]
    )
    size_threshold = arg(0.1, "Objects whose box is less wide or high than that are left out, in pixels.",
                         to_kernel=False)  # fmt: skip
    skip_empty = arg(False, "Leave pictures without objects out.", to_kernel=False)
    include_iscrowd = arg(True, "Whether objects that are crowds count.", to_kernel=False)
    avoid_class_remapping = arg(False, "Labels are the categories' ids.", to_kernel=False)
    polygon_masks = arg(False, "Give the masks as polygons.", to_kernel=False)
    pixelwise_masks = arg(False, "Give the masks as a picture.", to_kernel=False)
    image_ids = arg(False, "Give the pictures' ids.", to_kernel=False)
    preprocessed_annotations = arg(
        "",
        "Folder of what `save_preprocessed_annotations` has saved, in place of the JSON file.",
        kind="path",
        to_kernel=False,
    )
    save_preprocessed_annotations = arg(
        False, "Save the annotations, as they were selected and converted, in a few binary files, which are DALI's.",
        to_kernel=False,
    )  # fmt: skip
    save_preprocessed_annotations_dir = arg("", "The folder to save them in.", kind="path", to_kernel=False)
    masks = arg(
        False,
        "As `polygon_masks`, but polygons count coordinates and not vertices.",
        to_kernel=False,
        deprecated="use polygon_masks",
    )
    save_img_ids = arg(None, "The old name of `image_ids`.", kind="boolean", to_kernel=False,
                       deprecated="use image_ids")  # fmt: skip
    meta_files_path = arg(None, "The old name of `preprocessed_annotations`.", kind="path", to_kernel=False,
                          deprecated="use preprocessed_annotations")  # fmt: skip
    dump_meta_files = arg(None, "The old name of `save_preprocessed_annotations`.", kind="boolean", to_kernel=False,
                          deprecated="use save_preprocessed_annotations")  # fmt: skip
    dump_meta_files_path = arg(None, "The old name of `save_preprocessed_annotations_dir`.", kind="path",
                               to_kernel=False, deprecated="use save_preprocessed_annotations_dir")  # fmt: skip

    def prepare(self) -> None:
        self.image_ids = self._renamed("save_img_ids", "image_ids", self.image_ids)
        self.preprocessed_annotations = self._renamed(
            "meta_files_path", "preprocessed_annotations", self.preprocessed_annotations
        )
        self.save_preprocessed_annotations = self._renamed(
            "dump_meta_files", "save_preprocessed_annotations", self.save_preprocessed_annotations
        )
        self.save_preprocessed_annotations_dir = self._renamed(
            "dump_meta_files_path", "save_preprocessed_annotations_dir", self.save_preprocessed_annotations_dir
        )
        self._check_sources()
        if self.pixelwise_masks and self._polygons:
            raise self.wrong("pixelwise_masks", "masks are a picture or polygons: leave out polygon_masks or this")
        if bool(self.save_preprocessed_annotations) != bool(self.save_preprocessed_annotations_dir):
            raise self.wrong("save_preprocessed_annotations", "it goes together with save_preprocessed_annotations_dir")
        super().prepare()

    def _renamed(self, old: str, new: str, value: _T) -> _T:
        if getattr(self, old) is None:
            return value
        if new in self.given:
            raise self.twice(old, new)
        found: _T = getattr(self, old)
        return found

    def _check_sources(self) -> None:
        if not self.preprocessed_annotations:
            if not self.annotations_file:
                raise self.wrong("annotations_file", "give this or preprocessed_annotations")
            return
        for name in _NOT_PREPROCESSED:
            if getattr(self, name) not in (None, self.arguments[name].default):
                why = "preprocessed_annotations are as they were selected and converted"
                raise self.wrong(name, f"leave it out: {why}")

    @property
    def _polygons(self) -> bool:
        return bool(self.polygon_masks or self.masks)

    def num_outputs(self) -> int:
        """Of pixelwise masks what they are made of: sizes, polygons, vertices, run lengths, counts."""
        return 3 + 2 * self._polygons + int(self.image_ids) + 5 * int(self.pixelwise_masks)

    def behind(self, outputs: list[Any], make: Callable[..., list[Any]]) -> list[Any]:
        if not self.pixelwise_masks:
            return outputs
        *outputs, sizes, polygons, vertices, runs, counts = outputs
        masks = make("_readers.coco_masks", [outputs[2], sizes, polygons, vertices, runs, counts])
        return [*outputs[:3], *masks, *outputs[3:]]

    def _annotations(self) -> Annotations:
        if self.preprocessed_annotations:
            return load_preprocessed(self.preprocessed_annotations, bool(self._polygons), self.pixelwise_masks)
        wanted = Wanted(
            images=self.images,
            ltrb=self.ltrb,
            ratio=self.ratio,
            size_threshold=self.size_threshold,
            skip_empty=self.skip_empty,
            include_iscrowd=self.include_iscrowd,
            avoid_class_remapping=self.avoid_class_remapping,
            polygons=self._polygons,
            pixels=self.pixelwise_masks,
        )
        found = load(self.annotations_file, wanted)
        if self.save_preprocessed_annotations:
            save_preprocessed(found, self.save_preprocessed_annotations_dir, self._polygons, self.pixelwise_masks)
        return found

    def make_index(self) -> Index:
        found = self._annotations()
        if not found.names:
            what = "preprocessed_annotations" if self.preprocessed_annotations else "annotations_file"
            raise self.wrong(what, "it has no picture" + " that is wanted" * bool(self.images or self.skip_empty))
        columns = [Column(found.boxes, found.starts), Column(found.labels, found.starts)]
        polygons = Column(found.polygons, found.polygon_starts)
        vertices = Column(found.vertices, found.vertex_starts)
        if self._polygons:
            scale = np.array([1, 2, 2] if self.masks else [1, 1, 1], np.int32)
            columns += [Column(polygons.values * scale, polygons.starts), vertices]
        if self.image_ids:
            columns.append(Column(found.ids.reshape(-1, 1)))
        if self.pixelwise_masks:
            runs, counts = Column(found.runs, found.run_starts), Column(found.counts, found.count_starts)
            columns += [Column(found.sizes), polygons, vertices, runs, counts]
        digest = digest_of(found.names, (found.boxes, found.labels))
        return Index(len(found.names), packed(found.names, self.file_root or ""), digest, columns=tuple(columns))
