"""Pipeline.explain(source=True): the kernels that a pipeline needs."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import pictures, samples

pytestmark = pytest.mark.usefixtures("software_gpu")


def pipeline() -> Pipeline:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=0)
    with pipe:
        images = fn.flip(pictures().node().gpu())
        pipe.set_outputs(fn.cast(images * 0.5, dtype=types.UINT8), fn.random.normal(device="gpu", shape=[3]))
    return pipe


def without_counts(text: str) -> list[str]:
    """What changes as batches are prepared ahead is left out."""
    return [line for line in text.splitlines() if "so far:" not in line]


def test_the_sources_follow_the_plan_and_no_batch_is_lost() -> None:
    pipe, other = pipeline(), pipeline()
    plan, *kernels = pipe.explain(source=True).split("\n\n")
    assert without_counts(plan) == without_counts(pipe.explain())
    assert len(kernels) == 2
    chain, normal = sorted(kernels, key=lambda k: "Normal" in k)
    assert chain.startswith('#include "device/picture/')
    assert chain.index("Mul, float") < chain.index("Same, uint8_t")
    assert "PS_ELEMENT_KERNEL(ps::device::Normal<float>)" in normal
    for _ in range(3):
        a, b = pipe.run()[0].as_cpu(), other.run()[0].as_cpu()
        np.testing.assert_array_equal(a.at(0), b.at(0))
    assert without_counts(pipe.explain(source=True)) == without_counts(other.explain(source=True))


def test_a_batch_that_fails_is_the_next_runs() -> None:
    wrong = samples([[1, 2], [1, 2, 3]], dtype=np.int32)  # which do not fit three numbers
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipe:
        pipe.set_outputs(wrong.node().gpu() + np.int32([1, 2, 3]))
    assert "add" in pipe.explain(source=True)
    with pytest.raises(OperatorError, match=r"add: .*do not fit"):
        pipe.run()


def test_nothing_is_added_where_nothing_runs_on_a_gpu() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(constant(np.zeros(3)) + 1)
    assert pipe.explain(source=True) == pipe.explain()
    assert pipe.empty()
