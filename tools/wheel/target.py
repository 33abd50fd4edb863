"""What a wheel is made for: a processor family and the oldest glibc that it runs with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools.console import StepError
from tools.environment import BUILD

GLIBC = "2.28"


@dataclass(frozen=True)
class Machine:
    """A processor family.

    Attributes:
        compilers: for C and C++.
        levels: instruction-set levels of the native library, as in cmake/Levels.cmake.
        flags: of the lowest of these, with which what comes from Debian's sources is built.
        loader: the dynamic linker's name; it is a library of glibc's, too.
        packages: of Debian, with what builds for it.
    """

    compilers: tuple[str, str]
    levels: tuple[str, ...]
    flags: str
    loader: str
    packages: tuple[str, ...]


MACHINES = {
    "x86_64": Machine(
        ("gcc", "g++"),
        ("x86-64-v2", "x86-64-v3", "x86-64-v4"),
        "-march=x86-64-v2",
        "ld-linux-x86-64.so.2",
        ("nasm",),
    ),
}


@dataclass(frozen=True)
class Target:
    """One wheel: ``Target("x86_64", "2.28")``.

    Attributes:
        only: instruction-set levels, where not all are wanted: for a trial, and not for users.
    """

    name: str = "x86_64"
    glibc: str = GLIBC
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in MACHINES:
            raise StepError(f"no wheels are made for {self.name!r}; there are {', '.join(MACHINES)}")
        if not re.fullmatch(r"2\.\d+", self.glibc):
            raise StepError(f"{self.glibc!r} is no version of glibc, such as {GLIBC}")
        if unknown := set(self.only) - set(self.machine.levels):
            raise StepError(f"no such level: {', '.join(sorted(unknown))}; there are {', '.join(self.machine.levels)}")

    @property
    def machine(self) -> Machine:
        return MACHINES[self.name]

    @property
    def levels(self) -> tuple[str, ...]:
        return self.only or self.machine.levels

    @property
    def platform(self) -> str:
        """The platform tag of its wheels: ``manylinux_2_28_x86_64``."""
        return f"manylinux_{self.glibc.replace('.', '_')}_{self.name}"

    @property
    def tag(self) -> str:
        """The whole tag: the native library is called through ctypes, so any Python 3 will do."""
        return f"py3-none-{self.platform}"

    @property
    def folder(self) -> Path:
        """Where all of its steps are kept."""
        return BUILD / "wheel" / f"{self.name}-{self.glibc}"

    @property
    def prefix(self) -> Path:
        """Where static libraries and headers are installed."""
        return self.folder / "prefix"
