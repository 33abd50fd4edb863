"""Each augmentation beside DALI's, by bins and signs; policies and suites, too."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from skimage import data as photographs

import penstock
from penstock.auto_aug import augmentations as ours
from penstock.auto_aug.core import Augmentation

dali = pytest.importorskip("nvidia.dali")
theirs = importlib.import_module("nvidia.dali.auto_aug.augmentations")
NAMES = sorted(name for name, value in vars(ours).items() if isinstance(value, Augmentation))
WITH_SHAPE = ("translate_x", "translate_y")
random = np.random.default_rng(1)
PICTURES = [
    np.ascontiguousarray(photographs.astronaut()[100:340, 50:351]),
    random.integers(0, 256, (61, 47, 3), dtype=np.uint8),
    np.full((5, 7, 3), 77, np.uint8),
    np.ascontiguousarray(photographs.chelsea()[::2, ::3]),
]
VIDEOS = [random.integers(0, 256, (3, 21 + k, 17, 3), dtype=np.uint8) for k in range(4)]


def outputs(library: Any, augmentation: Any, inputs: list[Any], layout: str = "HWC", **given: Any) -> list[Any]:
    """Of an augmentation whose bin and sign are given for each sample, as nodes."""
    core = importlib.import_module(f"{library.__name__}.auto_aug.core")
    bins, signs = given.pop("bins", None), given.pop("signs", None)

    @library.pipeline_def(batch_size=len(inputs), num_threads=1, device_id=None, enable_conditionals=True)
    def definition() -> Any:
        data = library.fn.external_source(lambda: inputs, layout=layout)
        if given.pop("shape", False):
            given["shape"] = data.shape()[layout.index("H") : layout.index("C")]
        if augmentation.mag_range is None:
            return augmentation(data, **given)
        chosen = bins if isinstance(bins, int) else library.fn.external_source(lambda: np.int32(bins))
        sign = library.fn.external_source(lambda: np.int32(signs))
        return augmentation(data, magnitude_bin=core.signed_bin(chosen, sign), num_magnitude_bins=11, **given)

    [output] = definition().run()
    return [np.array(output.at(i)) for i in range(len(output))]


def assert_alike(augmentation: str, inputs: list[Any], layout: str = "HWC", **given: Any) -> None:
    if augmentation in WITH_SHAPE:
        given["shape"] = True
    mine = outputs(penstock, getattr(ours, augmentation), inputs, layout, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = outputs(dali, getattr(theirs, augmentation), inputs, layout, **given)
    for a, b in zip(mine, wanted, strict=True):
        assert a.dtype == b.dtype == np.uint8
        # `filter` rounds sums that end in a half in another order.
        np.testing.assert_allclose(a.astype(int), b.astype(int), rtol=0, atol=1 if augmentation == "sharpness" else 0)


def test_the_same_are_there() -> None:
    assert [name for name, value in vars(theirs).items() if type(value).__name__ == "Augmentation"]
    for name, value in vars(theirs).items():
        if type(value).__name__ == "Augmentation":
            mine = getattr(ours, name)
            assert (mine.name, mine.mag_range, mine.randomly_negate, mine.param_device) == (
                value.name,
                value.mag_range,
                value.randomly_negate,
                value.param_device,
            )


@pytest.mark.parametrize("bins", [0, 3, 7, 10, [0, 4, 8, 10]])
@pytest.mark.parametrize("name", NAMES)
def test_pictures(name: str, bins: Any) -> None:
    assert_alike(name, PICTURES, bins=bins, signs=[0, 1, 1, 0])


@pytest.mark.parametrize("name", NAMES)
def test_videos(name: str) -> None:
    if name == "equalize":
        pytest.skip("DALI's takes no videos")
    assert_alike(name, VIDEOS, "FHWC", bins=[1, 4, 8, 10], signs=[0, 1, 1, 0])


@pytest.mark.parametrize("name", ["shear_x", "translate_y_no_shape", "rotate"])
@pytest.mark.parametrize("fill_value", [None, 0])
def test_borders(name: str, fill_value: int | None) -> None:
    given = {"fill_value": fill_value, "interp_type": penstock.types.INTERP_NN}
    mine = outputs(penstock, getattr(ours, name), PICTURES, bins=8, signs=[0, 1, 1, 0], **given)
    given["interp_type"] = dali.types.INTERP_NN
    wanted = outputs(dali, getattr(theirs, name), PICTURES, bins=8, signs=[0, 1, 1, 0], **given)
    for a, b in zip(mine, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", NAMES)
def test_on_a_gpu(name: str, software_gpu: dict[str, str]) -> None:
    augmentation = getattr(ours, name)

    def run(device_id: int | None) -> Any:
        @penstock.pipeline_def(batch_size=4, num_threads=1, device_id=device_id)
        def definition() -> Any:
            data = penstock.fn.external_source(lambda: PICTURES, layout="HWC")
            given: dict[str, Any] = {"shape": data.shape()[:2]} if name in WITH_SHAPE else {}
            if augmentation.mag_range is not None:
                given |= {"magnitude_bin": 7, "num_magnitude_bins": 11}
            data = data if device_id is None else data.gpu()
            return augmentation.augmentation(randomly_negate=False)(data, **given)

        return definition().run()[0]

    for a, b in zip(run(0).as_cpu(), run(None), strict=True):
        np.testing.assert_allclose(np.array(a, int), np.array(b, int), rtol=0, atol=1)


def described(steps: Any) -> list[Any]:
    return [(x.name, str(x.mag_range), x.randomly_negate, x.param_device) for x in steps]


@pytest.mark.parametrize("given", [{}, {"use_shape": True}, {"max_translate_abs": (7, 9)}])
@pytest.mark.parametrize(
    ("module", "maker"),
    [
        ("rand_augment", "get_rand_augment_suite"),
        ("rand_augment", "get_rand_augment_non_monotonic_suite"),
        ("trivial_augment", "get_trivial_augment_wide_suite"),
    ],
)
def test_suites(module: str, maker: str, given: dict[str, Any]) -> None:
    mine = getattr(importlib.import_module(f"penstock.auto_aug.{module}"), maker)(**given)
    wanted = getattr(importlib.import_module(f"nvidia.dali.auto_aug.{module}"), maker)(**given)
    assert [(a.name, tuple(a.mag_range) if a.mag_range else None, a.randomly_negate) for a in mine] == [
        (a.name, tuple(a.mag_range) if a.mag_range is not None else None, a.randomly_negate) for a in wanted
    ]
    for a, b in zip(mine, wanted, strict=True):
        if a.mag_range is not None:
            for m in np.linspace(*a.mag_range, 31):
                np.testing.assert_allclose(a._of(m), np.asarray(b.mag_to_param(m)), rtol=1e-6)


@pytest.mark.parametrize("given", [{}, {"use_shape": True, "max_translate_rel": (0.2, 0.3)}])
@pytest.mark.parametrize("name", ["image_net", "reduced_cifar10", "svhn", "reduced_image_net"])
def test_policies(name: str, given: dict[str, Any]) -> None:
    if name == "reduced_image_net":
        given = {}
    mine, wanted = (
        getattr(importlib.import_module(f"{library}.auto_aug.auto_augment"), f"get_{name}_policy")(**given)
        for library in ("penstock", "nvidia.dali")
    )
    assert (mine.name, mine.num_magnitude_bins) == (wanted.name, wanted.num_magnitude_bins)
    assert len(mine.sub_policies) == len(wanted.sub_policies) == 25
    for own, other in zip(mine.sub_policies, wanted.sub_policies, strict=True):
        assert [(a.name, p, m) for a, p, m in own] == [(a.name, p, m) for a, p, m in other]
        for (a, _, m), (b, _, _) in zip(own, other, strict=True):
            assert (a.mag_range, a.randomly_negate) == (b.mag_range, b.randomly_negate)
            if m is not None:
                strength = np.linspace(*a.mag_range, 11)[m]
                np.testing.assert_allclose(a._of(strength), np.asarray(b.mag_to_param(strength)), rtol=1e-6)
