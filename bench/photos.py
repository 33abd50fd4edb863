"""The benchmarks' photographs, made once and kept in bench/.photos (ignored by git)."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any

from PIL import Image

from penstock.decode.jpeg_index import build_index
from tools.photographs import Style, write_folder

FOLDER = Path(__file__).parent / ".photos"

# Chroma subsampling changes what a decoder spends its time on; ImageNet's own pictures are mostly 4:4:4 at quality 96.
SETS = {
    "420": (2048, Style(quality=(90, 96), subsampling="4:2:0")),
    "444": (2048, Style(quality=(96, 96), subsampling="4:4:4")),
    "12mp": (48, Style(4000, 3000, quality=(85, 92), subsampling="4:2:0", kilobytes=(1500, 3000))),
    "demo": (1200, Style()),
}
# Photographs of another set written anew: how many, and how, in turn.
Coding = tuple[str, dict[str, Any]]
AS_IS: Coding = ("", {})
PROGRESSIVE: Coding = ("jpeg", {"quality": "keep", "progressive": True})
PNG: Coding = ("png", {})
REWRITTEN: dict[str, tuple[str, int, list[Coding]]] = {
    "progressive": ("420", 1000, [PROGRESSIVE]),
    "png": ("444", 512, [PNG]),
    "webp": ("444", 512, [("webp", {"quality": 90})]),
    "webp-lossless": ("444", 256, [("webp", {"lossless": True, "method": 2})]),
    "mixed": ("420", 1000, [AS_IS] * 20 + [PROGRESSIVE] * 4 + [PNG]),
}


def photos(name: str, count: int | None = None) -> Path:
    """The folder of one set (of ``count`` pictures only, for a short trial); writes it when it is not there."""
    if name in REWRITTEN:
        return _rewritten(name, count)
    full, style = SETS[name]
    count = min(count or full, full)
    root = FOLDER / (name if count == full else f"{name}-{count}")
    if not root.exists():
        print(f"writing {count} photographs to {root} ...", flush=True)
        deque(write_folder(root, count, style), maxlen=0)
    return root


def _rewritten(name: str, count: int | None) -> Path:
    source, full, codings = REWRITTEN[name]
    count = min(count or full, full)
    root = FOLDER / (name if count == full else f"{name}-{count}")
    if root.exists():
        return root
    unfinished = root.with_name(root.name + ".unfinished")
    originals = photos(source, count)
    print(f"writing {count} photographs to {root} ...", flush=True)

    def write(path: Path, coding: Coding) -> None:
        kind, options = coding
        to = unfinished / path.relative_to(originals)
        to.parent.mkdir(parents=True, exist_ok=True)
        if kind:
            Image.open(path).save(to.with_suffix(f".{kind}"), kind, **options)
        else:
            to.write_bytes(path.read_bytes())

    paths = sorted(originals.glob("*/*.jpg"), key=lambda path: (path.name, path.parent))[:count]  # of all classes
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        deque(pool.map(write, paths, cycle(codings)), maxlen=0)
    unfinished.rename(root)
    return root


def index_of(root: Path) -> Path:
    """The index of such a folder, beside it; makes it when it is not there."""
    path = root.with_name(f"{root.name}.jpegindex")
    if not path.exists():
        build_index([root], path)
    return path


def describe(root: Path) -> str:
    """For the head of a table: how many photographs and how large."""
    sizes = sorted(path.stat().st_size for path in root.glob("*/*"))
    return f"{len(sizes)} photographs of {sizes[0] / 1e3:.0f}-{sizes[-1] / 1e3:.0f} KB"
