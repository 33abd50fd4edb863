"""``fn.readers.nemo_asr``: sounds and texts that manifests list."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from penstock import types
from penstock.arguments.quality import ResampleQualityArgs
from penstock.errors import ReadError
from penstock.graph.blame import warn
from penstock.op import REQUIRED, arg, op
from penstock.read.base import SamplesShuffler
from penstock.read.contents import contents, problem
from penstock.read.index import Column, Index, digest_of, has_scheme, is_absolute, packed
from penstock.read.json_file import loads
from penstock.types import UINT8


class Entry(NamedTuple):
    """A line of a manifest."""

    name: str
    offset: float
    duration: float
    text: str


@op("readers.nemo_asr", kernel="read_ranges", inputs=0, legacy=["nemo_asr_reader"])
class NemoAsr(ResampleQualityArgs, SamplesShuffler):
    """Reads sounds for speech recognition, as manifests of NVIDIA NeMo list them.

    A manifest has a JSON object on each line: ``audio_filepath``, ``text`` (default ""), and in seconds ``offset``
    (default 0) and ``duration`` (default: all that follows). Only that part of the sound is decoded. Names are relative
    to the current folder or, if the first one is not there, to the manifest's. Lines that are no such object are left
    out, with a warning that counts them.

    Outputs: the samples, see `fn.decoders.audio`: of shape ``(samples,)``, or ``(samples, channels)`` with
    ``downmix=False``; with ``read_sample_rate`` the file's rate, FLOAT, also where the sound was resampled; with
    ``read_text`` the text's bytes in UTF-8; with ``read_idxs`` the number of the sample in the manifests, INT64 of
    shape ``(1,)``, of those that the durations let through.

    Errors: ArgumentError for manifests without samples; ReadError for manifests and sounds that cannot be read;
    DecodeError for sounds that are broken, and parts that begin behind the end.

    Example:
        >>> with open(f"{folder}/manifest.json", "w") as file:
        ...     for i in range(2):
        ...         line = f'{{"audio_filepath": "{sounds}/a/{i}.wav", "duration": 0.05, "text": "{i}"}}'
        ...         print(line, file=file)
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.nemo_asr(manifest_filepaths=[f"{folder}/manifest.json"]))
        >>> sound, rate, text = pipeline().run()
        >>> sound.at(1).shape, float(rate.at(1)), bytes(text.at(1))
        ((400,), 8000.0, b'1')
    """

    manifest_filepaths = arg(REQUIRED, "The manifests.", kind="paths", to_kernel=False, aka=["manifests", "paths"])
    read_sample_rate = arg(True, "Whether the file's rate is an output.", to_kernel=False)
    read_text = arg(True, "Whether the text is an output.", to_kernel=False)
    read_idxs = arg(False, "Whether the sample's number is an output.", to_kernel=False)
    min_duration = arg(0.0, "Shorter samples are left out, in seconds.", to_kernel=False)
    max_duration = arg(0.0, "Longer samples are left out, in seconds; 0: none are.", to_kernel=False)
    normalize_text = arg(
        None,
        "Nothing.",
        kind="boolean",
        to_kernel=False,
        deprecated="texts are as they are written",
        unused="texts are as they are written",
    )
    sample_rate = arg(-1.0, "Samples for a second of the result; 0 or less: as in the file.", to_kernel=False)
    downmix = arg(True, "Mix all channels to one.", to_kernel=False)
    dtype = arg(types.FLOAT, "Type of the samples.", choices=(types.FLOAT, types.INT16, types.INT32), to_kernel=False)
    quality = arg(50.0, "See `fn.decoders.audio`.", to_kernel=False)

    def num_outputs(self) -> int:
        return 4  # of the node; the operators behind make those of the call of them

    def gives_list(self) -> bool:
        return bool(self.read_sample_rate or self.read_text or self.read_idxs)

    def behind(self, outputs: list[Any], make: Callable[..., list[Any]]) -> list[Any]:
        file, part, text, number = outputs
        given = {name: getattr(self, name) for name in ("sample_rate", "downmix", "dtype", "quality", "on_error")}
        sound, rate = make("_readers.nemo_sound", [file, part], **given)
        wanted = [(self.read_sample_rate, rate), (self.read_text, text), (self.read_idxs, number)]
        return [sound, *(output for asked, output in wanted if asked)]

    def make_index(self) -> Index:
        entries = [entry for path in self.manifest_filepaths for entry in self._chosen(path)]
        if not entries:
            raise self.wrong("manifest_filepaths", "no line of them is a sample that is to be read")
        names = [entry.name for entry in entries]
        texts = [entry.text.encode(errors="replace") for entry in entries]
        starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        parts = np.array([(entry.offset, entry.duration) for entry in entries])
        return Index(
            size=len(entries),
            names=packed(names),
            digest=digest_of(names, (parts,)),
            types=[UINT8],
            columns=(
                Column(parts),
                Column(np.frombuffer(b"".join(texts), np.uint8), starts),
                Column(np.arange(len(entries), dtype=np.int64)[:, None]),
            ),
        )

    def _chosen(self, path: str) -> Iterator[Entry]:
        for entry in _located(_entries(path), path):
            known = max(entry.duration, 0)  # as DALI has it, of which no duration is one of none
            if not (known < self.min_duration or 0 < self.max_duration < known):  # what is no number leaves none out
                yield entry


def _entries(path: str) -> list[Entry]:
    try:
        lines = contents(path).splitlines()
    except OSError as e:
        raise ReadError(f"readers.nemo_asr: the manifest {path} cannot be read: {problem(e)}") from e
    found = [entry for line in lines if (entry := _entry(line))]
    bad = sum(bool(line.strip()) for line in lines) - len(found)
    if bad:
        warn(
            f"readers.nemo_asr: {bad} of {len(lines)} lines of {path} are left out: they describe no sound", UserWarning
        )
    return found


def _entry(line: bytes) -> Entry | None:
    try:
        fields = loads(line)
    except ValueError:
        return None
    if not isinstance(fields, dict):
        return None
    name, text = fields.get("audio_filepath"), fields.get("text", "")
    offset, duration = fields.get("offset", 0), fields.get("duration", -1)
    if not (isinstance(name, str) and name and "\0" not in name and isinstance(text, str)):
        return None
    for number in (offset, duration):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            return None
    return Entry(name, float(offset), float(duration), text)


def _located(entries: list[Entry], manifest: str) -> list[Entry]:
    """With names in the manifest's folder, if that is where the first of them is, or the manifest is no file of the
    disk.
    """
    first = entries[0].name if entries else ""
    folder = os.path.dirname(manifest)
    if not has_scheme(manifest) and (
        not first or is_absolute(first) or os.path.exists(first) or not os.path.exists(os.path.join(folder, first))
    ):
        return entries
    return [e if is_absolute(e.name) else e._replace(name=os.path.join(folder, e.name)) for e in entries]
