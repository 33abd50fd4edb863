"""``fn.readers.caffe2``: pictures, labels and tensors of Caffe2's data bases."""

from __future__ import annotations

import enum

from penstock.op import REQUIRED, arg, op
from penstock.read.databases import DatabaseReader

_MOST = 1000  # outputs


class Label(enum.IntEnum):
    """What ``label_type`` says."""

    SINGLE_LABEL = 0
    MULTI_LABEL_SPARSE = 1
    MULTI_LABEL_DENSE = 2
    MULTI_LABEL_WEIGHTED_SPARSE = 3
    NO_LABEL = 4


@op("readers.caffe2", kernel="read_caffe2", inputs=0, legacy=["caffe2_reader"])
class Caffe2(DatabaseReader):
    """Reads TensorProtos records of LMDB data bases, as Caffe2 makes them.

    Outputs, each from the next tensor of a record: with ``image_available`` the picture, uint8: encoded (a string), of
    shape ``(size,)``, or pixels (bytes), of shape ``(height, width, channels)``; the label, int32 or float32 as it is
    stored; ``additional_inputs`` further tensors, float32, int32 or int64, all values on one axis; and with ``bbox`` a
    box, int32 of shape ``(4,)``. Tensors behind these are passed over. The label depends on ``label_type``:

    - 0, a single one: shape ``(1,)``;
    - 1, some of ``num_labels`` classes: ones at those that are stored, of shape ``(num_labels,)``;
    - 2, dense: all values;
    - 3, weighted: as 1, with the weights of another tensor instead of ones, float32;
    - 4: none, and no output for it.

    ``source_info`` is ``folder at key key``.

    Errors: ArgumentError for arguments that select nothing; ReadError for data bases that cannot be read, and for
    records that are broken or have other tensors than was asked for, naming data base and record.

    Unlike in DALI sparse and weighted labels have one output (DALI declares another one, which it never fills, and
    fails), records may have more tensors than are read, and ``random_shuffle`` shuffles the whole part.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.caffe2(path=caffe2_lmdb, name="Reader"))
        >>> images, labels = pipeline().run()
        >>> labels.as_array().tolist()
        [[0], [1]]
    """

    path = arg(REQUIRED, "Folders of data bases.", kind="paths", to_kernel=False, aka=["paths", "db", "lmdb"])
    image_available = arg(True, "Whether records have a picture.")
    label_type = arg(0, "0: a single label, 1: sparse, 2: dense, 3: sparse with weights, 4: none.")
    num_labels = arg(1, "Number of classes, of sparse labels.", aka=["num_classes"])
    additional_inputs = arg(0, "Number of further tensors.")
    bbox = arg(False, "Whether there is a box.", aka=["box", "boxes"])

    def prepare(self) -> None:
        if self.label_type not in list(Label):
            raise self.wrong("label_type", "expected 0 to 4")
        if not 1 <= self.num_labels < 2**31:
            raise self.wrong("num_labels", "expected 1 or more")
        if not 0 <= self.additional_inputs <= _MOST:
            raise self.wrong("additional_inputs", f"expected 0 to {_MOST}")
        if not self.num_outputs():
            raise self.wrong("image_available", "without a label, additional_inputs or bbox there is no output")
        super().prepare()

    def num_outputs(self) -> int:
        labels = int(self.label_type != Label.NO_LABEL)
        return int(self.image_available) + labels + int(self.additional_inputs) + int(self.bbox)
