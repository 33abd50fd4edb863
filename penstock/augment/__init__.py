"""Declarations of operators on data, in groups."""
