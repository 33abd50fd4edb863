"""Iterators for frameworks."""
