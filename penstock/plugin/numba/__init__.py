"""Penstock with Numba: functions that it compiles as operators (`fn.numba_function`)."""

from penstock.custom import numba_function
from penstock.frameworks import package
from penstock.ops import class_of
from penstock.plugin.numba import fn

__all__ = ["NumbaFunction", "fn"]

package("numba", "numba")

NumbaFunction = class_of(numba_function.NumbaFunction, "numba_function", "NumbaFunction", __name__)
