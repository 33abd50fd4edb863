"""Windows, transpositions and subscripts on the GPU, against NumPy and the CPU; test_sweep_gpu.py has more."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import DataNode, Pipeline, fn, types
from penstock.errors import DeviceError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, random_array

pytestmark = pytest.mark.usefixtures("software_gpu")


def defined(define: Callable[[], list[DataNode]]) -> Pipeline:
    pipe = Pipeline(batch_size=1, num_threads=2, device_id=0)
    with pipe:
        pipe.set_outputs(*define())
    return pipe


def run(define: Callable[[], list[DataNode]]) -> list[Array]:
    """Each output's only sample."""
    pipe = defined(define)
    return [np.array(o.as_cpu().at(0)) for o in pipe.run()]


@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize("dtype", [types.FLOAT16, types.UINT8])
def test_rows_of_every_width_and_start(dtype: types.DALIDataType, layout: str) -> None:
    """Pixels move four at a time, as words where they lie so: all places in a word, both directions, all remainders."""
    picture = constant(random_array((3, 40, 3)), "HWC")
    cuts = [{"start": [x, 0], "shape": [width, 3]} for x in range(4) for width in range(1, 10)]
    numbers = {"mean": [120.5, 110.0, 100.0], "std": [1.7, 0.93, 2.0], "dtype": dtype, "output_layout": layout}

    def define(x: DataNode) -> list[DataNode]:
        parts = [fn.slice(x, **cut) for cut in cuts]
        parts += [fn.flip(part) for part in parts]
        return parts + [fn.crop_mirror_normalize(p, mirror=m, **numbers) for p in parts for m in (0, 1)]

    for found, wanted in zip(run(lambda: define(picture.gpu())), run(lambda: define(picture)), strict=True):
        assert found.tobytes() == wanted.tobytes()


def test_a_chain_is_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    video = constant(random_array((3, 21, 34, 3)), "FHWC")

    def define(x: DataNode) -> list[DataNode]:
        x = fn.flip(fn.crop(x, crop=[17, 30], crop_pos_x=0.2), vertical=1)
        return [fn.crop_mirror_normalize(x, crop=[13, 27], mirror=1, output_layout="FCHW", pad_output=True, mean=3.0)]

    assert "in one kernel: crop → flip → crop_mirror_normalize" in defined(lambda: define(video.gpu())).explain()
    wanted = run(lambda: define(video))[0]
    assert run(lambda: define(video.gpu()))[0].tobytes() == wanted.tobytes()
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    assert run(lambda: define(video.gpu()))[0].tobytes() == wanted.tobytes()


@pytest.mark.parametrize("perm", list(itertools.permutations(range(4))))
def test_every_order_of_four_axes(perm: tuple[int, ...]) -> None:
    shapes = ((2, 3, 41, 33), (40, 2, 70, 3), (1, 35, 2, 3), (37, 65, 3, 1))
    arrays = [random_array(shape, dtype) for shape in shapes for dtype in (np.uint8, np.float32)]
    for found, array in zip(
        run(lambda: [fn.transpose(constant(a).gpu(), perm=perm) for a in arrays]), arrays, strict=True
    ):
        assert np.array_equal(found, np.transpose(array, perm))


@pytest.mark.parametrize("policy", ["pad", "edge", "reflect", "reflect_101", "wrap"])
def test_windows_beyond_the_input(policy: str) -> None:
    """Far beyond it too, where what is repeated is repeated again."""
    x = constant(random_array((4, 5, 3), np.int16), "HWC")
    arguments: dict[str, Any] = {"out_of_bounds_policy": policy, "fill_values": [1, 2, 3], "dtype": types.FLOAT}
    windows = [{"start": start, "shape": [19, 17]} for start in ([-9, -7], [2, -1], [30, 40], [-40, -30])]
    found, wanted = (run(lambda d=d: [fn.slice(d, **w, **arguments) for w in windows]) for d in (x.gpu(), x))
    for a, b in zip(found, wanted, strict=True):
        assert a.tobytes() == b.tobytes()


def test_many_channels_of_different_numbers() -> None:
    x = constant(random_array((6, 7, 9)), "HWC")
    numbers = {"mean": list(range(9)), "std": [1.0 + i / 8 for i in range(9)], "mirror": 1, "pad_output": True}
    on_gpu, on_cpu = (run(lambda d=d: [fn.crop_mirror_normalize(d, **numbers)])[0] for d in (x.gpu(), x))
    assert on_gpu.shape == (16, 6, 7)
    assert on_gpu.tobytes() == on_cpu.tobytes()


def test_subscripts_with_indices_of_each_sample() -> None:
    x = random_array((6, 7, 5), np.int16)
    index, node = constant(np.int32(-2)), constant(x).gpu()
    row, part = run(lambda: [node[index], node[1 : constant(np.int64(5)) : 2, ..., ::-1]])
    assert np.array_equal(row, x[-2])
    assert np.array_equal(part, x[1:5:2, ..., ::-1])
    with pytest.raises(OperatorError, match=r"index -2 is out of range for axis 0 of extent 1"):
        run(lambda: [node[:1][index]])


def test_what_shapes_depend_on_stays_on_the_cpu() -> None:
    node, index = constant(np.zeros((4, 5, 3), np.uint8), "HWC"), constant(np.int32(1))
    for data in (node, node.gpu()):
        with pytest.raises(DeviceError, match=r"is on the GPU: indices and bounds must be on the CPU, use \.cpu\(\)"):
            data[: index.gpu()]
    two = fn.random.uniform(range=[0.0, 0.5], shape=2)
    with pytest.raises(DeviceError, match=r"slice: input 1 .* needs it on the CPU: use \.cpu\(\)"):
        fn.slice(node.gpu(), two.gpu(), two)
    with pytest.raises(DeviceError, match=r"reshape: input 1 .* needs it on the CPU"):
        fn.reshape(node.gpu(), fn.cast(two, dtype=types.INT32).gpu())
