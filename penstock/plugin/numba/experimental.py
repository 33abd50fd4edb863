"""The class of `penstock.plugin.numba`, under its first name."""

from penstock.plugin.numba import NumbaFunction

__all__ = ["NumbaFunction"]
