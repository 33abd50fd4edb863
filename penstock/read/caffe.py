"""``fn.readers.caffe``: pictures and labels of Caffe's data bases."""

from __future__ import annotations

from penstock.op import REQUIRED, arg, op
from penstock.read.databases import DatabaseReader


@op("readers.caffe", kernel="read_caffe", inputs=0, legacy=["caffe_reader"])
class Caffe(DatabaseReader):
    """Reads Datum records of LMDB data bases, as Caffe's convert_imageset makes them.

    Outputs: with ``image_available`` the picture: its encoded bytes, uint8 of shape ``(size,)``, or where a record says
    that it is not encoded its bytes in the shape ``(height, width, channels)``; and with ``label_available`` the label,
    int32 of shape ``(1,)``. What a record lacks has no elements. ``source_info`` is ``folder at key key``.

    Errors: ArgumentError for arguments that select nothing; ReadError for data bases that cannot be read, and for
    broken records, naming data base and record. A data base is read page by page and not mapped into memory, so one
    that is broken is an error, too.

    Unlike in DALI ``random_shuffle`` shuffles the whole part, and a picture of floats is an error.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.caffe(path=caffe_lmdb, name="Reader"))
        >>> images, labels = pipeline().run()
        >>> labels.as_array().tolist()
        [[0], [1]]
    """

    path = arg(REQUIRED, "Folders of data bases.", kind="paths", to_kernel=False, aka=["paths", "source", "lmdb"])
    image_available = arg(True, "Whether records have a picture.")
    label_available = arg(True, "Whether records have a label.")

    def prepare(self) -> None:
        if not self.num_outputs():
            raise self.wrong("image_available", "without label_available there is no output")
        super().prepare()

    def num_outputs(self) -> int:
        return int(self.image_available) + int(self.label_available)
