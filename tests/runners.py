"""Runs a case (tests/cases.py) here, and in DALI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, types
from penstock.graph.node import DataNode
from penstock.op import registry
from penstock.ops import call
from tests.cases import SAME, Apart, Array, Case, Samples

Nodes = list[DataNode]


@dataclass
class Result:
    """What came out for one output of the operator."""

    arrays: list[Array]  # one per sample
    dtype: int  # DALI's number
    layout: str


def ours(
    case: Case,
    *,
    batch_size: int | None = None,
    num_threads: int = 2,
    device: str | None = None,
    first: Callable[[Nodes], Nodes] = lambda inputs: inputs,
    then: Callable[[DataNode], DataNode] = lambda output: output,
) -> list[Result]:
    """The outputs for all samples of the case; ``first`` replaces input nodes, ``then`` is done to each output.

    With ``device="gpu"`` the operator runs there, and so do its inputs, but those that it needs on the CPU.
    """
    device_id = None if device is None else 0
    pipe = Pipeline(batch_size=batch_size or case.count, num_threads=num_threads, device_id=device_id, seed=7)
    schema = registry.ops[case.op]
    with pipe:
        inputs = first([s.node() for s in case.inputs])
        if device == "gpu":
            inputs = [n if i in schema.cpu_inputs else n.gpu() for i, n in enumerate(inputs)]
        arguments = {k: v.node() if isinstance(v, Samples) else v for k, v in case.arguments.items()}
        made = call(schema, tuple(inputs), {"device": device, **arguments})
        pipe.set_outputs(*[then(o) for o in (made if isinstance(made, list) else [made])])
    results: list[Result] = []
    while not results or len(results[0].arrays) < case.count:
        for i, output in enumerate(o.as_cpu() for o in pipe.run()):
            if i == len(results):
                results.append(Result([], int(output.dtype), output.layout()))
            results[i].arrays += [np.array(output.at(k)) for k in range(len(output))]
    for result in results:
        del result.arrays[case.count :]
    return results


def dalis(case: Case, device: str = "cpu") -> list[Result]:
    """The same by DALI itself."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    import nvidia.dali.fn as dali_fn

    on_gpu = device == "gpu"
    device_id = 0 if on_gpu else None
    pipe = dali.Pipeline(batch_size=case.count, num_threads=1, device_id=device_id, seed=7, prefetch_queue_depth=1)
    schema = registry.ops[case.op]

    def source(samples: Samples) -> Any:
        batch = [np.array(a, order="C") for a in samples.arrays]
        return dali_fn.external_source(source=lambda: batch, batch=True, layout=samples.layout or None)

    def value(v: Any) -> Any:
        if isinstance(v, Samples):
            return source(v)
        if isinstance(v, (types.DALIDataType, types.DALIImageType, types.DALIInterpType)):
            return getattr(dali.types, type(v).__name__)(int(v))
        return v

    function: Any = dali_fn
    for part in case.op.split("."):
        function = getattr(function, part)
    with pipe:
        inputs = [source(s) for s in case.inputs]
        if on_gpu:
            inputs = [n if i in schema.cpu_inputs else n.gpu() for i, n in enumerate(inputs)]
        made = function(*inputs, device=device, **{k: value(v) for k, v in case.arguments.items()})
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    pipe.build()
    outputs = [o.as_cpu() if hasattr(o, "as_cpu") else o for o in pipe.run()]
    return [Result([np.array(o.at(i)) for i in range(case.count)], int(o.dtype), o.layout()) for o in outputs]


def assert_equal(found: list[Result], wanted: list[Result]) -> None:
    """Bit for bit, not-a-number included."""
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.layout) == (b.dtype, b.layout)
        for i, (x, y) in enumerate(zip(a.arrays, b.arrays, strict=True)):
            assert x.shape == y.shape, f"sample {i}"
            assert x.tobytes() == y.tobytes(), f"sample {i}: {differences(x, y)}"


