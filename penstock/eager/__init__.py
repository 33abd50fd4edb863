"""Operators that run when they are called: what debug mode and dynamic mode share, over the engine of pipelines."""
