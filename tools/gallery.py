"""`./dev gallery`: docs/gallery.md, what each operator on pictures makes of a photograph.

What it is asked for is what `./dev bench ops` times (bench/operators.py). The pictures are made on the CPU; `--check`
makes them all again, on this machine's GPU as well where there is one, and fails where one differs.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.operators import CASES, ON_GPU, Define  # noqa: E402
from penstock import Pipeline, fn, types  # noqa: E402
from penstock.errors import DeviceError  # noqa: E402
from penstock.machine import gpu  # noqa: E402
from penstock.op import registry  # noqa: E402
from tools.photographs import Style, photograph  # noqa: E402

FOLDER = ROOT / "docs" / "gallery"
RESULT = ROOT / "docs" / "gallery.md"
PHOTOGRAPH, SEED = "cat", 3
WIDTH = 240  # of what the page shows
HEAD = """# What the operators make of a photograph

Written by `./dev gallery`. The photograph is 500 x 375; results of other extents are shown at the same width. What is
not between 0 and 255 is stretched to that. On a GPU they are the same (`./dev gallery --check` on a machine with one).

| | |
| --- | --- |
"""


@dataclass(frozen=True)
class Exhibit:
    """One picture of the page."""

    operator: str
    arguments: str
    define: Define

    @property
    def name(self) -> str:
        return f"{self.operator}.{self.arguments}".rstrip(".") if self.arguments else self.operator

    @property
    def file(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.name).strip("-") + ".webp"


def exhibits() -> Iterator[Exhibit]:
    """All cases of photographs whose operators change pixels."""
    for operator in sorted({*CASES, *ON_GPU}):
        for kind, arguments, define in [*CASES.get(operator, []), *ON_GPU.get(operator, [])]:
            module = registry.ops[operator].__module__ if operator in registry.ops else ""
            old = operator in registry.ops and registry.ops[operator].deprecated
            if kind == "photos" and not old and module.startswith("penstock.augment.") and ".tensor." not in module:
                yield Exhibit(operator, arguments, define)


def source() -> np.ndarray[Any, Any]:
    """The photograph, HWC."""
    with Image.open(io.BytesIO(photograph(PHOTOGRAPH, SEED, Style()))) as picture:
        return np.asarray(picture.convert("RGB"))


def made(exhibit: Exhibit, picture: np.ndarray[Any, Any], device: str = "cpu") -> np.ndarray[Any, Any]:
    """What comes out of the operator."""
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None if device == "cpu" else 0, seed=1)
    with pipe:
        data = fn.external_source(lambda: [picture], layout="HWC")
        result = exhibit.define(fn, types, data.gpu() if device == "gpu" else data)
        pipe.set_outputs(result[0] if isinstance(result, (list, tuple)) else result)
    (output,) = pipe.run()
    return np.array((output.as_cpu() if device == "gpu" else output).at(0))


def shown(array: np.ndarray[Any, Any]) -> Image.Image | None:
    """As a picture; None where it is none."""
    if array.ndim == 3 and array.shape[0] in (1, 3) and array.shape[2] not in (1, 3):
        array = array.transpose(1, 2, 0)
    if array.ndim != 3 or array.shape[2] not in (1, 3) or min(array.shape) == 0:
        return None
    if array.dtype != np.uint8:
        low, high = float(array.min()), float(array.max())
        stretch = (array.astype(np.float64) - low) * (255 / max(high - low, 1e-9))
        array = np.rint(stretch).astype(np.uint8)
    picture = Image.fromarray(array[..., 0] if array.shape[2] == 1 else array)
    return picture.resize((WIDTH, max(1, round(WIDTH * picture.height / picture.width))), Image.Resampling.LANCZOS)


def pictures() -> Iterator[tuple[Exhibit, Image.Image]]:
    """All that the page shows."""
    photo = source()
    for exhibit in exhibits():
        picture = shown(made(exhibit, photo))
        if picture is not None:
            yield exhibit, picture


def write() -> None:
    """The page and its pictures; those that are no longer shown go."""
    FOLDER.mkdir(exist_ok=True)
    lines, files = [HEAD.rstrip()], {"photograph.webp"}
    original = shown(source())
    assert original is not None
    original.save(FOLDER / "photograph.webp", quality=80)
    lines.append("| the photograph | ![photograph](gallery/photograph.webp) |")
    for exhibit, picture in pictures():
        picture.save(FOLDER / exhibit.file, quality=80)
        files.add(exhibit.file)
        arguments = f" ({exhibit.arguments})" if exhibit.arguments else ""
        lines.append(f"| `{exhibit.operator}`{arguments} | ![{exhibit.operator}](gallery/{exhibit.file}) |")
    for old in FOLDER.glob("*.webp"):
        if old.name not in files:
            old.unlink()
    RESULT.write_text("\n".join(lines) + "\n")


def coarse(picture: Image.Image) -> np.ndarray[Any, Any]:
    """Without the grain, most of which a compressed file loses."""
    return np.asarray(picture.convert("RGB").reduce(6), float)


def differences(on_gpu: bool) -> Iterator[str]:
    """Pictures that are not those of docs/gallery, or that a GPU makes otherwise: by more than roundings."""
    photo, text = source(), RESULT.read_text() if RESULT.exists() else ""
    for exhibit in exhibits():
        result = made(exhibit, photo)
        picture = shown(result)
        if picture is None:
            continue
        file = FOLDER / exhibit.file
        if f"(gallery/{exhibit.file})" not in text or not file.exists():
            yield f"{exhibit.name}: not on the page"
        else:
            with Image.open(file) as kept:
                apart = np.abs(coarse(kept) - coarse(picture))
            if apart.mean() > 3:  # as much as the file's compression takes
                yield f"{exhibit.name}: another picture than {file.relative_to(ROOT)}"
        if on_gpu and "gpu" in registry.ops[exhibit.operator].devices:
            there = made(exhibit, photo, "gpu").astype(np.float64)
            scale = max(1.0, float(np.abs(result.astype(np.float64)).max()))
            apart = np.abs(there - result) > max(1.0 if result.dtype.kind in "iu" else 0, 1e-4 * scale)
            if apart.mean() > 1e-3:  # where a position is half-way between two pixels, its rounding decides
                yield f"{exhibit.name}: another picture on the GPU"


def has_gpu() -> bool:
    """Whether this machine has one that can be used."""
    try:
        return gpu.count() > 0
    except DeviceError:
        return False


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev gallery", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail where the page is not up to date")
    if not parser.parse_args(arguments).check:
        write()
        return 0
    found = list(differences(has_gpu()))
    print("\n".join(found), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
