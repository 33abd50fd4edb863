"""Sets up what ./dev needs: Debian packages, the virtual environment .venv, the native build. Each is done once."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tools.console import StepError, step

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
ALL_LEVELS = "all"
# What the native library is compiled with.
HEADERS = ["libjpeg62-turbo-dev", "libopenjp2-7-dev", "libpng-dev", "libtiff-dev", "libwebp-dev", "zlib1g-dev"]
VIDEO = ["libavcodec-dev", "libavformat-dev", "libavutil-dev", "pkg-config"]
PACKAGES = ["cmake", "g++", "ninja-build", "python3-venv", *HEADERS, *VIDEO]


@contextmanager
def _alone(what: str) -> Iterator[None]:
    """Two ./dev at once set up one thing one after the other."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / f".lock-{what}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def cores() -> int:
    return len(os.sched_getaffinity(0))


def become_root(what: str) -> list[str]:
    """The words before a command that root must run; where this user may not, says what to run."""
    if os.geteuid() == 0:
        return []
    if not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode:
        raise StepError(f"this needs root; run:\n  sudo sh -c '{what}'")
    return ["sudo", "-n"]


def install_packages(packages: Sequence[str] = PACKAGES) -> None:
    """Installs the Debian packages that are missing, where this user may; elsewhere says how."""
    if not shutil.which("dpkg-query"):  # another distribution: CMake says what it does not find
        return
    listing = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages], capture_output=True, text=True
    ).stdout
    present = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    missing = [package for package in packages if package not in present]
    if not missing:
        return
    root = become_root("apt-get install " + " ".join(missing))
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]
    with _alone("packages"):
        step("Updating the list of Debian packages", [*apt, "update"], BUILD / "apt-update.log")
        install = [*apt, "install", "--no-install-recommends", *missing]
        step("Installing " + " ".join(missing), install, BUILD / "apt.log")


def requirements(extra: str) -> list[str]:
    """What an extra of pyproject.toml stands for, with the extras that it names itself and the run-time needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def expand(entries: Sequence[str]) -> Iterator[str]:
        for entry in entries:
            if own := re.fullmatch(r"penstock\[(.+)\]", entry):
                for name in own[1].split(","):
                    yield from expand(project["optional-dependencies"][name])
            else:
                yield entry

    return sorted({*expand(project["dependencies"]), *expand([f"penstock[{extra}]"])})


def install_python(extra: str, venv: Path = VENV) -> Path:
    """Makes .venv, or another environment, and installs the needs of one extra; nothing is done again until they
    change. Returns the environment's Python.
    """
    wanted = requirements(extra)
    stamp, python = venv / "installed.txt", venv / "bin" / "python"
    with _alone("python"):
        installed = stamp.read_text().splitlines() if stamp.exists() else []
        if set(wanted) <= set(installed):
            return python
        if not python.exists():
            name = venv.relative_to(ROOT)
            step(
                f"Making the virtual environment {name}", [sys.executable, "-m", "venv", str(venv)], BUILD / "venv.log"
            )
        pip: list[str | Path] = [python, "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check"]
        pip.append("--no-compile")  # it takes longer than all else that pip does, and few modules are ever imported
        step(f"Installing the Python packages for {extra!r}", [*pip, *wanted], BUILD / f"pip-{extra}.log")
        # The checkout itself is importable in .venv; its native library is built in place.
        for site in venv.glob("lib/python3*/site-packages"):
            (site / "penstock-checkout.pth").write_text(f"{ROOT}\n")
        stamp.write_text("\n".join(sorted({*installed, *wanted})) + "\n")
    return python


def set_up(extra: str, targets: Sequence[str] = ("all",)) -> None:
    """All that a command needs. Python's packages come from afar, while the processors compile."""
    install_packages()
    with ThreadPoolExecutor(1) as beside:
        python = beside.submit(install_python, extra)
        build_native(targets)
        python.result()
    write_stubs()


def write_stubs() -> None:
    """Writes the type stubs of fn and ops, for editors and mypy: they are made of the registry, and not kept in git."""
    if subprocess.run([PYTHON, ROOT / "tools" / "stubs.py"], cwd=ROOT).returncode:
        raise StepError("the type stubs could not be written")


def build_native(
    targets: Sequence[str] = ("all",), levels: str = "", sanitize: str = "", jobs: int | None = None
) -> Path:
    """Builds the native library (in place), or a sanitized one under build/; returns the build's folder.

    Of instruction-set levels it is this machine's alone, but all in CI.
    """
    name = "sanitize-" + sanitize.replace(",", "-") if sanitize else "release"
    folder = BUILD / name
    output = folder / "lib" if sanitize else ROOT / "penstock" / "_native"
    configure: list[str | Path] = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DPENSTOCK_OUTPUT={output}"]
    configure += [f"-DPENSTOCK_SANITIZE={sanitize}", "-DPENSTOCK_WERROR=ON"]
    levels = levels or (ALL_LEVELS if os.environ.get("CI") else "native")
    # Without precompiled headers an #include that is missing is an error.
    configure += [f"-DPENSTOCK_PRECOMPILE={'OFF' if os.environ.get('CI') else 'ON'}"]
    configure += ["-UPENSTOCK_ISA"] if levels == ALL_LEVELS else [f"-DPENSTOCK_ISA={levels}"]
    with _alone("native"):
        step("Configuring the native build", configure, BUILD / f"cmake-{name}.log")
        build: list[str | Path] = ["cmake", "--build", folder, "-j", str(jobs or cores()), "--target", *targets]
        step("Building the native library", build, BUILD / f"native-{name}.log")
    return folder
