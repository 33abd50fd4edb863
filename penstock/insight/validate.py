"""``python -m penstock validate``: reads a whole data set, and lists what is broken."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from penstock import fn
from penstock.errors import ArgumentError, PenstockError, ReadError
from penstock.pipeline import Pipeline
from penstock.read.archive import read_archives
from penstock.read.write_index import head_of_file
from penstock.tfrecord import VarLenFeature, int64

_BATCH = 32
_PICTURES = ("jpg", "jpeg", "png", "webp", "bmp", "tif", "tiff")  # extensions in archives
FORMATS = ("tfrecord", "mxnet", "caffe", "caffe2", "webdataset", "file")


@dataclass(frozen=True)
class Fault:
    """What is broken: a sample, or a whole file (then ``sample`` is None)."""

    file: str | None
    sample: int | None
    problem: str


@dataclass
class Findings:
    """What was read, in numbers of samples, and what was found broken."""

    samples: int = 0
    faults: list[Fault] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{f.file or 'sample ' + str(f.sample)}: {f.problem}" for f in self.faults]
        return "\n".join([*lines, f"{self.samples} samples were read, {len(self.faults)} faults were found"])


def as_json(findings: Findings) -> str:
    """For programs."""
    return json.dumps({"samples": findings.samples, "faults": [asdict(fault) for fault in findings.faults]}, indent=1)


def format_of(path: str) -> str:
    """What kind of data set it is, by its name and its first bytes. Raises ArgumentError where that does not tell."""
    if os.path.isdir(path):
        if not os.path.exists(os.path.join(path, "data.mdb")):
            return "file"
        raise ArgumentError(f"validate: {path} is an LMDB data base: say by --format whether it is caffe's or caffe2's")
    try:
        head = head_of_file(path)
    except ReadError as error:
        raise ArgumentError(f"validate: {error}") from None
    if head[257:262] == b"ustar" or path.endswith(".tar"):
        return "webdataset"
    return "mxnet" if head[:4] == b"\x0a\x23\xd7\xce" else "tfrecord"


def validate(
    paths: Sequence[str],
    form: str | None = None,
    *,
    decode: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Reads all samples once, on all processors: records with their checksums and all that frames them, components of
    archives, files of folders.

    Args:
        paths: files, archives, data bases, or folders of class folders; each is a data set of its own.
        form: one of `FORMATS`, for all; by default what each looks like.
        decode: also decode the pictures: the first output of readers of pictures, and of archives the components whose
            extensions are those of pictures.
        threads: default: as many as there are processors.
        progress: called with the samples that are done, and those of the path.

    Errors: ArgumentError for arguments that make no sense. What is broken is not raised, but told.

    Example:
        >>> print(validate([records]))
        4 samples were read, 0 faults were found
    """
    if form is not None and form not in FORMATS:
        raise ArgumentError(f"validate: format={form!r}: expected one of {', '.join(FORMATS)}")
    findings = Findings()
    for path in paths:
        kind = form or format_of(path)
        try:
            pipe = _pipeline(path, kind, decode, threads or len(os.sched_getaffinity(0)))
            _run(pipe, findings, progress)
        except PenstockError as error:  # nothing of it can be read
            findings.faults.append(Fault(path, None, _first_line(error)))
    return findings


def _run(pipe: Pipeline, findings: Findings, progress: Callable[[int, int], None] | None) -> None:
    size, done = pipe.epoch_size("Reader"), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # broken samples are told at the end
        try:
            while done + len(pipe.broken_samples()) < size:
                pipe.run()
                done += _BATCH
                if progress:
                    progress(min(done, size), size)
        except PenstockError:
            if len(pipe.broken_samples()) < size:  # else no sample is left to give
                raise
    broken = sorted(pipe.broken_samples(), key=lambda sample: sample.index)
    findings.samples += size - len(broken)
    findings.faults += [Fault(sample.file, sample.index, _first_line(sample.error)) for sample in broken]


def _pipeline(path: str, kind: str, decode: bool, threads: int) -> Pipeline:
    pipe = Pipeline(batch_size=_BATCH, num_threads=threads, device_id=None)
    with pipe:
        outputs, pictures = _read(path, kind)
        decoded = [fn.decoders.image(outputs[k], on_error="skip") for k in pictures if decode]
        pipe.set_outputs(*outputs, *decoded)
    pipe.build()
    return pipe


def _read(path: str, kind: str) -> tuple[list[Any], list[int]]:
    """The outputs of the reader, and which of them are pictures."""
    common: dict[str, Any] = {"name": "Reader", "on_error": "skip"}
    if kind == "tfrecord":  # whatever features there are: messages are looked through as a whole
        return [*fn.readers.tfrecord(path=path, features={"": VarLenFeature(int64, 0)}, **common).values()], []
    if kind == "webdataset":
        (members,) = read_archives([path])
        extensions = [e for e in members.extensions if e and ";" not in e]
        if not extensions:
            raise ArgumentError(f"{path} has no samples")
        read = fn.readers.webdataset(paths=path, ext=extensions, **common)
        named = [k for k, e in enumerate(extensions) if e.lower() in _PICTURES]
        return [*read] if isinstance(read, list) else [read], named
    if kind == "file":
        return list(fn.readers.file(file_root=path, **common)), [0]
    return list(getattr(fn.readers, kind)(path=path, **common)), [0]


def _first_line(error: PenstockError) -> str:
    return str(error).partition("\n")[0]
