"""Installs a wheel into fresh environments, where neither compilers nor other programs are found, and uses it."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.console import note, step
from tools.environment import BUILD
from tools.wheel.check import VIDEO
from tools.wheel.ondemand import LOADED

_SAMPLE = Path(__file__).with_name("sample.py")
_WRITERS = ("av", "pillow", "soundfile")  # they go before the files are read: they have such libraries, too
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_WHERE = "import platform as p; print('Python', p.python_version(), 'and', *p.libc_ver(), 'on', p.machine())"
# With /proc, and for this command alone.
_ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'


@dataclass(frozen=True)
class System:
    """Where a trial runs: here, or in the root folder of another system, as debootstrap unpacks it."""

    root: Path = Path("/")

    def command(self, *words: str | Path) -> list[str | Path]:
        if self.root == Path("/"):
            return list(words)
        return ["unshare", "--mount", "sh", "-c", _ENTER, self.root, *words]

    def inside(self, path: Path) -> Path:
        """What a file is called there."""
        return Path("/") / path.relative_to(self.root)


def environment(bin: Path, home: Path) -> dict[str, str]:
    """The variables there: nothing of the system's is on the path; pip's own settings are in files, and apply."""
    return {"HOME": str(home), "LANG": "C.UTF-8", "PATH": str(bin), "CC": "/nowhere/cc", "CXX": "/nowhere/c++"}


def _seconds() -> tuple[float, float]:
    """The time, and how long processes that have ended were busy."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def run(wheel: Path, pythons: Sequence[str] = (), root: Path = Path("/")) -> None:
    """Writes files of all formats in a fresh environment of each Python, and decodes them there."""
    system = System(root.resolve())
    if root != Path("/"):
        shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    for python in pythons or [sys.executable]:
        with tempfile.TemporaryDirectory(dir=root / "tmp") as name:
            _try(wheel, python, system, Path(name))


def _try(wheel: Path, base: str, system: System, folder: Path) -> None:
    log = BUILD / "wheel" / "trial.log"
    for file in (wheel, _SAMPLE):
        shutil.copy(file, folder)
    here = system.inside(folder)
    step("Making a fresh environment", system.command(base, "-m", "venv", here / "venv"), log)
    python = here / "venv" / "bin" / "python"
    names = environment(python.parent, here)
    if system.root != Path("/"):
        shutil.copy(_CERTIFICATES, folder)
        chosen = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and "INDEX" in name}
        names |= {"PIP_CERT": str(here / _CERTIFICATES.name), **chosen}
    variables = [f"{name}={value}" for name, value in names.items()]

    def there(title: str, *words: str | Path) -> None:
        step(title, system.command("/usr/bin/env", "-i", *variables, python, *words), log)

    pip = ("-m", "pip", "--disable-pip-version-check")
    install = (*pip, "install", "--only-binary", ":all:", here / wheel.name)
    start = _seconds()
    there(f"Installing {wheel.name}", *install)
    installed = _seconds()
    there(f"Installing {' and '.join(_WRITERS)}", *pip, "install", *_WRITERS)
    sample, files = here / _SAMPLE.name, here / "files"
    there("Writing pictures, sounds and videos", "-I", sample, "write", files)
    there(f"Removing {' and '.join(_WRITERS)}", *pip, "uninstall", "--yes", *_WRITERS)
    used = [*(library.file for library in LOADED), Path(VIDEO).name]
    there("Decoding them", "-I", sample, "read", files, *used)
    note("".join(f"  {line}\n" for line in log.read_text().splitlines()).rstrip())
    before = _seconds()
    there("The README's pipeline", "-I", sample, "train", files)
    took, busy = (b - a + d - c for a, b, c, d in zip(start, installed, before, _seconds(), strict=True))
    found = subprocess.run(system.command(python, "-c", _WHERE), capture_output=True, text=True, check=True).stdout
    note(f"  {wheel.name} works with {found.strip()}")
    note(f"  installing it and running the README's pipeline took {took:.0f} s, {busy:.0f} s of one processor")
