"""The benchmarks' photographs, made once and kept in bench/.photos (ignored by git)."""

from __future__ import annotations

from collections import deque
from pathlib import Path

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


def photos(name: str, count: int | None = None) -> Path:
    """The folder of one set (of ``count`` pictures only, for a short trial); writes it when it is not there."""
    full, style = SETS[name]
    count = min(count or full, full)
    root = FOLDER / (name if count == full else f"{name}-{count}")
    if not root.exists():
        print(f"writing {count} photographs to {root} ...", flush=True)
        deque(write_folder(root, count, style), maxlen=0)
    return root


def index_of(root: Path) -> Path:
    """The index of such a folder, beside it; makes it when it is not there."""
    path = root.with_name(f"{root.name}.jpegindex")
    if not path.exists():
        build_index([root], path)
    return path


def describe(root: Path) -> str:
    """For the head of a table: how many photographs and how large."""
    sizes = sorted(path.stat().st_size for path in root.glob("*/*.jpg"))
    return f"{len(sizes)} photographs of {sizes[0] / 1e3:.0f}-{sizes[-1] / 1e3:.0f} KB"
