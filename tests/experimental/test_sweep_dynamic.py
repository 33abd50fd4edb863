"""Tries all operators in dynamic mode, on the cases of their test modules: as in a pipeline, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock.experimental.dynamic as ndd
from penstock.eager import compute
from penstock.experimental.dynamic._call import call
from penstock.op import registry
from penstock.plugin.pytorch import DALIGenericIterator  # noqa: F401  (all rooms are imported: names must not clash)
from tests.augment.test_sweep import CASES
from tests.cases import Case, Samples
from tests.runners import Result, assert_equal, ours

pytestmark = pytest.mark.usefixtures("elsewhere")


def batch(samples: Samples) -> ndd.Batch:
    return ndd.as_batch([np.array(a, order="C") for a in samples.arrays], layout=samples.layout or None)


def dynamic(case: Case, **more: Any) -> list[Result]:
    """The outputs for all samples, as one batch."""
    inputs = [batch(s) for s in case.inputs]
    arguments = {k: batch(v) if isinstance(v, Samples) else v for k, v in case.arguments.items()}
    made = call(registry.ops[case.op], inputs, {**arguments, **more}, batch_size=case.count)
    results = []
    for output in made if isinstance(made, tuple) else [made]:
        value = output.cpu()._value()
        results.append(Result([value.at(i).copy() for i in range(case.count)], int(value.dtype), value.layout()))
    return results


def plain_numbers(case: Case) -> bool:
    """Whether there is a number that could be given per sample, and is not."""
    known = registry.ops[case.op].arguments
    return any(known[k].per_sample for k, v in case.arguments.items() if k in known and isinstance(v, (int, float)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_a_pipeline(case: Case) -> None:
    if not registry.ops[case.op].random:
        assert_equal(dynamic(case), ours(case))
        return
    seeded = Case(**{**vars(case), "arguments": {**case.arguments, "seed": 11}})
    assert_equal(dynamic(seeded), ours(seeded))


@pytest.mark.parametrize("case", [case for case in CASES if plain_numbers(case)], ids=str)
def test_numbers_as_inputs_of_a_plan(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """What calls with many different numbers come to."""
    more = {"seed": 11} if registry.ops[case.op].random else {}
    expected = dynamic(case, **more)
    monkeypatch.setattr(compute, "_ALIKE", 0)
    with ndd.EvalContext(num_threads=2) as context:
        assert_equal(dynamic(case, **more), expected)
    context.computer.close()


def test_all_operators_are_here() -> None:
    """But for readers, which are classes, and the inputs of pipelines."""
    for name, schema in registry.public().items():
        if schema.external or any(part.startswith("_") for part in name.split(".")):
            continue
        found: Any = ndd
        *groups, last = name.split(".")
        for group in groups:
            found = getattr(found, group)
        if schema.fed:
            public = (getattr(found, one) for one in dir(found) if not one.startswith("_"))
            assert any(getattr(c, "schema", None) is schema for c in public), name
        else:
            assert getattr(found, last).schema is schema
