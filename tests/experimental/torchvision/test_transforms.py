"""Transforms beside DALI's, and beside what torchvision documents, in NumPy and Pillow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
Image = pytest.importorskip("PIL.Image", reason="needs Pillow")

from penstock.experimental import torchvision as tv  # noqa: E402
from tests.experimental.torchvision.oracle import dalis  # noqa: E402

Array = np.ndarray[Any, Any]


def pixels(height: int = 37, width: int = 52, channels: int = 3) -> Array:
    """A picture that is neither noise nor flat."""
    y, x, c = np.mgrid[:height, :width, :channels]
    return ((x * 5 + y * 3 * (c + 1)) % 256 * 0.7 + 30 * np.sin(x / 3 + c)).clip(0, 255).astype(np.uint8)


def picture(array: Array) -> Any:
    return Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)


def tensor(array: Array) -> Any:
    return torch.from_numpy(array.transpose(2, 0, 1).copy())


def hwc(given: Any) -> Array:
    """What a transform gave, as an array with the channels last."""
    array = np.asarray(given)
    if isinstance(given, torch.Tensor):
        return array.transpose(1, 2, 0)
    return array[:, :, None] if array.ndim == 2 else array


# Of the module that makes them: ours, or DALI's.
FIXED: dict[str, Callable[[Any], Any]] = {
    "flip": lambda m: m.RandomHorizontalFlip(p=1.0),
    "no flip": lambda m: m.RandomHorizontalFlip(p=0.0),
    "upside down": lambda m: m.RandomVerticalFlip(p=1.0),
    "centre": lambda m: m.CenterCrop(21),
    "centre of two": lambda m: m.CenterCrop((20, 31)),
    "centre beyond": lambda m: m.CenterCrop((61, 72)),
    "pad": lambda m: m.Pad(3),
    "pad by two, edge": lambda m: m.Pad((2, 7), padding_mode="edge"),
    "pad by four, reflect": lambda m: m.Pad((1, 2, 3, 4), padding_mode="reflect"),
    "pad, symmetric": lambda m: m.Pad(5, padding_mode="symmetric"),
    "pad, filled": lambda m: m.Pad(5, fill=17),
    "resize": lambda m: m.Resize((19, 23)),
    "resize the shorter side": lambda m: m.Resize(18),
    "resize, at most": lambda m: m.Resize(30, max_size=33),
    "resize the longer side": lambda m: m.Resize(None, max_size=29),
    "resize up, cubic": lambda m: m.Resize((61, 70), interpolation=m.InterpolationMode.BICUBIC),
    "resize, nearest": lambda m: m.Resize((19, 23), interpolation=0, antialias=False),
    "resize, Lanczos": lambda m: m.Resize([20], interpolation=m.InterpolationMode.LANCZOS),
    "blur": lambda m: m.GaussianBlur(5, sigma=1.5),
}
OF_COLOURS: dict[str, Callable[[Any], Any]] = {
    "gray": lambda m: m.Grayscale(),
    "gray of three": lambda m: m.Grayscale(3),
    "always gray": lambda m: m.RandomGrayscale(p=1.0),
    "never gray": lambda m: m.RandomGrayscale(p=0.0),
    "jitter": lambda m: m.ColorJitter((0.5, 0.5), (1.2, 1.2), (0.3, 0.3), (0.1, 0.1)),
    "apply": lambda m: m.RandomApply([m.RandomHorizontalFlip(p=1.0), m.Pad(2)], p=1.0),
    "apply none": lambda m: m.RandomApply([m.RandomHorizontalFlip(p=1.0)], p=0.0),
}


@pytest.mark.parametrize("name", [*FIXED, *OF_COLOURS])
def test_pictures_as_dalis(name: str) -> None:
    make = {**FIXED, **OF_COLOURS}[name]
    of_dali, array = dalis(), pixels()
    ours = tv.Compose([make(tv)], batch_size=2, num_threads=1)(picture(array))
    theirs = of_dali.Compose([make(of_dali)], batch_size=2, num_threads=1, device_id=None)(picture(array))
    assert isinstance(ours, Image.Image)
    assert (ours.mode, ours.size) == (theirs.mode, theirs.size)
    assert np.abs(hwc(ours).astype(int) - hwc(theirs)).max() <= 1


@pytest.mark.parametrize("name", FIXED)
def test_tensors_as_dalis(name: str) -> None:
    of_dali, batch = dalis(), torch.stack([tensor(pixels()), tensor(pixels()[::-1])])
    ours = tv.Compose([FIXED[name](tv)], batch_size=2, num_threads=1)(batch)
    theirs = of_dali.Compose([FIXED[name](of_dali)], batch_size=2, num_threads=1, device_id=None)(batch)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    assert (ours.int() - theirs.int()).abs().max() <= 1


@pytest.mark.parametrize("name", OF_COLOURS)
def test_tensors_get_the_colours_of_pictures(name: str) -> None:
    """DALI's transforms of colours refuse tensors."""
    array = pixels()
    of_picture = tv.Compose([OF_COLOURS[name](tv)], 1, 1)(picture(array))
    of_tensor = tv.Compose([OF_COLOURS[name](tv)], 1, 1)(tensor(array))
    assert np.array_equal(hwc(of_picture), hwc(of_tensor))


