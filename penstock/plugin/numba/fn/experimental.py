"""Operators of functions that Numba compiles, where DALI had them first."""

from penstock.custom.numba_function import NumbaFunction
from penstock.fn import function_of

__all__ = ["numba_function"]

numba_function = function_of(NumbaFunction, "numba_function", "penstock.plugin.numba.fn")
