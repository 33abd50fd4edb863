"""What the three ways of choosing augmentations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.auto_aug import augmentations as a
from penstock.auto_aug.core.augmentation import Augmentation
from penstock.auto_aug.core.magnitude import SignedBin
from penstock.auto_aug.core.select import select
from penstock.errors import ArgumentError, UnknownArgumentError
from penstock.graph.node import DataNode


class Limits(NamedTuple):
    """How far translations go unless it is said: in pixels, and as a part of the shape."""

    pixels: float
    part: float


def translations(
    name: str, limits: Limits, use_shape: bool, max_translate_abs: Any, max_translate_rel: Any
) -> list[Augmentation]:
    """``translate_x`` and ``translate_y``. A limit is a number, or a pair: of height and width."""
    wrong = ("max_translate_abs", max_translate_abs) if use_shape else ("max_translate_rel", max_translate_rel)
    if wrong[1] is not None:
        raise ArgumentError(f"{name}: {wrong[0]}={wrong[1]!r} goes {'without' if use_shape else 'with'} a shape")
    limit = max_translate_rel if use_shape else max_translate_abs
    if limit is None:
        limit = limits.part if use_shape else limits.pixels
    height, width = limit if isinstance(limit, (tuple, list)) else (limit, limit)
    x, y = (a.translate_x, a.translate_y) if use_shape else (a.translate_x_no_shape, a.translate_y_no_shape)
    return [x.augmentation(mag_range=(0, width)), y.augmentation(mag_range=(0, height))]


def without(name: str, augmentations: Sequence[Augmentation], excluded: Sequence[str] | None) -> list[Augmentation]:
    """Those of other names. ArgumentError for names that none has."""
    known = [x.name for x in augmentations]
    for word in excluded or ():
        if word not in known:
            raise ArgumentError(f"{name}: excluded={word!r}: there are: {', '.join(known)}")
    return [x for x in augmentations if x.name not in (excluded or ())]


def arguments(
    name: str, augmentations: Sequence[Augmentation], given: dict[str, Any]
) -> Callable[[Augmentation], dict[str, Any]]:
    """Which of these arguments an augmentation gets. UnknownArgumentError for one that none of them has."""
    for word in given:
        if word not in ("shape", "fill_value", "interp_type") and not any(x.takes(word) for x in augmentations):
            raise UnknownArgumentError(f"{name}: none of the augmentations has an argument {word!r}")
    return lambda augmentation: {k: v for k, v in given.items() if augmentation.takes(k)}


def shared(shape: Any, fill_value: int | None, interp_type: Any) -> dict[str, Any]:
    """The arguments that go to augmentations which have them."""
    found = {"fill_value": fill_value, "interp_type": interp_type}
    return found if shape is None else {**found, "shape": shape}


def check_data(name: str, data: Any) -> None:
    if not isinstance(data, DataNode):
        raise ArgumentError(f"{name}: data is {data!r}: expected a node")


def check_bins(name: str, bins: Any) -> None:
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ArgumentError(f"{name}: num_magnitude_bins={bins!r}: expected 1 or more")


def apply_one(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    index: DataNode,
    strength: SignedBin,
    bins: int,
    given: Callable[[Augmentation], dict[str, Any]],
) -> DataNode:
    """The augmentation of that index for each sample."""

    def function(augmentation: Augmentation) -> Callable[[DataNode], DataNode]:
        own = given(augmentation)
        if augmentation.mag_range is not None:
            own |= {"magnitude_bin": strength, "num_magnitude_bins": bins}
        return lambda part: augmentation(part, **own)

    made: DataNode = select(data, index, [function(augmentation) for augmentation in augmentations])
    return made
