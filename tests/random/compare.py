"""Whether two outcomes are alike, and how they differ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.op import registry
from tests.random.case import Case
from tests.random.outcome import Array, Outcome, Output
from tests.runners import differences

# Integers that are rounded from sums in another order, and by how much they may be off. (When resizing, halves too: to
# even here, and to even or up in DALI, as its vectors fall.)
RESIZES = ("resize", "resize_crop_mirror", "fast_resize_crop_mirror", "tensor_resize")
OFF_BY = dict.fromkeys(("gaussian_blur", "laplacian", "filter", "normalize", *RESIZES), 1) | {
    "audio_resample": 300, "nonsilent_region": 1,
}  # fmt: skip
SOUNDS = ("decoders.audio", "readers.nemo_asr")
# Of floats, to the larger of 1 and the largest value; rather more behind differences of large numbers, and where a
# position's last bits count.
TOLERANCE = dict.fromkeys(RESIZES, 5e-5) | {
    "gaussian_blur": 2e-5, "laplacian": 2e-5, "filter": 1e-4, "normalize": 1e-4, "reductions.variance": 1e-4,
    "reductions.std_dev": 1e-4, "audio_resample": 1e-2, "mel_filter_bank": 1e-4, "mfcc": 1e-4,
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """``kind``: crash, only ours raises, class, outputs, dtype, layout, shape, values, fusion; ``error``: our class.

    ``ours`` and ``dalis`` are the arrays of the output that differs.
    """

    kind: str
    detail: str
    error: str = ""
    ours: tuple[Array, ...] = field(default=(), compare=False, repr=False)
    dalis: tuple[Array, ...] = field(default=(), compare=False, repr=False)


def is_random(case: Case) -> bool:
    return any(name in registry.ops and registry.ops[name].random for name in case.operators())


def compare(case: Case, dali: Outcome, ours: Outcome) -> Difference | None:
    """None as well where DALI died, and where DALI alone refuses: this library may do more."""
    if ours.died:
        return Difference("crash", ours.died)
    if not ours.ran and not ours.own:
        return Difference("class", f"{ours} is none of the library's own", ours.error)
    if dali.died or (ours.ran and not dali.ran):
        return None
    if not ours.ran:
        if dali.ran:
            return Difference("only ours raises", str(ours), ours.error)
        if dali.classes[0] not in ours.classes and dali.classes[0] != "AssertionError":
            return Difference("class", f"{ours}, DALI {dali}", ours.error)
        return None
    return _of_outputs(case, dali.outputs, ours.outputs)


def compare_fusion(fused: Outcome, unfused: Outcome) -> Difference | None:
    """Fusion changes no bit. What a crop does not need of a file that is cut off is decoded by no fused operator."""
    if fused.ran and unfused.error == "DecodeError" and "too early" in unfused.message:
        return None
    if fused.ran == unfused.ran and list(map(_bits, fused.outputs)) == list(map(_bits, unfused.outputs)):
        return None
    return Difference("fusion", f"{fused}, unfused {unfused}")


def _bits(output: Output) -> tuple[Any, ...]:
    return output.dtype, output.layout, [(a.shape, a.tobytes()) for a in output.arrays]


def _of_outputs(case: Case, dali: tuple[Output, ...], ours: tuple[Output, ...]) -> Difference | None:
    if len(dali) != len(ours):
        return Difference("outputs", f"{len(ours)}, DALI {len(dali)}")
    for a, b in zip(ours, dali, strict=True):
        for kind, x, y in (
            ("dtype", a.dtype, b.dtype),
            ("layout", a.layout, b.layout),
            ("shape", shapes(case, a), shapes(case, b)),
        ):
            if x != y:
                return Difference(kind, f"{x!r}, DALI {y!r}", ours=a.arrays, dalis=b.arrays)
        if is_random(case):
            continue
        for i, (x, y) in enumerate(zip(a.arrays, b.arrays, strict=True)):
            if not alike(case, x, y):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # where nothing but NaN differs
                    detail = f"sample {i}: {differences(np.where(differing(case, x, y), x, y), y)} (ours != DALI's)"
                return Difference("values", detail, ours=a.arrays, dalis=b.arrays)
    return None


def shapes(case: Case, output: Output) -> list[tuple[int, ...]]:
    """The extents of random crops are random, too, and how many boxes such a one keeps."""
    drawn = 2 if "decoders.image_random_crop" in case.operators() else int("random_bbox_crop" in case.operators())
    return [a.shape[drawn:] for a in output.arrays]


def alike(case: Case, ours: Array, dali: Array) -> bool:
    """What is done to a pixel that is off by one may make more of it: behind such operators few may differ by more.

    Many may by a hundredth of the largest value, which is what becomes of one: a row of pixels may have been enlarged.
    """
    behind = bool(OFF_BY.keys() & set(case.operators()[:-1]))
    where = differing(case, ours, dali)
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours[where].astype(np.float64) - dali[where].astype(np.float64))
    if behind and np.all(apart <= max(1, 0.01 * np.max(np.abs(dali.astype(np.float64)), initial=0))):
        return int(np.sum(where)) <= max(3, 0.5 * ours.size)
    return int(np.sum(where)) <= (max(3, 0.04 * ours.size) if behind else 0)


def _computing(case: Case) -> list[str]:
    """The operators, with one more for those that resample sounds as they read them."""
    names = case.operators()
    return [*names, "audio_resample"] if "sample_rate" in case.last.given() and names[-1] in SOUNDS else names


def differing(case: Case, ours: Array, dali: Array) -> Any:
    """Where they are further apart than they may be."""
    names = _computing(case)
    tolerance = max([1e-5, *(TOLERANCE.get(name, 0) for name in names)])
    if ours.dtype.kind == "f":
        tolerance = max(tolerance, 2.0**-9 if ours.dtype == np.float16 or "FLOAT16" in case.text() else 0)
        with np.errstate(invalid="ignore"):  # NaN of other kinds
            return ~near(ours.astype(np.float64), dali.astype(np.float64), tolerance)
    off_by = max(OFF_BY.get(name, 0) for name in names)
    if len(case.calls) > 1:
        off_by = max(off_by, 1)  # a float of the step before may be rounded to either side
    if off_by and ours.dtype.itemsize >= 4:  # which were floats on the way
        off_by = max(off_by, int(tolerance * float(np.max(np.abs(dali.astype(np.float64)), initial=0))))
    if not off_by or ours.dtype == np.bool_:
        return ours != dali
    return np.where(ours > dali, ours - dali, dali - ours) > off_by


def near(a: Any, b: Any, tolerance: float) -> Any:
    with np.errstate(invalid="ignore", over="ignore"):
        scale = max(1.0, float(np.max(np.abs(b), initial=0, where=np.isfinite(b))))
        return (np.abs(a - b) <= tolerance * scale) | (a == b) | (np.isnan(a) & np.isnan(b))
