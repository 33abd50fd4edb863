"""fn.warp_affine, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.warp_reference import NEAREST_ON_GPU, NOISE_ON_GPU, ON_GPU, by_frame, space_of, warped
from tests.cases import Apart, Array, Case, case, per_sample, pictures, random_array, samples
from tests.runners import assert_equal, dalis, ours

# No position lies at the border of a pixel, where roundings decide.
PLANE = [0.8317, 0.2093, -4.3371, -0.3119, 1.1713, 6.9173]
SPACE = [0.9137, 0.1213, -0.2017, 1.3171, -0.1531, 1.1093, 0.0719, -2.4137, 0.1117, -0.0613, 0.8517, 0.4219]


def rounded_size(size: Any) -> tuple[int, ...]:
    """Numbers that are an array are one sample's, of a node."""
    return tuple(int(s) if isinstance(size, np.ndarray) else max(1, int(s + 0.5)) for s in size)


def reference(layout: str) -> Callable[..., Any]:
    def result(x: Array, *given: Array, inverse_map: bool = True, size: Any = None, **arguments: Any) -> Array:
        axes = space_of(layout)
        matrix = np.reshape(given[0] if given else arguments.pop("matrix"), (-1, len(axes), len(axes) + 1))
        if not inverse_map:
            square = [np.vstack([m, [0] * len(axes) + [1]]) for m in matrix]
            matrix = np.stack([np.linalg.inv(m)[:-1] for m in square])
        shape = tuple(x.shape[i] for i in axes) if size is None else rounded_size(size)
        return by_frame(layout, lambda p, i: warped(p, matrix[i % len(matrix)], shape, **arguments), x)

    return result


def warp(layout: str = "HWC", of: Any = np.uint8, channels: int = 3, more: Any = (), **arguments: Any) -> Case:
    nearest = arguments.get("interp_type") == types.INTERP_NN
    x = pictures(layout, of, channels)
    if not more and "matrix" not in arguments:
        arguments["matrix"] = SPACE if "D" in layout else PLANE
    on_gpu = NEAREST_ON_GPU if nearest else NOISE_ON_GPU if of == np.int16 else ON_GPU
    large = 100 if of == np.int16 else 1  # the difference of neighbours, which roundings of positions are multiplied by
    return case(
        "warp_affine", x, *more, reference=reference(layout), off_by=1 + large // 50, tolerance=0.05 * large,
        on_gpu=on_gpu, **arguments,
    )  # fmt: skip


def matrices(*shape: int) -> Any:
    random = np.random.default_rng(3)
    identity = np.eye(shape[-2], shape[-1])
    return [(identity + random.normal(0, 0.2, shape)).astype(np.float32) for _ in range(3)]


