"""Operators of users' own."""
