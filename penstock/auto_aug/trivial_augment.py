"""TrivialAugment: each sample gets one augmentation, drawn from a list, of a strength that is drawn, too.

S. G. Müller and F. Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation", arXiv:2103.10158.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import fn, types
from penstock.auto_aug import augmentations as a
from penstock.auto_aug.core.augmentation import Augmentation
from penstock.auto_aug.core.magnitude import seed_of, signed_bin
from penstock.auto_aug.suites import Limits, apply_one, arguments, check_bins, check_data, shared, translations, without
from penstock.errors import ArgumentError
from penstock.graph.node import DataNode

_LIMITS = Limits(32, 1.0)


def trivial_augment_wide(
    data: DataNode,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    excluded: Sequence[str] | None = None,
) -> DataNode:
    """Applies one augmentation of the paper's wide space to each sample.

    - ``data``: HWC pictures or FHWC videos, UINT8.
    - ``num_magnitude_bins``: how many strengths there are.
    - ``shape``, ``fill_value``, ``interp_type``: see `penstock.auto_aug.auto_augment.auto_augment`.
    - ``max_translate_abs``, ``max_translate_rel``: the longest translation: 32 pixels, or the whole shape.
    - ``excluded``: names of augmentations that are not drawn.
    - ``seed``: of all that is drawn.

    Raises ArgumentError for names that are not there, and a limit that does not go with ``shape``.

    >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    ... def pipeline():
    ...     files, labels = fn.readers.file(file_root=photos)
    ...     return trivial_augment_wide(fn.decoders.image(files), seed=1)
    >>> pipeline().run()[0][1].shape()
    [375, 500, 3]
    """
    suite = get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel)
    chosen = without("trivial_augment_wide", suite, excluded)
    return apply_trivial_augment(chosen, data, num_magnitude_bins, seed, **shared(shape, fill_value, interp_type))


def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> DataNode:
    """The same with a list of augmentations. ``kwargs`` go to those that have arguments of these names."""
    check_bins("trivial_augment", num_magnitude_bins)
    if not augmentations:
        raise ArgumentError("trivial_augment: augmentations is empty: there is nothing to choose from")
    check_data("trivial_augment", data)
    given = arguments("apply_trivial_augment", augmentations, kwargs)
    whole: dict[str, Any] = {"dtype": types.INT32}
    magnitude = fn.random.uniform(values=list(range(num_magnitude_bins)), seed=seed_of(seed, 0), **whole)
    index = fn.random.uniform(values=list(range(len(augmentations))), seed=seed_of(seed, 1), **whole)
    strength = signed_bin(magnitude, seed=seed_of(seed, 2))
    return apply_one(augmentations, data, index, strength, num_magnitude_bins, given)


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The list that `trivial_augment_wide` draws from: 14 augmentations with wide ranges."""
    enhancing = ("brightness", "contrast", "color", "sharpness")
    return [
        *translations("trivial_augment_wide", _LIMITS, use_shape, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation(mag_range=(0, 0.99)),
        a.shear_y.augmentation(mag_range=(0, 0.99)),
        a.rotate.augmentation(mag_range=(0, 135)),
        *(getattr(a, name).augmentation(mag_range=(0.01, 0.99)) for name in enhancing),
        a.posterize.augmentation(mag_range=(8, 2)),
        a.solarize.augmentation(mag_range=(256, 0)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]
