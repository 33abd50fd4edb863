"""What `penstock.backend` has, by the name of the module that scripts for DALI import tensors from."""

from __future__ import annotations

from penstock import backend
from penstock.backend import *  # noqa: F403

__all__ = list(backend.__all__)
