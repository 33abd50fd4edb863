"""Tar archives, made in memory, and indexes as wds2idx writes them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence

Member = tuple[str, bytes | tarfile.TarInfo]


def tar(members: Sequence[Member], form: int = tarfile.USTAR_FORMAT) -> bytes:
    """An archive of files of these names and contents, or of what descriptors say."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, data in members:
            if isinstance(data, tarfile.TarInfo):
                archive.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def special(name: str, kind: bytes, link: str = "") -> Member:
    """A folder, a link ..."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return name, info


def index(archive: bytes, version: str = "v1.2") -> bytes:
    """Its index."""
    samples: dict[str, list[str]] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened:
            stem, _, extension = member.name.rpartition("/")[2].partition(".")
            named = f" {member.name}" if version == "v1.2" else ""
            line = f"{extension} {member.offset_data} {member.size}{named}"
            samples.setdefault(f"{member.name.rpartition('/')[0]}/{stem}", []).append(line)
    return f"{version} {len(samples)}\n".encode() + "".join(" ".join(s) + "\n" for s in samples.values()).encode()


def cut(archive: bytes, name: str) -> bytes:
    """What is left of it if it ends in the middle of a file."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        member = opened.getmember(name)
    return archive[: member.offset_data + member.size // 2]
