"""LMDB data bases as readers' files."""

from __future__ import annotations

import os

from penstock.read.index import has_scheme
from penstock.read.records import Format, RecordReader, Records, scan
from penstock.read.stores.addresses import is_address


class DatabaseReader(RecordReader):
    """Base of readers of LMDB: a sample is a value, in the order of the keys."""

    def files(self) -> list[str]:
        """A data base is a folder with a file in it; that file itself may be named, too."""
        return [_file(path) for path in self.path]

    def prepare(self) -> None:
        if any(map(is_address, self.path)):
            raise self.wrong(
                "path",
                "data bases of LMDB are not read from object stores, where each page would cost a request: copy them",
            )
        super().prepare()

    def records(self, number: int) -> Records:
        return scan(Format.LMDB, self.files()[number])


def _file(path: str) -> str:
    if path.endswith(".mdb") or (not has_scheme(path) and os.path.isfile(path)):
        return path
    return os.path.join(path, "data.mdb")
