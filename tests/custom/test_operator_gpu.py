"""`penstock.operator` on a GPU: functors of a script in the kernels of chains, with the CPU's results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock import errors, fn, types
from tests.custom import test_operator
from tests.custom.test_example import MEAN, SIZES, STD, any_fn, pictures, run, source, strengths
from tests.custom.test_gpu import same
from tests.small import made

pytestmark = pytest.mark.usefixtures("software_gpu", "operators")


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    yield from test_operator.operators.__wrapped__(tmp_path_factory)  # type: ignore[attr-defined]


def chain(gpu: bool) -> Any:
    images = source(pictures())
    moved = any_fn.mine.shifted(images.gpu() if gpu else images, dx=strengths() * 5, dy=1.25, interp_type=1)
    halved = any_fn.scaled(any_fn.sepia_tone(moved, strength=strengths(), tint=[1.0, 0.9, 1.1]), factor=0.5, shift=3)
    return fn.crop_mirror_normalize(halved, mean=MEAN, std=STD, dtype=types.FLOAT, output_layout="CHW")


def test_one_kernel_with_the_cpus_results(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = made(lambda: chain(True), batch_size=len(SIZES), device_id=0)
    pipe.build()
    assert "in one kernel: mine.shifted → sepia_tone → scaled → crop_mirror_normalize" in pipe.explain()
    fused = run(lambda: chain(True), device_id=0)
    same(fused, run(lambda: chain(False)))
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    same(run(lambda: chain(True), device_id=0), fused)
    pipe.run()
    assert "struct Functor" in pipe.explain(source=True)


@pytest.mark.parametrize("mask", [0, 1])
@pytest.mark.parametrize("interp_type", [0, 1])
def test_positions_alone(mask: int, interp_type: int) -> None:
    def define(gpu: bool) -> Any:
        images = source(pictures())
        arguments = {"dx": 2.75, "mask": mask, "interp_type": interp_type, "fill_value": 9}
        return any_fn.mine.shifted(images.gpu() if gpu else images, **arguments)

    same(run(lambda: define(True), device_id=0), run(lambda: define(False)))


def test_what_runs_on_the_cpu_alone() -> None:
    with pytest.raises(errors.DeviceError, match="weighed: device='gpu': this operator runs on 'cpu'"):
        any_fn.weighed(source(pictures()), source(pictures()), device="gpu")
