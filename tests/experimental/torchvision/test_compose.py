"""`Compose`: kinds of inputs and outputs, random transforms, mistakes, GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
Image = pytest.importorskip("PIL.Image", reason="needs Pillow")

from penstock.errors import ArgumentError, GraphError, PenstockError  # noqa: E402
from penstock.experimental import torchvision as tv  # noqa: E402
from tests.experimental.torchvision.oracle import dalis  # noqa: E402
from tests.experimental.torchvision.test_transforms import hwc, picture, pixels, tensor  # noqa: E402


def test_kinds_of_outputs() -> None:
    array = pixels(5, 7)
    plain = [tv.CenterCrop((5, 7))]
    assert isinstance(tv.Compose(plain, 1, 1)(picture(array)), Image.Image)
    for marker in (tv.ToPureTensor(), tv.PILToTensor()):
        given = tv.Compose([*plain, marker], 1, 1)(picture(array))
        assert torch.equal(given, tensor(array))
        assert given.is_contiguous()
    back = tv.Compose([*plain, tv.ToPureTensor(), tv.ToPILImage()], 4, 1)
    assert np.array_equal(hwc(back(tensor(array))), array)
    both = back(torch.stack([tensor(array), tensor(array[::-1])]))
    assert [one.size for one in both] == [(7, 5)] * 2
    assert np.array_equal(hwc(both[1]), array[::-1])
    alone = tv.Compose(plain, 4, 1)(tensor(array)[None])
    assert alone.shape == (1, 3, 5, 7)
    assert torch.equal(tv.Compose([], 1, 1)(tensor(array)), tensor(array))


def test_a_compose_is_called_again_and_again() -> None:
    """With other sizes of batches and pictures, and with other numbers of channels."""
    flip = tv.Compose([tv.RandomHorizontalFlip(p=1.0)], batch_size=3, num_threads=1)
    for size, shape in enumerate([(4, 5, 3), (6, 2, 3), (3, 3, 1)], 1):
        array = pixels(*shape)
        given = flip(torch.stack([tensor(array)] * size))
        assert torch.equal(given, torch.stack([tensor(array).flip(2)] * size))
    with pytest.raises(ArgumentError, match="a batch of 4 samples: batch_size is 3"):
        flip(torch.zeros(4, 1, 2, 2))


def test_random_transforms_draw_for_each_sample_and_call() -> None:
    batch = torch.arange(2, dtype=torch.uint8).reshape(1, 1, 1, 2).repeat(64, 1, 1, 1)

    def drawn(seed: int, make: Callable[[], Any] = lambda: tv.RandomHorizontalFlip()) -> list[list[int]]:
        flip = tv.Compose([make()], 64, 1, seed=seed)
        return [flip(batch)[:, 0, 0, 0].tolist() for _ in range(2)]

    first, second = drawn(3)
    assert drawn(3) == [first, second]
    assert drawn(4) != [first, second]
    assert first != second
    assert 10 < sum(first) < 54
    sums = list(map(sum, drawn(5, lambda: tv.RandomApply([tv.RandomHorizontalFlip(p=1.0)], p=0.5))))
    assert all(10 < one < 54 for one in sums)
    assert sum(drawn(6, lambda: tv.RandomApply([tv.RandomHorizontalFlip(p=1.0)], p=0.9))[0]) > 40


def test_random_crops_come_from_everywhere() -> None:
    array = np.arange(35, dtype=np.uint8).reshape(5, 7, 1)
    batch = torch.stack([tensor(array)] * 200)
    crops = tv.Compose([tv.RandomCrop((4, 5))], 200, 1, seed=1)(batch)
    corners = crops[:, 0, 0, 0].tolist()
    assert set(corners) == {0, 1, 2, 7, 8, 9}
    for crop, corner in zip(crops[:20], corners, strict=False):
        top, left = divmod(corner, 7)
        assert torch.equal(crop, tensor(array[top : top + 4, left : left + 5]))
    padded = tv.Compose([tv.RandomCrop(9, pad_if_needed=True, fill=99)], 200, 1, seed=1)(batch)
    assert padded.shape == (200, 1, 9, 9)
    places = {tuple(torch.nonzero(one[0] == 0)[0].tolist()) for one in padded}
    assert places == {(top, left) for top in range(5) for left in range(3)}
    bordered = tv.Compose([tv.RandomCrop((5, 7), padding=[1], padding_mode="edge")], 200, 1, seed=1)(batch)
    assert {one.unique().numel() for one in bordered[:, 0]} > {35}
    with pytest.raises(PenstockError, match="slice"):
        tv.Compose([tv.RandomCrop(6)], 200, 1)(batch)


def test_random_resized_crops() -> None:
    batch = torch.stack([tensor(pixels(80, 60))] * 20)
    crops = tv.Compose([tv.RandomResizedCrop((8, 9), scale=(0.2, 0.5))], 20, 1, seed=1)(batch)
    assert crops.shape == (20, 3, 8, 9)
    assert len({one.numpy().tobytes() for one in crops}) == 20
    whole = tv.Compose([tv.RandomResizedCrop(30, scale=(1, 1), ratio=(0.75, 0.75))], 20, 1)(batch[:1])
    scaled = tv.Compose([tv.Resize((30, 30))], 20, 1)(batch[:1])
    assert (whole.int() - scaled.int()).abs().max() <= 1


def test_jitter_stays_within_its_range() -> None:
    jitter = tv.Compose([tv.ColorJitter(brightness=0.5)], 50, 1, seed=1)
    values = jitter(torch.full((50, 3, 1, 1), 100, dtype=torch.uint8))[:, 0, 0, 0]
    assert 50 <= values.min() < 70
    assert 130 < values.max() <= 150


def wrong(name: str, *arguments: Any, **named: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    return name, arguments, named


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        wrong("CenterCrop", 0),
        wrong("CenterCrop", (3, -1)),
        wrong("CenterCrop", (1, 2, 3)),
        wrong("CenterCrop", "3"),
        wrong("Resize", 0),
        wrong("Resize", None),
        wrong("Resize", (1, 2), max_size=5),
        wrong("Resize", 10, max_size=5),
        wrong("Resize", (1.5, 2)),
        wrong("Resize", 10, interpolation=9),
        wrong("Resize", 10, interpolation="bilinear"),
        wrong("Pad", 3, padding_mode="none"),
        wrong("Pad", -3),
        wrong("Pad", (1, 2, 3)),
        wrong("GaussianBlur", 4),
        wrong("GaussianBlur", -3),
        wrong("GaussianBlur", 3, sigma=0),
        wrong("GaussianBlur", 3, sigma=(2, 1)),
        wrong("GaussianBlur", 3, sigma=(1, 2, 3)),
        wrong("ColorJitter", brightness=-1),
        wrong("ColorJitter", contrast=(2, 1)),
        wrong("ColorJitter", saturation=None),
        wrong("ColorJitter", hue=0.6),
        wrong("ColorJitter", hue=(-0.7, 0.1)),
        wrong("Grayscale", 2),
        wrong("RandomGrayscale", 1.5),
        wrong("RandomApply", [], p=-1),
        wrong("Normalize", [1.0], [0.0]),
        wrong("Normalize", "1", [1.0]),
        wrong("Normalize", [1.0], [1.0], inplace=True),
        wrong("RandomCrop", 3, padding=(1, 2, 3)),
        wrong("RandomCrop", 3, pad_if_needed=1),
        wrong("RandomCrop", 3, padding=1, padding_mode="none"),
        wrong("RandomCrop", 3, fill=()),
        wrong("RandomCrop", 3, fill="white"),
        wrong("RandomResizedCrop", 3, scale=1.0),
        wrong("RandomResizedCrop", 3, ratio=(2.0, 1.0)),
        wrong("RandomResizedCrop", 3, scale=(0, 1)),
        wrong("RandomResizedCrop", 3, interpolation=4),
    ],
)
def test_mistakes_are_errors_of_dalis_kinds(name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    of_dali = dalis()
    with pytest.raises((TypeError, ValueError, NotImplementedError)) as theirs:
        getattr(of_dali, name)(*arguments, **named)
    kind = next(k for k in (NotImplementedError, TypeError, ValueError) if isinstance(theirs.value, k))
    with pytest.raises(kind, match=f"{name}: .*=") as ours:
        getattr(tv, name)(*arguments, **named)
    assert isinstance(ours.value, PenstockError)


def test_mistakes_of_calls() -> None:
    with pytest.raises(GraphError, match=r"Resize cannot be called: use it inside Compose\(\[\.\.\.\]\)"):
        tv.Resize(3)(picture(pixels()))
    with pytest.raises(ArgumentError, match="Pad: device='tpu': expected 'cpu' or 'gpu'"):
        tv.Pad(1, device="tpu")
    for value in (pixels(), "a.jpg", None):
        with pytest.raises(TypeError, match="expected a picture of Pillow's or a tensor, got"):
            tv.Compose([tv.Pad(1)])(value)
    with pytest.raises(TypeError, match=r"a tensor of shape \(5, 5\): expected"):
        tv.Compose([tv.Pad(1)])(torch.zeros(5, 5))
    with pytest.raises(ValueError, match="a picture of mode 'CMYK': expected L, RGB or RGBA"):
        tv.Compose([tv.Pad(1)])(Image.new("CMYK", (2, 2)))
    compose = tv.Compose([tv.Pad(1)], 1, 1)
    compose(picture(pixels()))
    with pytest.raises(TypeError, match="Compose: expected Image, as in its first call"):
        compose(tensor(pixels()))
    with pytest.raises(ArgumentError, match=r"Normalize: mean=\[1\.0, 2\.0\]: the picture has 3 channels"):
        tv.Compose([tv.Normalize([1.0, 2.0], [1.0, 2.0])], 1, 1)(tensor(pixels()))


def test_transforms_on_the_gpu_are_those_on_the_cpu(software_gpu: dict[str, str]) -> None:
    def outputs(device: str) -> Any:
        transforms = [
            tv.Resize((16, 20), device=device),
            tv.RandomCrop((12, 13), padding=2, device=device),
            tv.RandomApply([tv.RandomVerticalFlip(p=1.0, device=device)], p=0.5, device=device),
            tv.Normalize([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], device=device),
        ]
        pipe = tv.Compose(transforms, 4, 1, seed=5)._made("CHW", 3)
        (output,) = pipe.run(input_data=np.stack([pixels().transpose(2, 0, 1)] * 4))
        return np.asarray(output.as_cpu().as_tensor())

    assert np.allclose(outputs("gpu"), outputs("cpu"), atol=1e-4)