NN = {"interp_type": types.INTERP_NN}
CASES = [
    warp(),
    warp(fill_value=42),
    warp(fill_value=42.7, **NN),
    warp(**NN),
    warp(inverse_map=False),
    warp(inverse_map=False, fill_value=0),
    warp(matrix=[1, 0, 200, 0, 1, -300]),
    warp(matrix=[1, 0, 200, 0, 1, -300], fill_value=-3),
    warp(matrix=[0.01, 0, 5, 0, 0.02, 3], fill_value=1),
    warp(matrix=[1, 0, -3, 0, 1, 2], fill_value=1, **NN),
    warp(size=(53, 21), fill_value=9),
    warp(size=(20.4, 12.5)),
    warp(size=(0.02, 12.5)),
    warp(size=per_sample([(0.9, 8.5), (7.0, 0.0), (-0.9, 1.0)])),
    warp(size=per_sample([(30.0, 31.0), (7.0, 300.0), (1.0, 1.0)])),
    warp(size=per_sample([(40.9, 8.5), (7.99, 12.1), (1.9, 1.0)])),
    warp(size=(10, 700), matrix=[0.07, 0.01, -2, 0.01, 0.4, 1], fill_value=5),
    warp(matrix=per_sample(matrices(2, 3))),
    warp(matrix=per_sample(matrices(2, 3)), inverse_map=False, fill_value=3),
    warp(more=(samples(matrices(2, 3)),)),
    warp(more=(samples(matrices(2, 3)),), inverse_map=False, fill_value=200, **NN),
    *[warp(channels=channels, fill_value=77) for channels in (1, 2, 4, 5)],
    *[warp(channels=channels, fill_value=77, **NN) for channels in (1, 2, 4, 5)],
    *[warp(channels=channels) for channels in (1, 4)],
    *[warp(of=dtype, fill_value=-77.4) for dtype in (np.int16, np.float32)],
    *[warp(of=dtype, channels=1, **NN) for dtype in (np.int16, np.int32, np.float32)],
    *[warp(dtype=types.FLOAT, fill_value=42.7, channels=c) for c in (1, 3, 4)],
    warp(dtype=types.FLOAT, fill_value=42.7, **NN),
    *[warp(of=np.float32, dtype=t, fill_value=12.5) for t in (types.UINT8, types.INT16, types.INT32)],
    warp(of=np.int16, output_dtype=types.FLOAT),
    warp("FHWC", fill_value=7),
    warp("FHWC", channels=1, of=np.int16, **NN),
    warp("DHWC", fill_value=7),
    warp("DHWC", inverse_map=False, size=(5, 21, 43),
         from_dali=Apart(1, 0.0005, why="the matrix is inverted in another order")),
    warp("DHWC", of=np.float32, channels=1, fill_value=7),
    warp("DHWC", more=(samples(matrices(3, 4)),), **NN),
    warp("DHWC", more=(samples(matrices(3, 4)),), inverse_map=False, fill_value=1),
    warp("FDHWC", fill_value=7),
    case("warp_affine", samples(list(pictures().arrays)), reference=reference("HWC"), off_by=1, on_gpu=ON_GPU,
         matrix=PLANE),
    case("warp_affine", samples(list(pictures("FHWC").arrays)), reference=reference("FHWC"), off_by=1, on_gpu=ON_GPU,
         matrix=PLANE),
]  # fmt: skip


def run(array: Array, layout: str, **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.warp_affine(constant(array, layout), **arguments))
    return np.array(pipe.run()[0].at(0))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [1, 3, 4, 6])
def test_the_identity_changes_nothing(dtype: Any, channels: int) -> None:
    x = random_array((19, 610, channels), dtype)
    for more in ({}, {"fill_value": 3}, NN):
        np.testing.assert_array_equal(run(x, "HWC", matrix=[1, 0, 0, 0, 1, 0], **more), x)


@pytest.mark.parametrize("kind", [types.INTERP_NN, types.INTERP_LINEAR])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 3e38])
def test_positions_that_are_none_are_outside(kind: types.DALIInterpType, value: float) -> None:
    x = random_array((9, 11, 3))
    assert (run(x, "HWC", matrix=[1, 0, value, 0, 1, 0], fill_value=8, interp_type=kind) == 8).all()
    assert run(x, "HWC", matrix=[value] * 6, interp_type=kind).shape == x.shape


def test_windows_and_whole_pictures_agree() -> None:
    """Behind a crop, only some rows and columns are computed, in sums that begin in the middle of a tile."""
    x = random_array((70, 600, 3))
    whole = run(x, "HWC", matrix=PLANE, fill_value=3)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        warped_once = [fn.warp_affine(constant(x, "HWC"), matrix=PLANE, fill_value=3) for _ in range(3)]
        pipe.set_outputs(
            fn.slice(warped_once[0], start=[300, 11], shape=[111, 20]),
            fn.slice(warped_once[1], start=[0, 69], shape=[1, 1]),
            fn.slice(warped_once[2], start=[512, 3], shape=[88, 9]),
        )
    a, b, c = (np.array(o.at(0)) for o in pipe.run())
    np.testing.assert_array_equal(a, whole[11:31, 300:411])
    np.testing.assert_array_equal(b, whole[69:70, :1])
    np.testing.assert_array_equal(c, whole[3:12, 512:600])


