"""Functions on pictures beside Pillow's and DALI's transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
Image = pytest.importorskip("PIL.Image", reason="needs Pillow")

from penstock.errors import PenstockError  # noqa: E402
from penstock.experimental import torchvision as tv  # noqa: E402
from penstock.experimental.torchvision.v2 import functional as f  # noqa: E402
from tests.experimental.torchvision.oracle import dalis  # noqa: E402
from tests.experimental.torchvision.test_transforms import hwc, picture, pixels, tensor  # noqa: E402


def test_places_are_exact() -> None:
    array = pixels()
    for make, result in ((picture, hwc), (tensor, hwc)):
        given = make(array)
        assert np.array_equal(result(f.horizontal_flip(given)), array[:, ::-1])
        assert np.array_equal(result(f.vertical_flip(given)), array[::-1])
        assert np.array_equal(result(f.crop(given, 3, 4, 10, 11)), array[3:13, 4:15])
        assert np.array_equal(result(f.center_crop(given, (17, 22))), array[10:27, 15:37])
        bordered = np.pad(array, ((2, 2), (1, 1), (0, 0)))
        assert np.array_equal(result(f.pad(given, (1, 2))), bordered)
        assert np.array_equal(result(f.crop(given, -2, -1, 8, 9)), bordered[:8, :9])
    batch = torch.stack([tensor(array), tensor(array[::-1])])
    assert torch.equal(f.horizontal_flip(batch), batch.flip(3))
    assert np.array_equal(hwc(f.crop(picture(array), 2.6, 3.6, 10, 11)), array[3:13, 4:15])


def test_they_do_what_transforms_do() -> None:
    given = picture(pixels())
    pairs = [
        (f.resize(given, 20, max_size=25), tv.Resize(20, max_size=25)),
        (f.gaussian_blur(given, [3, 5], 1.5), tv.GaussianBlur((3, 5), 1.5)),
        (f.to_grayscale(given), tv.Grayscale()),
        (f.rgb_to_grayscale(given, 3), tv.Grayscale(3)),
    ]
    for ours, transform in pairs:
        expected = tv.Compose([transform], 1, 1)(given)
        assert (ours.mode, ours.size) == (expected.mode, expected.size)
        assert np.array_equal(hwc(ours), hwc(expected))
    scaled = f.resized_crop(given, 3, 4, 10, 11, (20, 21))
    assert np.array_equal(hwc(scaled), hwc(f.resize(f.crop(given, 3, 4, 10, 11), (20, 21))))
    normalized = f.normalize(tensor(pixels()), np.array([1.0, 2.0, 3.0]), torch.tensor([2.0, 3.0, 4.0]))
    expected = tv.Compose([tv.Normalize([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])], 1, 1)(tensor(pixels()))
    assert torch.equal(normalized, expected)


def test_pictures_and_tensors_as_dalis() -> None:
    theirs = pytest.importorskip("nvidia.dali.experimental.torchvision.v2.functional") if dalis() else None
    assert theirs is not None
    random = np.random.default_rng(1)
    for mode in ("L", "RGB", "RGBA", "1", "I", "F"):
        given = Image.fromarray(random.integers(0, 256, (5, 7), np.uint8)).convert(mode)
        ours, expected = f.pil_to_tensor(given), theirs.pil_to_tensor(given)
        assert ours.dtype == expected.dtype
        assert torch.equal(ours, expected)
        assert torch.equal(f.to_tensor(given), theirs.to_tensor(given))
        assert f.get_dimensions(given) == theirs.get_dimensions(given)
    for shape in ((5, 7), (5, 7, 3)):
        array = random.integers(0, 256, shape, np.uint8)
        assert torch.equal(f.to_tensor(array), theirs.to_tensor(array))
        assert torch.equal(f.to_tensor(array.astype(np.float32)), theirs.to_tensor(array.astype(np.float32)))
    for channels in (1, 3, 4):
        for values in (torch.randint(0, 256, (channels, 5, 7), dtype=torch.uint8), torch.rand(channels, 5, 7)):
            ours, expected = f.to_pil_image(values), theirs.to_pil_image(values)
            assert ours.mode == expected.mode
            assert np.array_equal(hwc(ours), hwc(expected))
    for tensor_shape in ((5, 7), (3, 5, 7), (2, 3, 5, 7)):
        empty = torch.zeros(tensor_shape)
        for name in ("get_size", "get_image_size", "get_dimensions"):
            assert getattr(f, name)(empty) == getattr(theirs, name)(empty)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: f.pil_to_tensor(3), TypeError),
        (lambda: f.to_tensor("a"), TypeError),
        (lambda: f.to_pil_image(np.zeros((3, 4, 5))), TypeError),
        (lambda: f.to_pil_image(torch.zeros(4, 5)), ValueError),
        (lambda: f.to_pil_image(torch.zeros(2, 4, 5)), ValueError),
        (lambda: f.to_pil_image(torch.zeros(3, 4, 5, dtype=torch.int64)), TypeError),
        (lambda: f.normalize(Image.new("L", (2, 2)), [1.0], [1.0]), TypeError),
        (lambda: f.normalize(torch.zeros(1, 2, 2), [1.0], [1.0], inplace=True), NotImplementedError),
        (lambda: f.get_size(torch.zeros(3)), TypeError),
        (lambda: f.get_dimensions(3), TypeError),
        (lambda: f.crop(torch.zeros(1, 4, 4), 0.5, 0, 2, 2), TypeError),
        (lambda: f.crop(torch.zeros(1, 4, 4), 0, 0, 0, 2), ValueError),
        (lambda: f.crop(Image.new("L", (2, 2)), "a", 0, 1, 1), TypeError),
        (lambda: f.resize(Image.new("L", (2, 2)), 3, interpolation=5), NotImplementedError),
        (lambda: f.horizontal_flip(np.zeros((3, 3))), TypeError),
    ],
)
def test_mistakes(call: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert isinstance(raised.value, PenstockError)
