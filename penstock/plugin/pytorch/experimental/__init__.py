"""What DALI calls experimental of its plugin for PyTorch: `proxy`."""

from penstock.plugin.pytorch.experimental import proxy

__all__ = ["proxy"]
