"""``fn.readers.mxnet``: pictures and labels of MXNet's RecordIO files."""

from __future__ import annotations

import numpy as np

from penstock.errors import ReadError
from penstock.op import REQUIRED, arg, op
from penstock.read.records import Format, FramedReader, Records, read


@op("readers.mxnet", kernel="read_mxnet", inputs=0, legacy=["mxnet_reader"])
class MXNet(FramedReader):
    """Reads RecordIO files, as MXNet's im2rec makes them.

    Outputs: the encoded pictures, uint8 of shape ``(size,)``, and the labels, float32 of shape ``(labels,)``, as many
    as each record has. Records that were written in several parts are put together. The order is that in the file,
    whatever the keys are. ``source_info`` is ``file at index offset``.

    Errors: ArgumentError for arguments that do not go together or select nothing; ReadError for files and indexes that
    cannot be read, and for broken records, naming file and record.

    Unlike in DALI there may be several files with an index each, ``index_path`` may be left out, and ``random_shuffle``
    shuffles the whole part.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.mxnet(path=recordio, name="Reader"))
        >>> images, labels = pipeline().run()
        >>> labels.as_array().tolist()
        [[0.0], [1.0]]
    """

    form = Format.RECORDIO
    path = arg(REQUIRED, "The files.", kind="paths", to_kernel=False, aka=["paths", "rec", "files", "path_imgrec"])

    def num_outputs(self) -> int:
        return 2

    def indexed(self, index: str) -> Records:
        offsets = read(Format.TEXT, index).lengths  # "KEY OFFSET"
        if (offsets[1:] <= offsets[:-1]).any():
            offsets = np.unique(offsets)
        if not len(offsets):
            raise ReadError(f"the index {index} has no records")
        # A record ends where the next one begins at the latest, and the last one where the file ends.
        return Records(offsets, np.append(np.diff(offsets), -1).astype(np.int64))
