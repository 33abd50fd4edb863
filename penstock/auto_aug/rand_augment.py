"""RandAugment: each sample gets ``n`` augmentations, drawn from a list, all of one strength.

E. D. Cubuk and others, "RandAugment: Practical automated data augmentation with a reduced search space",
arXiv:1909.13719.
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

_LIMITS = Limits(100, 100 / 224)


def rand_augment(
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: int | None = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Sequence[str] | None = None,
) -> DataNode:
    """Applies ``n`` augmentations of strength ``m`` to each sample.

    - ``data``: HWC pictures or FHWC videos, UINT8.
    - ``m``: the magnitude's bin, from 0 to ``num_magnitude_bins`` less one.
    - ``shape``, ``fill_value``, ``interp_type``: see `penstock.auto_aug.auto_augment.auto_augment`.
    - ``max_translate_abs``, ``max_translate_rel``: the longest translation: 100 pixels, or 100/224 of the shape.
    - ``monotonic_mag``: stronger with each bin. Else `get_rand_augment_non_monotonic_suite` is drawn from.
    - ``excluded``: names of augmentations that are not drawn.
    - ``seed``: of all that is drawn.

    Raises ArgumentError for bins and names that are not there, and a limit that does not go with ``shape``.

    >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    ... def pipeline():
    ...     files, labels = fn.readers.file(file_root=photos)
    ...     return rand_augment(fn.decoders.image(files), n=2, m=9, excluded=["posterize"], seed=1)
    >>> pipeline().run()[0][1].shape()
    [375, 500, 3]
    """
    make = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    suite = without("rand_augment", make(shape is not None, max_translate_abs, max_translate_rel), excluded)
    return apply_rand_augment(suite, data, n, m, num_magnitude_bins, seed, **shared(shape, fill_value, interp_type))


def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> DataNode:
    """The same with a list of augmentations. ``kwargs`` go to those that have arguments of these names."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ArgumentError(f"rand_augment: n={n!r}: expected how many augmentations, 0 or more")
    check_bins("rand_augment", num_magnitude_bins)
    if isinstance(m, bool) or not isinstance(m, int) or not 0 <= m < num_magnitude_bins:
        raise ArgumentError(f"rand_augment: m={m!r}: expected 0 to {num_magnitude_bins - 1}")
    if n and not augmentations:
        raise ArgumentError("rand_augment: augmentations is empty: there is nothing to choose from")
    check_data("rand_augment", data)
    given = arguments("apply_rand_augment", augmentations, kwargs)
    for k in range(n):
        index = fn.random.uniform(values=list(range(len(augmentations))), dtype=types.INT32, seed=seed_of(seed, 2 * k))
        strength = signed_bin(m, seed=seed_of(seed, 2 * k + 1))
        data = apply_one(augmentations, data, index, strength, num_magnitude_bins, given)
    return data


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The list that `rand_augment` draws from. With ``use_shape`` translations are parts of the argument ``shape``."""
    return [
        *_moving(use_shape, max_translate_abs, max_translate_rel),
        *(
            getattr(a, name).augmentation(mag_range=(0, 0.9))
            for name in ("brightness", "contrast", "color", "sharpness")
        ),
        a.posterize.augmentation(mag_range=(8, 4)),
        a.solarize.augmentation(mag_range=(256, 0)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The list with AutoAugment's ranges: for colours, where the middle changes least, and for posterize and solarize,
    where the first bin is the strongest."""
    factors: dict[str, Any] = {"mag_range": (0.1, 1.9), "randomly_negate": False}
    return [
        *_moving(use_shape, max_translate_abs, max_translate_rel),
        *(getattr(a, name).augmentation(**factors, mag_to_param=None) for name in ("brightness", "contrast", "color")),
        a.sharpness.augmentation(**factors, mag_to_param=a.sharpness_kernel_shifted),
        a.posterize.augmentation(mag_range=(0, 4)),
        a.solarize.augmentation(mag_range=(0, 256)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


def _moving(use_shape: bool, max_translate_abs: Any, max_translate_rel: Any) -> list[Augmentation]:
    return [
        *translations("rand_augment", _LIMITS, use_shape, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation(mag_range=(0, 0.3)),
        a.shear_y.augmentation(mag_range=(0, 0.3)),
        a.rotate.augmentation(mag_range=(0, 30)),
    ]
