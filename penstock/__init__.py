"""Penstock loads, decodes and augments pictures for deep learning.

The API is that of NVIDIA DALI: `pipeline_def`, `fn`, `types`, and the iterators in `penstock.plugin`.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from penstock import errors, types
from penstock._version import __version__ as __version__
from penstock.graph.node import DataNode
from penstock.graph.slicing import newaxis
from penstock.pipeline import OperatorConcurrency, Pipeline, StreamPolicy, pipeline_def

if TYPE_CHECKING:
    from penstock import (
        auto_aug,
        backend,
        backend_impl,
        compat,
        data_node,
        external_source,
        fn,
        math,
        ops,
        pickling,
        plugin,
        plugin_manager,
        python_function_plugin,
        reducers,
        stores,
        sysconfig,
        tensors,
        tfrecord,
    )
    from penstock.define import operator
    from penstock.display import show
    from penstock.insight.profile import profile
    from penstock.run.merge import merge_states

__all__ = [
    "DataNode",
    "OperatorConcurrency",
    "Pipeline",
    "StreamPolicy",
    "auto_aug",
    "backend",
    "backend_impl",
    "compat",
    "data_node",
    "errors",
    "external_source",
    "fn",
    "get_include",
    "math",
    "merge_states",
    "newaxis",
    "operator",
    "ops",
    "pickling",
    "pipeline_def",
    "plugin",
    "plugin_manager",
    "profile",
    "python_function_plugin",
    "reducers",
    "show",
    "stores",
    "sysconfig",
    "tensors",
    "tfrecord",
    "types",
]

# Each costs time at import that not every user needs.
_LAZY = (
    "auto_aug", "backend", "backend_impl", "compat", "data_node", "external_source", "fn", "math", "ops",
    "pickling", "plugin", "plugin_manager", "python_function_plugin", "reducers", "stores", "sysconfig",
    "tensors", "tfrecord",
)  # fmt: skip


def get_include() -> str:
    """The folder of the headers for operators of one's own: ``#include <penstock/operator.hpp>``."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "operator":
        return importlib.import_module(f"{__name__}.define").operator
    if name == "profile":
        return importlib.import_module(f"{__name__}.insight.profile").profile
    if name == "show":
        return importlib.import_module(f"{__name__}.display").show
    if name == "merge_states":
        return importlib.import_module(f"{__name__}.run.merge").merge_states
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
