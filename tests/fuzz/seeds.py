"""Sound pictures of every format and kind, small ones, out of which broken ones are made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from penstock.machine.codecs import codecs
from tests.decode.formats import saved
from tests.decode.pictures import chunk, exif, jpeg, png, smooth
from tests.decode.test_formats import FILES

RANDOM = np.random.default_rng(5)
PICTURE = smooth(RANDOM, 75, 53)
JPEGS = {
    f"jpeg {subsampling}{' progressive' * progressive}": jpeg(
        PICTURE, subsampling=subsampling, progressive=progressive, quality=quality
    )
    for subsampling, quality in (("4:4:4", 90), ("4:2:2", 75), ("4:2:0", 95), ("4:2:0", 40))
    for progressive in (False, True)
} | {
    "jpeg gray": jpeg(PICTURE[..., :1], "L"),
    "jpeg cmyk": jpeg(smooth(RANDOM, 40, 30, 4), "CMYK"),
    "jpeg restarts": jpeg(PICTURE, restart_marker_blocks=2),
    "jpeg progressive restarts": jpeg(PICTURE, progressive=True, restart_marker_rows=1),
    "jpeg optimized": jpeg(PICTURE, optimize=True, quality=60),
    "jpeg turned": jpeg(PICTURE, orientation=6),
    "jpeg turned, big endian": jpeg(PICTURE, orientation=3, little_endian=False),
}  # fmt: skip
PALETTE = chunk(b"PLTE", bytes(range(48)))
KINDS = [(0, 1, (1, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (2, 4)), (4, 2, (8,)), (6, 4, (8,))]  # samples, and their bits
NOTES = [chunk(b"eXIf", exif(5)), chunk(b"tEXt", b"Title\0any")]
PNGS = {
    f"png type {kind} of {bits} bits{' interlaced' * interlaced}": png(
        RANDOM.integers(0, 2**bits, (20, 31, samples)), kind, bits, interlaced, [PALETTE] if kind == 3 else NOTES
    )
    for kind, samples, depths in KINDS
    for bits in depths
    for interlaced in (False, True)
}
FRAMES = [Image.fromarray(smooth(RANDOM, 32, 24, 4)) for _ in range(3)]
LOSSY = {
    "webp lossy": saved(Image.fromarray(PICTURE), "WEBP", quality=60),
    "webp lossy alpha": saved(FRAMES[0], "WEBP", quality=60, exif=exif(8)),
    "webp animation": saved(FRAMES[0], "WEBP", save_all=True, append_images=FRAMES[1:]),
    "jp2 lossy": saved(Image.fromarray(PICTURE), "JPEG2000", irreversible=True, quality_layers=[20, 8]),
    "jp2 progression": saved(Image.fromarray(PICTURE), "JPEG2000", progression="RPCL", num_resolutions=3),
    "tiff jpeg": saved(Image.fromarray(PICTURE), "TIFF", compression="jpeg"),
    "tiff deflate predictor": saved(Image.fromarray(PICTURE), "TIFF", compression="tiff_adobe_deflate"),
    "tiff group 3": saved(Image.fromarray(PICTURE).convert("1"), "TIFF", compression="group3"),
    "tiff zstd": saved(Image.fromarray(PICTURE), "TIFF", compression="zstd"),
    "tiff lzma": saved(Image.fromarray(PICTURE), "TIFF", compression="lzma"),
    "tiff cmyk": saved(Image.fromarray(PICTURE).convert("CMYK"), "TIFF"),
    "tiff ycbcr": saved(Image.fromarray(PICTURE).convert("YCbCr"), "TIFF"),
    "tiff lab": saved(Image.fromarray(PICTURE).convert("LAB"), "TIFF"),
    "tiff float": saved(Image.fromarray(PICTURE[..., 0].astype(np.float32) / 255), "TIFF"),
}
SAMPLES = {f"{codec.name} sample": codec.sample for codec in codecs()}
SEEDS = {**{name: file for name, (file, _) in FILES.items()}, **JPEGS, **PNGS, **LOSSY, **SAMPLES}
LARGEST = 40_000  # bytes of a file of DALI_extra that is a seed, too


def write_seeds(folder: Path, dali_extra: Path | None) -> list[Path]:
    """All of them as files, with DALI_extra's small and broken ones where it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{i:03d}.bin" for i in range(len(SEEDS))]
    for path, file in zip(paths, SEEDS.values(), strict=True):
        path.write_bytes(file)
    if dali_extra:
        kinds = {pattern.removeprefix("*") for codec in codecs() for pattern in codec.patterns}
        for root in ("db/single", "db/fuzzing"):
            pictures = sorted(path for path in (dali_extra / root).rglob("*") if path.suffix in kinds)
            paths += [path for path in pictures if path.stat().st_size <= LARGEST]
    return paths
