"""Operators whose work is code of the user's: one declaration per module."""
