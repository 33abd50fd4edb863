"""What the library knows of frameworks, each by a `Backend`: of their arrays and streams. Imports none of them."""

from __future__ import annotations

from typing import Any

from penstock.frameworks.backend import Backend, Facts
from penstock.frameworks.cupy import CuPy
from penstock.frameworks.jax import JAX
from penstock.frameworks.mxnet import MXNet
from penstock.frameworks.numpy import NumPy
from penstock.frameworks.packages import package
from penstock.frameworks.paddle import Paddle
from penstock.frameworks.pytorch import PyTorch
from penstock.frameworks.tensorflow import TensorFlow

__all__ = [
    "JAX",
    "Backend",
    "CuPy",
    "Facts",
    "MXNet",
    "NumPy",
    "Paddle",
    "PyTorch",
    "TensorFlow",
    "backend_of",
    "backends",
    "package",
    "register",
]

_backends: dict[str, Backend] = {}


def register(backend: Backend) -> None:
    """Makes a framework known; its arrays are then fed, and streams taken, by what the backend says."""
    _backends[backend.module] = backend


def backends() -> tuple[Backend, ...]:
    """Those that are known."""
    return tuple(_backends.values())


def backend_of(value: Any) -> Backend | None:
    """The backend of the framework that an array or a stream belongs to; None: it is of no framework known here."""
    return _backends.get(type(value).__module__.partition(".")[0])


register(PyTorch())
register(CuPy())
register(JAX())
register(TensorFlow())
register(Paddle())
register(MXNet())
