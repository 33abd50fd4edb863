"""``fn.readers.webdataset``: the samples of WebDataset's tar archives."""

from __future__ import annotations

import itertools
import os
from typing import NoReturn

import numpy as np

from penstock.errors import ArgumentError
from penstock.graph.blame import warn
from penstock.op import REQUIRED, arg, op
from penstock.read.archive import Members, read_archives
from penstock.read.base import FilesShuffler
from penstock.read.index import Index, digest_of, packed
from penstock.read.order import Indices
from penstock.types import UINT8
from penstock.types.convert import FLOATS, INTEGERS, NUMPY_TYPES

_BEHAVIORS = ("", "empty", "skip", "error")


@op("readers.webdataset", kernel="read_ranges", inputs=0)
class Webdataset(FilesShuffler):
    """Reads samples of tar archives, of which each file is a component of a sample.

    Files that follow each other and whose names are the same up to the first dot (of the name's last part) are one
    sample; what follows that dot is the component's extension. Files whose names begin with a dot are left out, and so
    is all that is no regular file. Names may be of any length, in GNU's way and in that of POSIX (pax).

    Outputs: for each element of ``ext`` the first component that has one of its extensions, as one axis of its bytes,
    or of elements of its dtype. ``source_info`` is ``archive:offset:name``.

    Errors: ArgumentError for arguments that do not go together, for samples that lack a component
    (``missing_component_behavior="error"``) and for components that are no whole number of elements; ReadError for
    archives and indexes that cannot be read, naming them.

    Unlike in DALI an archive without files has no samples, names that pax headers tell count, ``random_shuffle``
    shuffles the whole part, and a component may stand for several outputs (``ext=["jpg;cls", "cls"]``): DALI takes such
    a sample for one that lacks a component.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.webdataset(paths=archive, ext=["jpg", "cls"], name="Reader"))
        >>> images, classes = pipeline().run()
        >>> [bytes(classes.at(i)) for i in range(2)]
        [b'0', b'1']
    """

    paths = arg(REQUIRED, "The archives.", kind="paths", to_kernel=False, aka=["urls", "tars", "filenames", "files"])
    ext = arg(
        REQUIRED,
        "For each output the extensions that its component may have, with semicolons between: 'jpg;jpeg'.",
        kind="strings",
        to_kernel=False,
        aka=["extensions", "exts"],
    )
    index_paths = arg(
        None,
        "For each archive its index, as wds2idx makes them; without them the archives' headers are read first.",
        kind="paths",
        to_kernel=False,
    )
    missing_component_behavior = arg(
        "",
        "What becomes of a sample that lacks a component: 'empty' (or '': its output has no elements), 'skip' it, or "
        "'error'.",
        to_kernel=False,
        aka=["missing"],
    )
    dtypes = arg(None, "The element type of each output; default UINT8.", kind="dtypes", to_kernel=False)
    case_sensitive_extensions = arg(True, "Whether extensions tell upper from lower case (of ASCII).", to_kernel=False)

    def prepare(self) -> None:
        if not self.paths:
            raise self.wrong("paths", "there is no archive")
        if self.index_paths and len(self.index_paths) != len(self.paths):
            raise self.wrong("index_paths", f"there are {len(self.paths)} archives, and each needs an index")
        if not self.ext:
            raise self.wrong("ext", "there is no output")
        if self.missing_component_behavior.lower() not in _BEHAVIORS:
            raise self.wrong("missing_component_behavior", "expected 'empty', 'skip' or 'error'")
        if self.dtypes is not None:
            if len(self.dtypes) != len(self.ext):
                raise self.wrong("dtypes", f"there are {len(self.ext)} outputs, and each needs a type")
            if not set(self.dtypes) <= {*INTEGERS, *FLOATS}:
                raise self.wrong("dtypes", "expected types of integers and floating-point numbers")
        super().prepare()

    def num_outputs(self) -> int:
        return len(self.ext)

    def make_index(self) -> Index:
        """The components of all archives, as far as they are wanted."""
        archives = read_archives(self.paths, self.index_paths or None)
        files = list(itertools.accumulate((len(a.offsets) for a in archives), initial=0))
        picked = [self._picked(a, first) for a, first in zip(archives, files, strict=False)]
        picks = np.concatenate(picked)
        if not len(picks):
            raise self.wrong("paths", f"no sample has a component for each of ext={self.ext!r}")
        starts = np.cumsum([0, *map(len, picked)])[:-1]
        offsets = np.concatenate([a.offsets for a in archives])
        lengths = np.concatenate([a.lengths for a in archives])
        index = Index(
            size=len(picks),
            names=packed(self.paths),
            digest=digest_of(self.paths, (offsets, lengths)),
            types=self.dtypes or [UINT8] * len(self.ext),
            containers=np.repeat(np.arange(len(archives), dtype=np.int32), np.diff(files)),
            offsets=offsets,
            lengths=lengths,
            members=b"".join(a.names for a in archives),
            picks=picks,
            groups=starts[np.array([len(p) > 0 for p in picked])],
        )
        self._check_types(index)
        return index

    def _picked(self, archive: Members, first: int) -> Indices:
        """The numbers of the files that are read of each sample, by output; -1: there is none. The archive's first file
        has the number ``first``.
        """
        picks = np.full((archive.samples, len(self.ext)), -1, np.int64)
        twice = False
        for output, options in enumerate(self.ext):
            wanted = set(self._folded(options).split(";")) - {""}
            fits = np.array([self._folded(e) in wanted for e in archive.extensions], bool)
            found = np.flatnonzero(fits[archive.extension]) if len(fits) else np.zeros(0, np.int64)
            samples = archive.sample[found]
            is_first = np.diff(samples, prepend=-1) > 0
            picks[samples[is_first], output] = found[is_first] + first
            twice |= not is_first.all()
        if twice:
            text = f"readers.webdataset: {archive.path}: some samples have several components for one output"
            warn(f"{text}: the first is read", UserWarning)
        missing = (picks < 0).any(axis=1)
        behavior = self.missing_component_behavior.lower()
        if behavior == "error" and missing.any():
            self._refuse(archive, int(np.argmax(missing)), picks)
        return picks[~missing] if behavior == "skip" else picks

    def _folded(self, text: str) -> str:
        return text if self.case_sensitive_extensions else text.lower()

    def _check_types(self, index: Index) -> None:
        assert index.lengths is not None
        assert index.picks is not None
        for output, dtype in enumerate(index.types):
            size = np.dtype(NUMPY_TYPES[dtype]).itemsize
            files = index.picks[:, output]
            for file in files[(files >= 0) & (index.lengths[files] % size != 0)][:1]:
                name = _name(index.members or b"", int(file))
                raise self.wrong(
                    "dtypes",
                    f"the component {name} has {index.lengths[file]} bytes, which are no whole number of elements of "
                    f"{size} bytes",
                )

    def _refuse(self, archive: Members, sample: int, picks: Indices) -> NoReturn:
        lacks = self.ext[int(np.argmin(picks[sample]))]
        some = _name(archive.names, int(np.searchsorted(archive.sample, sample)))
        raise ArgumentError(
            f"readers.webdataset: ext={self.ext!r}: sample {sample} of {archive.path}, "
            f"which begins with {some or 'a file whose name the index does not tell'}, has no component {lacks!r}, and "
            "missing_component_behavior='error'"
        )


def _name(names: bytes, number: int) -> str:
    return os.fsdecode(names.split(b"\0", number + 1)[number])
