"""Element-wise functions: those of `penstock.math`, of tensors, batches, arrays and numbers.

>>> import penstock.experimental.dynamic as ndd
>>> np.asarray(ndd.math.sqrt(ndd.tensor([1.0, 4.0]))).tolist()
[1.0, 2.0]
"""

from __future__ import annotations

import functools
from typing import Any

from penstock import math as _math
from penstock.experimental.dynamic._call import combine as _combine


def _of(function: Any) -> Any:
    @functools.wraps(function)
    def called(*operands: Any) -> Any:
        return _combine(function, operands)

    return called


globals().update(
    (name, _of(function))
    for name, function in vars(_math).items()
    if callable(function) and not name.startswith("_") and getattr(function, "__module__", "") == _math.__name__
)
