"""Masks of objects."""
