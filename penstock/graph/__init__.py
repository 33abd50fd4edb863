"""The graph of a pipeline while it is being defined: nodes, what makes them, and the lines that errors name."""

from penstock.graph import expression, metadata, slicing, transfer  # what nodes' methods and Python's operators make

__all__ = ["expression", "metadata", "slicing", "transfer"]
