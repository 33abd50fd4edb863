"""Filters: each pixel from those around it."""
