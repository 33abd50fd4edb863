"""Compiles small C++ libraries by the system's compiler, and keeps them on disk.

What was compiled lies in the folder of `penstock.machine.kernels.folder`, under ``operators``, by a name that stands
for its text, the headers, the compiler and its options. A file appears there at once and whole, so any number of
processes may compile the same. Nothing is loaded that others than the user (and root) can write, for whoever writes a
library runs code: where the folder is not the user's own, a private one is used, which lasts as long as the process.
"""

from __future__ import annotations

import atexit
import grp
import hashlib
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import tempfile
import threading
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

from penstock.errors import PluginError
from penstock.machine import kernels, loader

INCLUDE = Path(__file__).resolve().parents[1] / "include"
# No contraction: CPUs and GPUs give the same bits.
_OPTIONS = (
    "-std=c++17", "-O3", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno",
)  # fmt: skip
_TIMEOUT = 300  # seconds that a compiler may take
_lock = threading.Lock()  # one process compiles one text once


class Compiler(NamedTuple):
    """A C++ compiler: the words that call it, and what it says of its version."""

    words: tuple[str, ...]
    version: str


class CompilerError(PluginError):
    """The compiler refused a text; its words are in the message."""


@cache
def _compiler(asked: str, path: str) -> Compiler | None:
    names = [shlex.split(asked)] if asked.strip() else [["c++"], ["g++"], ["clang++"]]
    for words in names:
        if not shutil.which(words[0], path=path):
            continue
        try:
            done = subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return Compiler(tuple(words), done.stdout)
    return None


def compiler() -> Compiler | None:
    """The C++ compiler: what the environment variable ``CXX`` names, or c++, g++ or clang++; None: there is none."""
    return _compiler(os.environ.get("CXX", ""), os.environ.get("PATH", os.defpath))


def options() -> tuple[str, ...]:
    """Those of every library. The instruction set is that of the native library which is loaded."""
    level = loader.library_path().name.removeprefix("libpenstock-").partition(".")[0]
    return (*_OPTIONS, *([f"-march={level}"] if level.startswith("x86-64-v") else []), f"-I{INCLUDE}")


@cache
def _headers() -> str:
    digest = hashlib.sha256()
    for path in sorted(INCLUDE.rglob("*.h*")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def library(source: str, key: str, name: str) -> Path:
    """The shared library of a C++ text. ``key``: what stands for it. ``name``: a word that its file begins with.

    Raises CompilerError where the compiler refuses the text, and PluginError where there is no compiler.
    """
    found = compiler()
    if found is None:
        asked = os.environ.get("CXX")
        missing = "there is no C++ compiler: install one (on Debian: apt install g++), or set CXX to its command"
        raise PluginError(f"{name}: {f'the compiler CXX={asked!r} does not run' if asked else missing}")
    chosen = options()
    parts = [key, shlex.join(found.words), found.version, shlex.join(chosen), _headers()]
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:32]
    with _lock:
        folder = _folder()
        path = folder / f"{name}-{digest}.so"
        if not _is_own(path):
            _compile(found, chosen, source, path)
    return path


def _compile(found: Compiler, chosen: tuple[str, ...], source: str, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="compiling-") as scratch:
        text, made = Path(scratch, f"{path.stem}.cpp"), Path(scratch, path.name)
        text.write_text(source, encoding="utf-8", errors="surrogateescape")
        command = [*found.words, *chosen, str(text), "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise PluginError(f"{shlex.join(found.words)} has failed: {e}") from e
        if done.returncode or not made.exists():
            raise CompilerError(f"{shlex.join(found.words)} refuses it:\n{(done.stderr or done.stdout).rstrip()}")
        made.chmod(0o700)
        with made.open("rb") as file:  # the name is not to last longer than what it names
            os.fsync(file.fileno())
        made.replace(path)


def _folder() -> Path:
    """Where libraries are kept: nobody but the user and root can write there."""
    wanted = kernels.folder() / "operators"
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        if others := _writable_by_others(wanted.resolve()):
            raise OSError(f"others than you can write to {others}")
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError as e:
        return _private(str(wanted), str(e))


@cache
def _private(wanted: str, why: str) -> Path:
    warnings.warn(f"compiled operators are not kept in {wanted}: {why}", RuntimeWarning, stacklevel=2)
    folder, owner = tempfile.mkdtemp(prefix="penstock-operators-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def _writable_by_others(folder: Path) -> str:
    """Which folder on the way there others can change, or ''. In a sticky one nobody can replace another's folder."""
    for one in (folder, *folder.parents):
        found = one.lstat()
        sticky = one != folder and found.st_mode & stat.S_ISVTX
        if not _is_users(found) or (_open_to_others(found) and not sticky):
            return str(one)
    return ""


def _is_own(path: Path) -> bool:
    """Whether the file is there, and nobody but the user and root could have written it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and _is_users(found) and not _open_to_others(found)


def _is_users(found: os.stat_result) -> bool:
    return found.st_uid in (0, os.geteuid())


def _open_to_others(found: os.stat_result) -> bool:
    group = found.st_mode & stat.S_IWGRP and not _is_of_one(found.st_gid)
    return bool(group or found.st_mode & stat.S_IWOTH)


@cache
def _is_of_one(gid: int) -> bool:
    """Whether a group is the user's own, which many systems give each user, and nobody else is in it."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and user.pw_name == group.gr_name and set(group.gr_mem) <= {user.pw_name}
