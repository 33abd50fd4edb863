"""Operators of functions that Numba compiles."""

from penstock.plugin.numba.fn import experimental
from penstock.plugin.numba.fn.experimental import numba_function

__all__ = ["experimental", "numba_function"]
