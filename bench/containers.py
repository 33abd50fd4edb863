"""The same labelled pictures in each container that examples/workloads/classification.py reads."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.read import record_files as files
from tests.read import tars


def write_containers(folder: Path) -> None:
    """Beside `folder/files`, which has one folder of pictures for each class: TFRecord, RecordIO, LMDB, a tar file.

    Each holds the pictures in the order in which `readers.file` finds them, and has its index.
    """
    classes = sorted(path for path in (folder / "files").iterdir() if path.is_dir())
    pictures = [(file.read_bytes(), i) for i, one in enumerate(classes) for file in sorted(one.iterdir())]

    records = b"".join(
        files.framed(files.example({
            "image/encoded": files.field(1, files.field(1, data)),
            "image/class/label": files.field(3, files.packed(1, [label])),
        }))
        for data, label in pictures
    )  # fmt: skip
    (folder / "train.tfrecord").write_bytes(records)
    (folder / "train.tfrecord.idx").write_bytes(files.tfrecord_index(records))

    records = files.recordio([files.labelled(data, float(label), number=i)] for i, (data, label) in enumerate(pictures))
    (folder / "train.rec").write_bytes(records)
    (folder / "train.idx").write_bytes(files.recordio_index(records))

    (folder / "lmdb").mkdir()
    values = (files.datum(data, label, encoded=True) for data, label in pictures)
    (folder / "lmdb" / "data.mdb").write_bytes(files.database(values))

    members: list[tars.Member] = []
    for i, (data, label) in enumerate(pictures):
        members += [(f"{i:06}.jpg", data), (f"{i:06}.cls", struct.pack("<i", label))]
    archive = tars.tar(members)
    (folder / "train.tar").write_bytes(archive)
    (folder / "train.tar.idx").write_bytes(tars.index(archive))
