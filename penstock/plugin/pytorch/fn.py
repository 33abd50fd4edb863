"""Operators of functions that are written with PyTorch."""

from penstock.custom.torch_python_function import TorchPythonFunction
from penstock.fn import function_of

__all__ = ["torch_python_function"]

torch_python_function = function_of(TorchPythonFunction, "torch_python_function", __name__)
