"""Shapes, types and elements of any tensors."""