def assert_apart(found: list[Result], wanted: list[Result], allowed: Apart, random: bool = False) -> None:
    """No further apart than that; only types, layouts and shapes of what is ``random``."""
    assert_alike(found, wanted, allowed.share, allowed.tolerance, random, off_by=allowed.off_by)


def assert_alike(
    found: list[Result],
    wanted: list[Result],
    share: float,
    tolerance: float,
    random: bool,
    of_largest: float = 0,
    off_by: int = 1,
) -> None:
    """As `assert_close` says it; only types, layouts and shapes of what is ``random``."""
    assert len(found) == len(wanted)
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert (a.dtype, a.layout) == (b.dtype, b.layout)
        for i, (x, y) in enumerate(zip(a.arrays, b.arrays, strict=True)):
            assert x.shape == y.shape
            if not random:
                assert_close(x, y, off_by, share, tolerance, f"sample {i}, output {k}", of_largest)


def assert_as_dali_on_gpu(case: Case, random: bool = False) -> None:
    """On a GPU: as DALI's GPU operator has it, which rounds otherwise than its CPU's; where the two differ by more
    (halves go to the even number, casts saturate, ...), as its CPU operator has it, or as far from that as the case
    says. Interpolated floats are off by as much as neighbours differ times what positions are off, hence a share of
    the largest value.
    """
    try:
        wanted = dalis(case, "gpu")
    except (RuntimeError, TypeError, ValueError) as error:
        pytest.skip(f"DALI's GPU operator refuses it: {str(error).splitlines()[0][:80]}")
    found = ours(case, device="gpu")
    try:
        assert_alike(found, wanted, 0.05, 1e-3, random, 2e-5)
    except AssertionError as error:
        print(f"unlike DALI's GPU operator: {error}")
        allowed = case.from_dali
        share, tolerance = (0.005, 1e-4) if allowed == SAME else (allowed.share, allowed.tolerance)
        assert_alike(found, dalis(case), share, tolerance, random, off_by=max(1, allowed.off_by))


def assert_close(
    found: Array, wanted: Array, off_by: int, share: float, tolerance: float, what: str, of_largest: float = 0
) -> None:
    """Integers at most ``off_by`` apart, in at most ``share`` of all places; floats by their relative difference, or by
    that to the largest one: where they may differ at all, those of 16 bits by their last one.
    """
    assert found.shape == wanted.shape, what
    assert found.dtype == wanted.dtype, what
    if found.dtype.kind == "f":
        if tolerance and found.dtype == np.float16:
            tolerance = max(tolerance, 2.0**-10)
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        with np.errstate(invalid="ignore"):
            largest = np.max(np.abs(b), initial=0, where=np.isfinite(b))
            near = np.abs(a - b) <= np.maximum(tolerance * np.maximum(1, np.abs(b)), of_largest * largest)
        assert np.all(near | (a == b) | (np.isnan(a) & np.isnan(b))), f"{what}: {differences(found, wanted)}"
    elif not np.array_equal(found, wanted):
        found, wanted = (x.astype(np.uint8) if x.dtype == np.bool_ else x for x in (found, wanted))
        apart = np.where(found > wanted, found - wanted, wanted - found)
        assert apart.max() <= off_by, f"{what}: {differences(found, wanted)}"
        assert (apart > 0).mean() <= share, f"{what}: {differences(found, wanted)}"


def differences(x: Array, y: Array) -> str:
    """How two arrays of one shape differ, in words."""
    apart = ~((x == y) | ((x != x) & (y != y)))
    at = np.argwhere(apart)
    with np.errstate(invalid="ignore", over="ignore"):
        largest = np.nanmax(np.abs(x.astype(np.float64) - y.astype(np.float64)), initial=0.0, where=apart)
    shown = ", ".join(f"{tuple(map(int, i))}: {x[tuple(i)]!r} != {y[tuple(i)]!r}" for i in at[:4])
    return f"{len(at)} of {x.size} elements differ, by up to {largest:g}: {shown}"
