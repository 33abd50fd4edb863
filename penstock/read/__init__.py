"""Readers, and the order in which they read."""
