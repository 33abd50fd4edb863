"""Lets this machine's g++ link for an older glibc, whose list of symbols zig knows.

The compiler, its options and its libstdc++ are those that the tests run with, so results are the same. Only the linker
sees another glibc: zig writes libraries without code that have the symbols, and the versions of these, that the older
one has. What a newer glibc's headers have renamed is in libc_nonshared.a, as in that glibc itself, and what libstdc++
takes from a newer one in old_glibc.c. If anything else is missing, linking fails.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tools.console import StepError, step
from tools.wheel.target import Target

_HERE = Path(__file__).resolve().parent
_EMPTY = "int main(void) { return 0; }\n"
_LIBRARIES = ("libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1")
_IN_SCRIPT = ("libdl.so.2", "libpthread.so.0", "librt.so.1")  # newer ones have their functions in libc.so.6


def link_folder(target: Target) -> Path:
    return target.folder / "glibc"


def link_flags(target: Target) -> list[str]:
    """What shared libraries are linked with, in C and C++."""
    return [f"-L{link_folder(target)}", "-static-libstdc++", "-Wl,--no-undefined", "-Wl,--gc-sections"]


def exports(path: Path, *patterns: str) -> str:
    """Writes the list of symbols that a library exports, which are no others, and returns the linker's flag."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "{ global: " + " ".join(f"{pattern};" for pattern in patterns) + " local: *; };\n"
    if not path.exists() or path.read_text() != text:  # its time is kept
        path.write_text(text)
    return f"-Wl,--version-script={path}"


def libc_script(loader: str) -> str:
    """libc.so is a script for the linker, as glibc's own is."""
    needed = " ".join((*_IN_SCRIPT, loader))
    return f"GROUP ( libc.so.6 libc_nonshared.a libold_glibc.a AS_NEEDED ( {needed} ) )\n"


def archive(title: str, target: Target, source: Path, output: Path) -> None:
    """Makes a static library of one C file."""
    compiled = output.with_suffix(".o")
    words: list[str | Path] = [target.machine.compilers[0], "-O2", "-fPIC", "-ffunction-sections", "-Wall", "-Wextra"]
    step(f"Compiling {title}", [*words, "-c", source, "-o", compiled], output.with_suffix(".log"))
    step("Archiving it", ["ar", "rcs", output, compiled], output.with_suffix(".ar.log"))


def make(target: Target, python: Path) -> None:
    """Makes the folder that the linker looks in first."""
    folder, source = link_folder(target), _HERE / "old_glibc.c"
    last = folder / "libc.so"
    if last.exists() and last.stat().st_mtime > source.stat().st_mtime:
        return
    cache = target.folder / "zig"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = folder / "empty.c"
    program.write_text(_EMPTY)
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    zig: list[str | Path] = [python, "-m", "ziglang", "cc", "-target", f"{target.name}-linux-gnu.{target.glibc}"]
    zig += ["-O2", program, "-o", folder / "empty", "-lm", "-lpthread", "-ldl", "-lrt"]
    step(f"Writing the symbols of glibc {target.glibc}", zig, target.folder / "zig.log", environment)
    for name in (*_LIBRARIES, "libc_nonshared.a"):
        shutil.copy(_only(cache, name), folder / name)
    shutil.copy(_only(cache, "libld.so.2"), folder / target.machine.loader)
    shutil.rmtree(cache)
    archive("what it lacks", target, source, folder / "libold_glibc.a")
    for name in _LIBRARIES[1:]:
        (folder / name.rpartition(".")[0]).symlink_to(name)
    last.write_text(libc_script(target.machine.loader))


def _only(folder: Path, name: str) -> Path:
    found = list(folder.rglob(name))
    if len(found) != 1:
        raise StepError(f"zig has written {len(found)} files called {name}")
    return found[0]
