"""What compilers are told for libraries of operators of one's own, by the names that DALI has for it.

The headers are ``penstock/operator.h`` and ``operator.hpp`` (docs/custom-operators.md). A library needs nothing of
Penstock's when it is linked: it is one C function that gives a table.

>>> from penstock import sysconfig
>>> sysconfig.get_compile_flags()
['-I.../penstock/include', '-std=c++17', '-fPIC']
"""

from __future__ import annotations

from penstock.machine import compiler, loader

__all__ = ["get_compile_flags", "get_include_dir", "get_include_flags", "get_lib_dir", "get_link_flags"]


def get_include_dir() -> str:
    """The folder of the headers, as `penstock.get_include` has it."""
    return str(compiler.INCLUDE)


def get_lib_dir() -> str:
    """The folder of the native library that is loaded."""
    return str(loader.library_path().parent)


def get_include_flags() -> list[str]:
    """The option that names the headers' folder."""
    return [f"-I{get_include_dir()}"]


def get_compile_flags() -> list[str]:
    """The options that the headers need: besides their folder the version of C++, and code for a shared library."""
    return [*get_include_flags(), "-std=c++17", "-fPIC"]


def get_link_flags() -> list[str]:
    """None: the table is all that a library and Penstock share, and the loader needs no name of it.

    ``-shared`` is the caller's to say, as with DALI.
    """
    return []
