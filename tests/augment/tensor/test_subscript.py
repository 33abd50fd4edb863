"""node[...], against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, ArgumentTypeError, OperatorError
from penstock.graph.constants import constant
from penstock.graph.slicing import newaxis
from tests.cases import Array, per_sample, pictures, random_array

X = random_array((6, 7, 5), np.int16)


class Key:
    """Key()[...] is what stands in the brackets."""

    def __getitem__(self, key: Any) -> Any:
        return key


k = Key()


def run(key: Any, x: Array = X, layout: str = "HWC") -> tuple[Array, str]:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(constant(x, layout)[key])
    (out,) = pipe.run()
    return np.array(out.at(0)), out.layout()


@pytest.mark.parametrize(
    ("key", "layout"),
    [
        (k[1], "WC"),
        (k[-1], "WC"),
        (k[1, 2], "C"),
        (k[1, 2, 3], ""),
        (k[:], "HWC"),
        (k[1:3], "HWC"),
        (k[:, 1], "HC"),
        (k[..., 0], "HW"),
        (k[1, ..., 0], "W"),
        (k[...], "HWC"),
        (k[..., 1, 2, 3], ""),
        (k[1, 2, 3, ...], ""),
        (k[1:-1, -3:], "HWC"),
        (k[10:20], "HWC"),
        (k[-10:2], "HWC"),
        (k[3:1], "HWC"),
        (k[2:2, 1], "HC"),
        (k[::2], "HWC"),
        (k[1::3, ::2, 4:0:-2], "HWC"),
        (k[::-1], "HWC"),
        (k[:, ::-1, ::-1], "HWC"),
        (k[4:1:-2], "HWC"),
        (k[1:4:-1], "HWC"),
        (k[-1:-9:-1], "HWC"),
        (k[99:-99:-5], "HWC"),
        (k[..., 1:3], "HWC"),
        (k[np.int64(2), np.array(3)], "C"),
        ((), "HWC"),
    ],
)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_as_numpy(key: Any, layout: str, dtype: Any) -> None:
    x = X.astype(dtype)
    found, found_layout = run(key, x)
    np.testing.assert_array_equal(found, x[key])
    assert found.dtype == dtype
    assert found_layout == layout


@pytest.mark.parametrize("key", [k[1], k[1:], k[::2, ::-1], k[..., 0:0], k[-1, newaxis]])
@pytest.mark.parametrize("shape", [(3, 0, 4), (3, 4, 0), (2, 1, 1)])
def test_empty_axes(key: Any, shape: tuple[int, ...]) -> None:
    x = random_array(shape)
    found, _ = run(key, x)
    plain = tuple(None if item is newaxis else item for item in key) if isinstance(key, tuple) else key
    np.testing.assert_array_equal(found, x[plain])


@pytest.mark.parametrize(
    ("key", "shape", "layout"),
    [
        ((newaxis,), (1, 6, 7, 5), ""),
        ((newaxis("N"),), (1, 6, 7, 5), "NHWC"),
        (k[:, :, newaxis("N")], (6, 7, 1, 5), "HWNC"),
        (k[..., newaxis("X")], (6, 7, 5, 1), "HWCX"),
        (k[2, newaxis("X"), ..., newaxis("Y")], (1, 7, 5, 1), "XWCY"),
        (k[newaxis("N"), newaxis], (1, 1, 6, 7, 5), ""),
    ],
)
def test_new_axes(key: Any, shape: tuple[int, ...], layout: str) -> None:
    found, found_layout = run(key)
    assert (found.shape, found_layout) == (shape, layout)
    np.testing.assert_array_equal(found.ravel(), X[2].ravel() if key[0] == 2 else X.ravel())
    assert run(key, layout="")[1] == ""


def test_none_is_the_whole_axis_as_in_dali() -> None:
    found, layout = run((None, 1))
    np.testing.assert_array_equal(found, X[:, 1])
    assert layout == "HC"


def test_one_value_per_sample() -> None:
    batch = pictures()
    pipe = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipe:
        x = batch.node()
        i, j = per_sample([3, -1, 0]).node(), per_sample([[9], [2], [-4]], np.int64).node()
        pipe.set_outputs(x[i], x[i, j:], x[:j, i, -1], x[:: i + 4], x[types.Constant(2) : 3])
    found = pipe.run()
    for n, (a, i, j) in enumerate(zip(batch.arrays, (3, -1, 0), (9, 2, -4), strict=True)):
        for output, wanted in zip(found, (a[i], a[i, j:], a[:j, i, -1], a[:: i + 4], a[2:3]), strict=True):
            np.testing.assert_array_equal(output.at(n), wanted)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (k[6], r"index 6 is out of range for axis 0 \(H\) of extent 6"),
        (k[-7], r"index -7 is out of range for axis 0 \(H\) of extent 6"),
        (k[..., 5], r"index 5 is out of range for axis 2 \(C\) of extent 5"),
        (k[:, newaxis, 7], r"index 7 is out of range for axis 1 \(W\)"),
        (k[:, :, :, :], r"4 indices and ranges for an input of 3 axes, \(6, 7, 5\)"),
        (k[1, 2, ..., 3, 4], "4 indices"),
        ((newaxis,) * 10, "more than 12 axes"),
    ],
)
def test_keys_that_do_not_fit_the_sample(key: Any, words: str) -> None:
    with pytest.raises(OperatorError, match=words):
        run(key)


def test_nodes_that_are_no_index() -> None:
    for bad in (np.float32(1), np.int32([1, 2])):
        with pytest.raises(OperatorError, match=r"axis 0 \(H\) expected one whole number"):
            run(constant(bad))
    with pytest.raises(OperatorError, match="the step is 0"):
        run(slice(None, None, constant(np.int32(0))))


@pytest.mark.parametrize(
    "key", ["a", "1", 1.5, [1, 2], np.array([1, 2]), slice("a", None), {}, 1j, float("nan"), float("inf"), 2**70]
)
def test_items_that_are_refused(key: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a whole number"):
        run(key)


def test_numbers_of_other_types() -> None:
    """As in DALI their fractions are cut off."""
    for key, same in (
        (np.float64(1.9), 1),
        (np.float32(-1.9), -1),
        (np.float32(2.5), 2),
        (np.array([1]), 1),
        (True, 1),
        (slice(1.5, 3.9), slice(1, 3)),
        (slice(None, None, 2.5), slice(None, None, 2)),
        ((slice(3, 1.5), np.float32(0.5)), (slice(3, 1), 0)),
    ):
        found, layout = run(key)
        wanted, expected_layout = run(same)
        np.testing.assert_array_equal(found, wanted, strict=True)
        assert layout == expected_layout


def test_keys_that_are_refused() -> None:
    with pytest.raises(ArgumentError, match="more than one ellipsis"):
        run((..., ...))
    with pytest.raises(ArgumentError, match="step of a range is 0"):
        run(k[::0])
    with pytest.raises(ArgumentError, match="more than 12 items"):
        run((0,) * 13)
    with pytest.raises(ArgumentTypeError, match="one letter"):
        newaxis("NC")


def of_photographs(folder: Path, key: Any, device: str) -> tuple[list[Array], list[Array], str]:
    """The part of each photograph, turned round; the same part as it is; and the plan of the first."""
    on_gpu = device == "mixed"
    results, plans = [], []
    for then in (lambda part: fn.flip(part, vertical=1), lambda part: part):
        pipe = Pipeline(batch_size=4, num_threads=2, device_id=0 if on_gpu else None)
        with pipe:
            files, labels = fn.readers.file(file_root=str(folder))
            x = fn.decoders.image(files, device=device)
            pipe.set_outputs(then(x[key(labels)]))
        pipe.build()
        plans.append(pipe.explain())
        (output,) = pipe.run()
        results.append([np.array(a) for a in output.as_cpu().as_array()])
    return results[0], results[1], plans[0]


def windows(labels: Any) -> Any:
    return k[10:-20, labels[0] : 300 + labels[0]]


@pytest.mark.parametrize("device", ["cpu", "mixed"])
@pytest.mark.parametrize(
    ("key", "fused"),
    [
        (windows, True),
        (lambda _: k[100:], True),
        (lambda _: k[10:20, 30:40, :], True),
        (lambda _: k[10:20, 30:40, ...], True),
        (lambda _: k[10:20, ::2], False),
        (lambda _: k[..., 1:], False),
        (lambda _: k[:, :, 0:2], False),
        (lambda _: k[newaxis("F"), 10:20], False),
    ],
)
def test_rows_and_columns_are_cut_where_they_are_decoded(
    photographs: Path, software_gpu: Any, monkeypatch: pytest.MonkeyPatch, key: Any, fused: bool, device: str
) -> None:
    turned, plain, plan = of_photographs(photographs, key, device)
    assert ("_subscript → flip" in plan) == fused
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    turned_alone, plain_alone, _ = of_photographs(photographs, key, device)
    for a, b in ((turned, turned_alone), (plain, plain_alone)):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)


def test_a_part_is_that_of_the_whole_picture(photographs: Path) -> None:
    _, parts, _ = of_photographs(photographs, windows, "cpu")
    _, wholes, _ = of_photographs(photographs, lambda _: (), "cpu")
    for part, whole in zip(parts, wholes, strict=True):
        assert any(np.array_equal(part, whole[10:-20, label : 300 + label]) for label in range(8))


def test_parity_with_dali() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    keys = [k[1], k[-1], k[:, 1], k[1:3], k[-2:], k[10:20], k[3:1], k[::2], k[::-1], k[4:1:-2], k[1, 2, 3], (None, 2)]
    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        x = dali.fn.external_source(source=lambda: [X], layout="HWC")
        ours_and_theirs = [(newaxis("N"), dali.newaxis("N")), (newaxis, dali.newaxis)]
        pipe.set_outputs(*(x[key] for key in keys), *(x[:, theirs] for _, theirs in ours_and_theirs))
    pipe.build()
    for key, wanted in zip([*keys, *(k[:, ours] for ours, _ in ours_and_theirs)], pipe.run(), strict=True):
        found, layout = run(key)
        np.testing.assert_array_equal(found, np.array(wanted.at(0)))
        assert layout == wanted.layout()


@pytest.mark.parametrize("step", [2**62, 2**63 - 1, -(2**63), -(2**62) - 1])
def test_the_longest_steps(step: int) -> None:
    """They take the first element alone, and no number overflows on the way."""
    x = np.arange(24).reshape(2, 3, 4)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(constant(x)[::step, 1:3, ::step])
    np.testing.assert_array_equal(pipe.run()[0].at(0), x[::step, 1:3, ::step])
