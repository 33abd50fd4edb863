"""Outputs of pipelines as arrays of a framework."""

from __future__ import annotations

from typing import Any

from penstock.errors import OperatorError
from penstock.frameworks import Backend


def dense(backend: Backend, name: str, output: Any) -> Any:
    """An output (a TensorList) as one array; OperatorError where its samples differ in shape."""
    if not output.is_dense_tensor() and len(shapes := {tuple(shape) for shape in output.shape()}) > 1:
        first, second, *_ = sorted(shapes)
        raise OperatorError(
            f"output {name!r} cannot be one tensor: its samples have {len(shapes)} shapes, {first} and {second} "
            "among them. Resize, crop or pad them to one shape in the pipeline"
        )
    return backend.array(output.as_tensor())
