"""Data from outside: external sources, and how they are asked."""
