"""Element-wise functions for nodes of a pipeline.

An operand is a node, a number, a constant of `penstock.types` or an array; at least one is a node. Operands of
different shapes are broadcast as in NumPy, and their types are promoted as in DALI: of integers and floats the float's
type is the result's, of integers of one kind the wider one's, of signed and unsigned ones a signed type that is wider
than the unsigned one. Functions whose result is a float give FLOAT where no operand is a float.

Comparisons, too, are of the operands' values: an integer beside a float is rounded to the float's type and keeps its
sign. DALI takes a negative integer for less than any float, so ``-2 < -2.5`` is true there, and ``-2 == -2.0`` false.
A constant of FLOAT64 keeps its 64 bits, so for an ``x`` of FLOAT64 that holds 0.1
``x < types.Constant(0.1, types.FLOAT64)`` is false; DALI rounds the constant to FLOAT, which makes it true.

A function is computed on the GPU if an operand is there; operands on the CPU may stand beside it. The results are the
CPU's to the last bit, but for the functions that no machine rounds exactly (`cbrt`, `exp`, `sin`, `pow` of floats and
their likes), which are off by a few units in the last place. Integer division by zero, an error on the CPU, gives 0 on
the GPU, and the remainder is then the dividend.

All of them raise ArgumentTypeError for operands of other kinds while the pipeline is being defined, and OperatorError
while it runs: for shapes or layouts that do not fit, and for booleans where numbers are needed.

>>> import numpy as np
>>> from penstock import fn, math, pipeline_def, types
>>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
... def pipeline():
...     x = types.Constant(np.array([1.0, 4.0, 9.0], np.float32))
...     return math.sqrt(x), math.clamp(x, 2, 5)
>>> roots, clamped = pipeline().run()
>>> roots.at(0), clamped.at(0)
(array([1., 2., 3.], dtype=float32), array([2., 4., 5.], dtype=float32))
"""

from __future__ import annotations

from typing import Any

from penstock.graph.expression import expression
from penstock.graph.node import DataNode


def sqrt(input: Any) -> DataNode:
    """Square root."""
    return expression("sqrt", input)


def rsqrt(input: Any) -> DataNode:
    """1 / square root; of 0 infinity, of infinity 0.

    DALI's way to compute it in FLOAT makes not-a-number of both.
    """
    return expression("rsqrt", input)


def cbrt(input: Any) -> DataNode:
    """Cube root."""
    return expression("cbrt", input)


def exp(input: Any) -> DataNode:
    """e to the power of each element."""
    return expression("exp", input)


def log(input: Any) -> DataNode:
    """Natural logarithm."""
    return expression("log", input)


def log2(input: Any) -> DataNode:
    """Logarithm to base 2."""
    return expression("log2", input)


def log10(input: Any) -> DataNode:
    """Logarithm to base 10."""
    return expression("log10", input)


def abs(input: Any) -> DataNode:
    """Absolute value, in the input's type; the smallest signed integer stays itself."""
    return expression("abs", input)


def fabs(input: Any) -> DataNode:
    """Absolute value, as a float."""
    return expression("fabs", input)


def floor(input: Any) -> DataNode:
    """Largest whole number that is not greater, as a float."""
    return expression("floor", input)


def ceil(input: Any) -> DataNode:
    """Smallest whole number that is not less, as a float."""
    return expression("ceil", input)


def sin(input: Any) -> DataNode:
    """Sine of an angle in radians."""
    return expression("sin", input)


def cos(input: Any) -> DataNode:
    """Cosine of an angle in radians."""
    return expression("cos", input)


def tan(input: Any) -> DataNode:
    """Tangent of an angle in radians."""
    return expression("tan", input)


def asin(input: Any) -> DataNode:
    """Arc sine, in radians."""
    return expression("asin", input)


def acos(input: Any) -> DataNode:
    """Arc cosine, in radians."""
    return expression("acos", input)


def atan(input: Any) -> DataNode:
    """Arc tangent, in radians."""
    return expression("atan", input)


def sinh(input: Any) -> DataNode:
    """Hyperbolic sine."""
    return expression("sinh", input)


def cosh(input: Any) -> DataNode:
    """Hyperbolic cosine."""
    return expression("cosh", input)


def tanh(input: Any) -> DataNode:
    """Hyperbolic tangent."""
    return expression("tanh", input)


def asinh(input: Any) -> DataNode:
    """Inverse of the hyperbolic sine."""
    return expression("asinh", input)


def acosh(input: Any) -> DataNode:
    """Inverse of the hyperbolic cosine."""
    return expression("acosh", input)


def atanh(input: Any) -> DataNode:
    """Inverse of the hyperbolic tangent."""
    return expression("atanh", input)


def min(left: Any, right: Any) -> DataNode:
    """The lesser of two; of a number and NaN, in this order, NaN, and the other way round the number."""
    return expression("min", left, right)


def max(left: Any, right: Any) -> DataNode:
    """The greater of two; of a number and NaN, in this order, NaN, and the other way round the number."""
    return expression("max", left, right)


def pow(base: Any, exponent: Any) -> DataNode:
    """Base to the power of the exponent, in their promoted type.

    Integers wrap around where they do not fit; negative powers of integers are 0. See `fpow`.
    """
    return expression("pow", base, exponent)


def fpow(base: Any, exponent: Any) -> DataNode:
    """Base to the power of the exponent, as a float."""
    return expression("fpow", base, exponent)


def atan2(x: Any, y: Any) -> DataNode:
    """Angle of the point with the ordinate ``x`` and the abscissa ``y``, in radians: DALI's order of names."""
    return expression("atan2", x, y)


def clamp(value: Any, lo: Any, hi: Any) -> DataNode:
    """The value, or ``lo`` where it is less, or ``hi`` where it is greater, in the type promoted from all three."""
    return expression("clamp", value, lo, hi)
