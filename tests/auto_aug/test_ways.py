"""AutoAugment, RandAugment, TrivialAugment and `select`: what is drawn, how often, and mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import errors, fn, pipeline_def, types
from penstock.auto_aug import auto_augment, rand_augment, trivial_augment
from penstock.auto_aug.core import Policy, augmentation, select, signed_bin

COUNT = 400


def drawn(define: Callable[[Any], Any], batches: int = 1, **arguments: Any) -> list[int]:
    """Of samples whose one pixel is 0, what becomes of it."""
    zeros = np.zeros((COUNT, 1, 1, 3), np.uint8)

    @pipeline_def(batch_size=COUNT, num_threads=2, device_id=None, **{"seed": 3, **arguments})
    def definition() -> Any:
        return define(fn.external_source(lambda: zeros, layout="HWC"))

    pipe = definition()
    return [int(np.array(x).ravel()[0]) for _ in range(batches) for x in pipe.run()[0]]


def adding(number: int) -> Any:
    """An augmentation that adds a number to all pixels."""

    @augmentation(name=f"add_{number}")
    def add(data: Any, _: None) -> Any:
        return data + np.uint8(number)

    return add


@augmentation(mag_range=(0, 30), randomly_negate=True, mag_to_param=lambda m: np.uint8(100 + m))
def shift(data: Any, parameter: Any) -> Any:
    return data + parameter


def assert_even(found: list[int], wanted: dict[int, float]) -> None:
    """Within five standard deviations of how often each is to be expected."""
    counts = Counter(found)
    assert counts.keys() <= wanted.keys()
    for value, share in wanted.items():
        deviation = (len(found) * share * (1 - share)) ** 0.5
        assert abs(counts[value] - len(found) * share) <= 5 * deviation


def test_rand_augment_draws_evenly_and_each_time_anew() -> None:
    suite = [adding(1), adding(2), adding(4)]
    assert_even(drawn(lambda x: rand_augment.apply_rand_augment(suite, x, 1, 0), 5), dict.fromkeys((1, 2, 4), 1 / 3))
    twice = {2: 1 / 9, 3: 2 / 9, 4: 1 / 9, 5: 2 / 9, 6: 2 / 9, 8: 1 / 9}
    assert_even(drawn(lambda x: rand_augment.apply_rand_augment(suite, x, 2, 0), 5), twice)
    assert_even(drawn(lambda x: rand_augment.apply_rand_augment(suite, x, 2, 0, seed=11), 5), twice)
    assert drawn(lambda x: rand_augment.apply_rand_augment(suite, x, 0, 0)) == [0] * COUNT


def test_signs_are_even() -> None:
    found = drawn(lambda x: rand_augment.apply_rand_augment([shift], x, 1, 30), 5)
    assert_even(found, {130: 0.5, 70: 0.5})
    found = drawn(lambda x: rand_augment.apply_rand_augment([shift, adding(1)], x, 1, 30, seed=5), 5)
    assert_even(found, {130: 0.25, 70: 0.25, 1: 0.5})


def test_trivial_augment_draws_bins() -> None:
    found = drawn(lambda x: trivial_augment.apply_trivial_augment([shift, adding(1)], x, 3), 5)
    assert_even(found, {1: 0.5, 100: 1 / 6, 115: 1 / 12, 85: 1 / 12, 130: 1 / 12, 70: 1 / 12})


def test_auto_augment_draws_sub_policies_and_steps() -> None:
    policy = Policy("mine", 11, [[(adding(1), 1.0, None), (adding(2), 0.25, None)], [(shift, 0.5, 10)]])
    found = drawn(lambda x: auto_augment.apply_auto_augment(policy, x), 5)
    assert_even(found, {1: 3 / 8, 3: 1 / 8, 0: 1 / 4, 130: 1 / 8, 70: 1 / 8})


@pytest.mark.parametrize(
    "define",
    [
        lambda seed: lambda x: rand_augment.rand_augment(x, 2, 9, seed=seed),
        lambda seed: lambda x: trivial_augment.trivial_augment_wide(x, seed=seed),
        lambda seed: lambda x: auto_augment.auto_augment(x, "svhn", seed=seed),
        lambda seed: lambda x: auto_augment.auto_augment_image_net(x, seed=seed),
        lambda seed: lambda x: auto_augment.auto_augment(x, "reduced_image_net", seed=seed),
        lambda seed: lambda x: auto_augment.auto_augment(x, "reduced_cifar10", shape=(1, 1), seed=seed),
    ],
)
def test_a_seed_makes_the_same_again(define: Callable[[int], Callable[[Any], Any]]) -> None:
    first, again, other = (drawn(define(seed), seed=k) for k, seed in enumerate((4, 4, 5)))
    assert first == again != other
    assert len(set(first)) > 1


def test_pictures_keep_their_shape_and_videos_theirs() -> None:
    pictures = [np.full((20 + k, 30, 3), 90 + k, np.uint8) for k in range(16)]
    videos = [np.full((2, 20 + k, 30, 3), 90 + k, np.uint8) for k in range(16)]

    @pipeline_def(batch_size=16, num_threads=2, device_id=None, seed=1)
    def definition() -> Any:
        x = fn.external_source(lambda: pictures, layout="HWC")
        v = fn.external_source(lambda: videos, layout="FHWC")
        return (
            rand_augment.rand_augment(x, 2, 20, shape=x.shape()[:2]),
            trivial_augment.trivial_augment_wide(v, excluded=["equalize"]),
        )

    images, clips = definition().run()
    assert [tuple(x.shape()) for x in images] == [p.shape for p in pictures]
    assert [tuple(x.shape()) for x in clips] == [v.shape for v in videos]


def test_select_runs_each_function_on_its_samples() -> None:
    seen: list[int] = []

    def note(value: Any) -> Any:
        seen.append(int(value))
        return value

    @pipeline_def(batch_size=5, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def definition() -> Any:
        index = fn.external_source(lambda: np.int32([0, 2, 1, 2, 0]))
        x = fn.external_source(lambda: np.int32([10, 20, 30, 40, 50]))
        functions = [lambda v: v, lambda v: v * 2, lambda v: fn.python_function(v, function=note)]
        return select(x, index, functions)

    pipe = definition()
    assert [int(v) for v in pipe.run()[0].as_array()] == [10, 20, 60, 40, 50]
    assert seen[:2] == [20, 40]
    pipe.close()


def test_bins_for_each_sample() -> None:
    bins = np.arange(COUNT, dtype=np.int32) % 31
    found = drawn(
        lambda x: shift.augmentation(randomly_negate=False)(
            x, magnitude_bin=fn.external_source(lambda: bins), num_magnitude_bins=31
        )
    )
    assert found == [100 + int(b) for b in bins]


def test_magnitudes_from_an_array() -> None:
    strengths = shift.augmentation(mag_range=np.array([1, 5, 20]), randomly_negate=False)
    assert set(drawn(lambda x: strengths(x, magnitude_bin=2))) == {120}
    with pytest.raises(errors.ArgumentError, match="num_magnitude_bins=4: it has 3 magnitudes"):
        drawn(lambda x: strengths(x, magnitude_bin=2, num_magnitude_bins=4))


MISTAKES: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: rand_augment.rand_augment(x, -1, 0), errors.ArgumentError, "n=-1"),
    (lambda x: rand_augment.rand_augment(x, 1, 31), errors.ArgumentError, "m=31: expected 0 to 30"),
    (lambda x: rand_augment.rand_augment(x, 1, 0, 0), errors.ArgumentError, "num_magnitude_bins=0"),
    (lambda x: rand_augment.rand_augment(x, 1, 0, excluded=["none"]), errors.ArgumentError, "excluded='none'"),
    (lambda x: rand_augment.rand_augment(x, 1, 0, max_translate_rel=1), errors.ArgumentError, "goes with a shape"),
    (lambda x: rand_augment.rand_augment(5, 1, 0), errors.ArgumentError, "data is 5: expected a node"),
    (lambda x: rand_augment.apply_rand_augment([], x, 1, 0), errors.ArgumentError, "nothing to choose from"),
    (lambda x: rand_augment.apply_rand_augment([shift], x, 1, 0, fill=3), TypeError, "has an argument 'fill'"),
    (lambda x: trivial_augment.apply_trivial_augment([], x), errors.ArgumentError, "nothing to choose from"),
    (lambda x: auto_augment.auto_augment(x, "imagenet"), errors.ArgumentError, "policy_name='imagenet'"),
    (lambda x: auto_augment.auto_augment(x, shape=(1, 1), max_translate_abs=2), ValueError, "goes without a shape"),
    (lambda x: shift(x, num_magnitude_bins=3), errors.ArgumentError, "shift: magnitude_bin is missing"),
    (lambda x: shift(x, magnitude_bin=3), errors.ArgumentError, "shift: num_magnitude_bins is missing"),
    (
        lambda x: shift(x, magnitude_bin=3, num_magnitude_bins=3),
        errors.ArgumentError,
        "magnitude_bin=3: expected 0 to 2",
    ),
    (lambda x: adding(1)(x, other=3), errors.UnknownArgumentError, "add_1: no argument 'other'"),
    (lambda x: augmentation(lambda data: data), TypeError, "takes data and a parameter"),
    (lambda x: augmentation(param_device="tpu"), errors.ArgumentError, "param_device='tpu'"),
    (lambda x: signed_bin(1, types.Constant(1), shape=2), errors.ArgumentError, "shape=2"),
    (lambda x: select(x, x, []), errors.ArgumentError, "no functions"),
    (lambda x: Policy("p", 0, [[(shift, 1.0, 0)]]), errors.ArgumentError, "num_magnitude_bins=0"),
    (lambda x: Policy("p", 3, []), errors.ArgumentError, "sub_policies is empty"),
    (lambda x: Policy("p", 3, [[(shift, 2.0, 0)]]), errors.ArgumentError, "shift: probability 2.0"),
    (lambda x: Policy("p", 3, [[(shift, 1.0, 3)]]), errors.ArgumentError, "shift: bin 3: expected 0 to 2"),
    (lambda x: Policy("p", 3, [[(shift, 1.0, None)]]), TypeError, "shift: bin None"),
    (lambda x: Policy("p", 3, [[("shift", 1.0, 1)]]), TypeError, "expected \\(augmentation, probability"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("define", "error", "problem"), MISTAKES)
def test_mistakes_are_told(define: Callable[[Any], Any], error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        drawn(define)
