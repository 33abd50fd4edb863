"""The augmentations that AutoAugment, RandAugment and TrivialAugment choose from, for UINT8 pictures and videos.

Each is an `Augmentation`: called with ``magnitude_bin`` and ``num_magnitude_bins``; with other ranges, by
``.augmentation(mag_range=...)``. Those that move pixels take ``fill_value`` (None: the border's pixels) and
``interp_type``.

>>> from penstock.auto_aug import augmentations
>>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
... def pipeline():
...     picture = types.Constant(np.uint8([[[10], [200]]]), layout="HWC", device="cpu")
...     return augmentations.solarize(picture, magnitude_bin=1, num_magnitude_bins=3)
>>> pipeline().run()[0].at(0).ravel().tolist()
[10, 55]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import fn, math, types
from penstock.auto_aug.core.augmentation import augmentation
from penstock.graph.node import DataNode

Array = np.ndarray[Any, Any]


def warp_x_param(magnitude: float) -> list[float]:
    """A magnitude along the width."""
    return [magnitude, 0]


def warp_y_param(magnitude: float) -> list[float]:
    """A magnitude along the height."""
    return [0, magnitude]


def shift_enhance_range(magnitude: float) -> Array:
    """From -1 to 1, where 0 changes nothing, to the factors from 0 to 2 that enhancing has."""
    return np.asarray(1 + magnitude)


def sharpness_kernel(magnitude: float) -> Array:
    """The kernel that adds so much of a picture's difference from its smoothed version."""
    smoothed = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13
    itself = np.zeros((3, 3), np.float32)
    itself[1, 1] = 1
    return np.asarray(itself + np.float32(magnitude) * (itself - smoothed), np.float32)


def sharpness_kernel_shifted(magnitude: float) -> Array:
    """The same for factors from 0 to 2, where 1 changes nothing."""
    return sharpness_kernel(magnitude - 1)


def poster_mask_uint8(magnitude: float) -> Array:
    """A mask of so many upper bits, of one at least."""
    bits = max(round(magnitude), 1)
    return np.array(256 - (1 << (8 - min(bits, 8))), np.uint8)


def solarize_add_shift(shift: float) -> Array:
    """What is added to dark pixels: up to 128, beyond which they would wrap."""
    return np.asarray(min(max(shift, 0), 128), np.uint8)


def _warped(data: DataNode, matrix: DataNode, fill_value: float | None, interp_type: Any) -> DataNode:
    made: DataNode = fn.warp_affine(
        data, matrix=matrix, fill_value=fill_value, interp_type=interp_type, inverse_map=False
    )
    return made


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param)
def shear_x(data: DataNode, shear: Any, fill_value: float | None = 128, interp_type: Any = None) -> DataNode:
    """Shears along the width."""
    return _warped(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param)
def shear_y(data: DataNode, shear: Any, fill_value: float | None = 128, interp_type: Any = None) -> DataNode:
    """Shears along the height."""
    return _warped(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


def _moved_in_part(data: DataNode, part: Any, shape: Any, fill_value: float | None, interp_type: Any) -> DataNode:
    """By a part of the picture's extents, ``shape``, which are height and width."""
    if isinstance(shape, DataNode):
        extents = fn.stack(shape[1], shape[0])
    else:
        extents = types.Constant(np.array([shape[1], shape[0]], np.float32), device="cpu")
    return _warped(data, fn.transforms.translation(offset=part * extents), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(
    data: DataNode, rel_offset: Any, shape: Any, fill_value: float | None = 128, interp_type: Any = None
) -> DataNode:
    """Moves along the width, by a part of it."""
    return _moved_in_part(data, rel_offset, shape, fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x")
def translate_x_no_shape(
    data: DataNode, offset: Any, fill_value: float | None = 128, interp_type: Any = None
) -> DataNode:
    """Moves along the width, by pixels."""
    return _warped(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(
    data: DataNode, rel_offset: Any, shape: Any, fill_value: float | None = 128, interp_type: Any = None
) -> DataNode:
    """Moves along the height, by a part of it."""
    return _moved_in_part(data, rel_offset, shape, fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y")
def translate_y_no_shape(
    data: DataNode, offset: Any, fill_value: float | None = 128, interp_type: Any = None
) -> DataNode:
    """Moves along the height, by pixels."""
    return _warped(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(
    data: DataNode,
    angle: Any,
    fill_value: float | None = 128,
    interp_type: Any = None,
    rotate_keep_size: bool = True,
) -> Any:
    """Turns about the middle, by degrees."""
    return fn.rotate(data, angle=angle, fill_value=fill_value, interp_type=interp_type, keep_size=rotate_keep_size)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data: DataNode, parameter: Any) -> Any:
    """Multiplies."""
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data: DataNode, parameter: Any) -> Any:
    """Multiplies the difference from the picture's mean of greys."""
    of_channels = fn.reductions.mean(data, axis_names="HW", keep_dims=True)
    mean = fn.reductions.sum(of_channels * np.array([0.299, 0.587, 0.114], np.float32), axis_names="C", keep_dims=True)
    return fn.cast_like(mean + (data - mean) * parameter, data)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data: DataNode, parameter: Any) -> Any:
    """Multiplies the saturation."""
    return fn.saturation(data, saturation=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel, param_device="auto")
def sharpness(data: DataNode, kernel: Any) -> Any:
    """Adds of the difference from the smoothed picture."""
    return fn.filter(data, kernel)


@augmentation(mag_range=(0, 4), mag_to_param=poster_mask_uint8, param_device="auto")
def posterize(data: DataNode, mask: Any) -> Any:
    """Keeps upper bits, as many as the magnitude."""
    return data & mask


@augmentation(mag_range=(256, 0), param_device="auto")
def solarize(data: DataNode, threshold: Any) -> Any:
    """Inverts pixels from the threshold on."""
    dark = data < threshold
    return fn.cast(data * dark + (255 - data) * (dark ^ True), dtype=types.UINT8)


@augmentation(mag_range=(0, 110), mag_to_param=solarize_add_shift, param_device="auto")
def solarize_add(data: DataNode, shift: Any) -> Any:
    """Adds to pixels below 128."""
    return data + shift * (data < 128)


@augmentation
def invert(data: DataNode, _: None) -> Any:
    """255 less each pixel."""
    return fn.cast(255 - data, dtype=types.UINT8)


@augmentation
def equalize(data: DataNode, _: None) -> Any:
    """Evens the histogram of each channel."""
    return fn.equalize(data)


@augmentation
def auto_contrast(data: DataNode, _: None) -> Any:
    """Stretches each channel over all of the range, unless it is of one value."""
    axes: dict[str, Any] = {"axis_names": "HW", "keep_dims": True}
    low, high = fn.reductions.min(data, **axes), fn.reductions.max(data, **axes)
    several = low < high
    scale = math.max(255 * several / math.max(high - low, 1), several ^ True)
    return fn.cast_like((data - low * several) * scale, data)


@augmentation
def identity(data: DataNode, _: None) -> DataNode:
    """Nothing."""
    return data
