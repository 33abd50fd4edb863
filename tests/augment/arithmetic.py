"""What the tests of element-wise functions share: the functions, values to try, and pipelines here and in DALI."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, math
from tests.cases import Array

TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "?"]
ARITHMETIC: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.floordiv, "mod": operator.mod,
    "pow": math.pow, "min": math.min, "max": math.max, "fdiv": operator.truediv, "fpow": math.fpow, "atan2": math.atan2,
}  # fmt: skip
BITS: dict[str, Any] = {
    "bitand": operator.and_, "bitor": operator.or_, "bitxor": operator.xor, "lshift": operator.lshift,
    "rshift": operator.rshift,
}  # fmt: skip
COMPARISONS: dict[str, Any] = {
    "eq": operator.eq, "neq": operator.ne, "lt": operator.lt, "leq": operator.le, "gt": operator.gt, "geq": operator.ge,
}  # fmt: skip
REAL = [
    "sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "fabs", "floor", "ceil", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
]  # fmt: skip


def values(dtype: str, zeros: bool = True) -> Array:
    """Limits of the type, small numbers of both signs, and for floats what is no ordinary number."""
    d = np.dtype(dtype)
    random = np.random.default_rng(5)
    if d.kind == "b":
        return random.integers(0, 2, 48).astype(d) if zeros else np.ones(48, d)
    if d.kind == "f":
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, 3, -3, 0.5, -0.5, 7.25, 100, -100]
        array = np.concatenate([special, random.normal(0, 10, 33)]).astype(d)
    else:
        limits = np.iinfo(d)
        special = [0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.min, limits.min + 1, 5, 31, 8]
        array = np.concatenate([np.array(special, d), random.integers(0, 50, 36).astype(d)])
        if d.kind == "i":
            array[12:30] = -array[12:30]
    return array if zeros else np.where(array == 0, d.type(1), array)


def run(make: Callable[[], Any], batch_size: int = 1) -> list[Any]:
    """The pipeline's outputs, as TensorListCPU."""
    pipe = Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipe:
        made = make()
        pipe.set_outputs(*(made if isinstance(made, (tuple, list)) else [made]))
    return list(pipe.run())


def value(make: Callable[[], Any]) -> Array:
    return np.array(run(make)[0].at(0))


def dali_run(make: Callable[[Callable[..., Any]], Any]) -> list[Any]:
    """As `run`, by DALI; `make` gets a function that makes a node of an array."""
    dali = pytest.importorskip("nvidia.dali", reason="compares with DALI: pip install penstock[dali]")
    import nvidia.dali.fn as dali_fn

    def node(array: Array, layout: str | None = None) -> Any:
        return dali_fn.external_source(source=lambda: [array], batch=True, layout=layout)

    pipe = dali.Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        made = make(node)
        pipe.set_outputs(*(made if isinstance(made, (tuple, list)) else [made]))
    pipe.build()
    return list(pipe.run())


def dali_function(name: str) -> Any:
    operators = {**BITS, **COMPARISONS, **{k: v for k, v in ARITHMETIC.items() if v.__module__ == "_operator"}}
    if name in operators:
        return operators[name]
    dali_math = pytest.importorskip("nvidia.dali.math", reason="compares with DALI: pip install penstock[dali]")
    return getattr(dali_math, name)


def assert_same(found: Array, wanted: Array, what: Any) -> None:
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype}, expected {wanted.dtype}"
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=0, err_msg=str(what))
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=str(what))
