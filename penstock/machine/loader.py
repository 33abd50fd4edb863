"""Finds and loads the native library that suits this processor.

The library is built once per instruction-set level (``libpenstock-x86-64-v3.so`` and so on); the highest level that
the processor runs is loaded. Two environment variables overrule that: ``PENSTOCK_ISA`` names the level, and
``PENSTOCK_NATIVE`` the folder of the libraries (a build of one's own, with sanitizers say).
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

from penstock.errors import NativeLibraryError

# What the kernel must report for each level (the x86-64 psABI's lists, in /proc/cpuinfo's spelling), lowest first.
_LEVELS = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}


def supported_levels(flags: set[str]) -> list[str]:
    """The levels that a processor with these ``/proc/cpuinfo`` flags runs, lowest first."""
    levels = []
    for level, needed in _LEVELS.items():
        if not flags.issuperset(needed.split()):
            break
        levels.append(level)
    return levels


def _processor_flags() -> set[str]:
    with open("/proc/cpuinfo") as cpuinfo:  # the first processor's lines are enough: a big machine has hundreds
        for line in cpuinfo:
            if line.startswith("flags"):
                return set(line.partition(":")[2].split())
    return set()


def _levels() -> list[str]:
    if os.uname().machine not in ("x86_64", "AMD64"):
        return ["baseline"]
    return supported_levels(_processor_flags())


def _folder() -> Path:
    return Path(os.environ.get("PENSTOCK_NATIVE") or Path(__file__).parents[1] / "_native")


@cache
def library_path() -> Path:
    """The file to load: of the level asked for by ``PENSTOCK_ISA``, or of the highest level that runs here."""
    folder, levels, asked = _folder(), _levels(), os.environ.get("PENSTOCK_ISA")
    built = sorted(path.stem.removeprefix("libpenstock-") for path in folder.glob("libpenstock-*.so"))
    if not built:
        raise NativeLibraryError(
            f"penstock's native library is missing: no libpenstock-*.so in {folder}. In a checkout, build it with "
            "./dev build; otherwise install the package again: pip install --force-reinstall penstock"
        )
    if asked:
        if asked not in built:
            raise NativeLibraryError(f"PENSTOCK_ISA={asked!r} is not among the levels built in {folder}: {built}")
        if asked not in levels:
            raise NativeLibraryError(f"PENSTOCK_ISA={asked!r}: this processor only runs {levels}")
        return folder / f"libpenstock-{asked}.so"
    for level in reversed(levels):
        if level in built:
            return folder / f"libpenstock-{level}.so"
    raise NativeLibraryError(f"this processor runs {levels or 'no level known to penstock'}, but {folder} has {built}")


def beside(name: str) -> Path:
    """Where a library lies that comes with the native one."""
    return library_path().with_name(name)


def isa() -> str:
    """The level that is loaded, such as ``"x86-64-v3"``."""
    return library_path().stem.removeprefix("libpenstock-")


@cache
def library() -> ctypes.CDLL:
    """The native library for calls that may take long: each call gives up the GIL while it runs."""
    return ctypes.CDLL(str(library_path()), mode=ctypes.RTLD_LOCAL)


@cache
def quick_library() -> ctypes.PyDLL:
    """The same library for calls that return at once: giving up the GIL and winning it back would cost more."""
    return ctypes.PyDLL(str(library_path()), mode=ctypes.RTLD_LOCAL)