def test_normalize_as_dalis() -> None:
    of_dali = dalis()

    def outputs(module: Any, **chosen: Any) -> list[Any]:
        normalize = module.Normalize([12.5, 100.0, 3.0], [2.0, 50.0, 1.0])
        return [
            module.Compose([normalize], 1, 1, **chosen)(tensor(pixels())),
            module.Compose([normalize, module.ToPureTensor()], 1, 1, **chosen)(picture(pixels())),
        ]

    for ours, theirs in zip(outputs(tv), outputs(of_dali, device_id=None), strict=True):
        assert ours.dtype == theirs.dtype == torch.float32
        torch.testing.assert_close(ours, theirs)
        expected = (pixels().astype(np.float32) - [12.5, 100, 3]) / [2, 50, 1]
        assert np.allclose(hwc(ours), expected, atol=1e-4)


@pytest.mark.parametrize("size", [1, 4, 7])
def test_the_middle_is_torchvisions(size: int) -> None:
    """Which pads first, the more on the right, and then rounds by Python's rule."""
    transform = tv.Compose([tv.CenterCrop(size)], 1, 1)
    for extent in range(1, 12):
        array = pixels(extent, extent + 3)
        borders = [(max(0, (size - n) // 2), max(0, (size - n + 1) // 2)) for n in (extent, extent + 3)]
        padded = np.pad(array, (*borders, (0, 0)))
        top, left = (round((n - size) / 2) for n in padded.shape[:2])
        assert np.array_equal(hwc(transform(picture(array))), padded[top : top + size, left : left + size])


@pytest.mark.parametrize("kind", ["BILINEAR", "BICUBIC", "LANCZOS"])
def test_scaling_is_near_pillows(kind: str) -> None:
    """torchvision scales pictures of Pillow's by Pillow."""
    array = pixels(80, 90)
    ours = tv.Compose([tv.Resize((31, 40), interpolation=tv.InterpolationMode[kind])], 1, 1)(picture(array))
    theirs = picture(array).resize((40, 31), Image.Resampling[kind])
    assert np.abs(hwc(ours).astype(int) - hwc(theirs)).mean() < 1.5


@pytest.mark.parametrize(("height", "width"), [(37, 52), (52, 37), (10, 10), (3, 1000), (700, 3)])
def test_sizes_are_torchvisions(height: int, width: int) -> None:
    resizes = [(7, None), (7, 9), (7, 7), (None, 13)]
    for size, most in resizes:
        shorter, longer = sorted((height, width))
        if size is None:
            short, long = int(most * shorter / longer), most  # type: ignore[operator]
        else:
            short, long = size, int(size * longer / shorter)
            if most is not None and long > most:
                short, long = int(most * short / long), most
        if not short:
            continue
        expected = (short, long) if height <= width else (long, short)
        given = tv.Compose([tv.Resize(size, max_size=most)], 1, 1)(tensor(pixels(height, width)))
        assert given.shape[1:] == expected


def test_kernels_are_width_first_as_torchvisions() -> None:
    array = np.zeros((21, 31, 3), np.uint8)
    array[10, 15] = 255
    blurred = hwc(tv.Compose([tv.GaussianBlur((3, 9), sigma=2.0)], 1, 1)(picture(array)))[:, :, 0]
    rows, columns = np.nonzero(blurred)
    assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == (9, 3)


def test_gray_is_near_pillows() -> None:
    ours = tv.Compose([tv.Grayscale()], 1, 1)(picture(pixels()))
    assert ours.mode == "L"
    assert np.abs(np.asarray(ours).astype(int) - np.asarray(picture(pixels()).convert("L"))).max() <= 1
    one = pixels(channels=1)
    three = tv.Compose([tv.Grayscale(3)], 1, 1)(picture(one))
    assert np.array_equal(hwc(three), np.repeat(one, 3, 2))
    assert np.array_equal(hwc(tv.Compose([tv.Grayscale(1)], 1, 1)(picture(one))), one)