@pytest.mark.parametrize(
    ("input_type", "output_type", "interpolation", "fill", "wanted"),
    [
        ("u1", types.UINT8, types.INTERP_LINEAR, 7, 7),
        ("u1", types.FLOAT, types.INTERP_LINEAR, 99.1, 99),  # blended pixels are of the input's type
        ("i2", types.FLOAT, types.INTERP_LINEAR, 99.6, 100),
        ("i2", types.FLOAT, types.INTERP_NN, 99.5, 99.5),
        ("f4", types.UINT8, types.INTERP_LINEAR, 99.6, 100),
    ],
)
def test_nothing_in_gives_the_fill(
    input_type: str, output_type: types.DALIDataType, interpolation: types.DALIInterpType, fill: float, wanted: float
) -> None:
    arguments = dict(matrix=PLANE, size=(5, 6), fill_value=fill, interp_type=interpolation, dtype=output_type)
    assert (run(np.zeros((0, 4, 3), input_type), "HWC", **arguments) == wanted).all()


def test_inverse_of_a_map_of_space_has_dalis_bits() -> None:
    """Of axes that are turned and change places, too: what is half-way between two pixels hangs on them."""
    pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    rng = np.random.default_rng(7)
    turned = [np.eye(3)[order] for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1], [2, 1, 0])]
    linear = [turned[i % 4] + rng.uniform(-0.6, 0.6, (3, 3)) * (i % 3 > 0) for i in range(24)]
    each = samples([np.float32(np.c_[m, rng.uniform(-3, 3, 3)]) for m in linear])
    x = samples([random_array((9, 11, 13, 1), np.float32) for _ in linear], "DHWC")
    of = case("warp_affine", x, matrix=each, inverse_map=False, fill_value=0)
    assert_equal(ours(of), dalis(of))


def test_matrices_by_frame() -> None:
    video = random_array((3, 20, 30, 3))
    each = np.stack(matrices(2, 3))
    both = {"off_by": 1, "reference": reference("FHWC")}
    as_input = case("warp_affine", samples([video], "FHWC"), samples([each], "FNX"), **both)
    as_argument = case("warp_affine", samples([video], "FHWC"), matrix=samples([each], "FNX"), **both)
    wanted = reference("FHWC")(video, each)
    for one in (as_input, as_argument):
        found = ours(one)[0].arrays[0].astype(int)
        assert np.abs(found - wanted).max() <= 1


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"interp_type": types.INTERP_CUBIC}, "interp_type"),
        ({"dtype": types.FLOAT16}, "dtype"),
        ({"size": (1, 2, 3, 4)}, "size"),
        ({"dtype": types.FLOAT, "output_dtype": types.FLOAT}, "output_dtype"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=rf"warp_affine: .*{argument}"):
        fn.warp_affine(types.Constant(np.zeros((4, 4, 3), np.uint8)), matrix=PLANE, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "matrix is required"),
        ({"matrix": [1, 0, 0]}, "matrix has 3 values: expected 6"),
        ({"matrix": SPACE}, "matrix has 12 values: expected 6"),
        ({"matrix": [1, 2, 0, 2, 4, 0], "inverse_map": False}, "the matrix has no inverse"),
        ({"matrix": PLANE, "size": (0, 4)}, "size: the extent 0.0* is not positive"),
        ({"matrix": PLANE, "size": (3, 4, 4)}, "size has 3 values: expected 2"),
        ({"matrix": PLANE, "size": (1e30, 4)}, "is too large"),
        ({"matrix": PLANE, "dtype": types.INT16}, "expected the input's type, UINT8, or FLOAT; got INT16"),
    ],
)
def test_wrong_values(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        run(np.zeros((4, 4, 3), np.uint8), "HWC", **arguments)


@pytest.mark.parametrize("layout", ["CHW", "WHC", "FCHW", "HW"])
def test_wrong_layouts(layout: str) -> None:
    with pytest.raises(OperatorError, match=f"the layout '{layout}'"):
        run(np.zeros([4] * len(layout), np.uint8), layout, matrix=PLANE)


def test_wrong_matrices_of_inputs() -> None:
    for matrix in (np.zeros((3, 3), np.float32), np.zeros(6, np.float32), np.zeros((2, 3))):
        with pytest.raises(OperatorError, match="the second input must be a matrix of FLOAT"):
            ours(case("warp_affine", pictures(), samples([matrix] * 3)))
