"""Builds for aarch64 on this machine, and runs the result by QEMU: the C++ checks, the same bits as here, some tests.

Then it counts the instructions that decoding takes (tools/aarch64_count.py).

Debian's cross compiler builds; what it links with, and a Python of that processor, are Debian's packages, unpacked
under build/aarch64 and never installed. Needs `dpkg --add-architecture arm64`, which is done where this user may.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.aarch64_count import count
from tools.console import StepError, note, step
from tools.environment import BUILD, HEADERS, PYTHON, ROOT, become_root, build_native, cores, install_packages

FOLDER = BUILD / "aarch64"
SYSROOT = FOLDER / "root"
SITE = FOLDER / "site"
TOOLS = ["g++-aarch64-linux-gnu", "qemu-user"]
WHEELS = ["numpy", "pillow", "pytest"]
# Python tests that need neither DALI, nor a compiler. QEMU keeps memory of each thread that has ended: so each file has
# a process, and the sweep goes without the test that makes tens of thousands of pipelines, of inputs that fit no
# operator. Nor can QEMU start processes of the other processor.
TESTS = [
    "tests/augment/test_sweep.py",
    "tests/decode/test_jpeg.py",
    "tests/decode/test_formats.py",
    "tests/decode/test_png.py",
    "tests/decode/test_bmp.py",
    "tests/decode/test_windows.py",
    "tests/decode/test_random_crop_generator.py",
]
LEFT_OUT = ("-k", "not any_input and not needs_little_memory")


def _closure(packages: Sequence[str]) -> list[str]:
    """These packages of arm64 with all that they depend on, but for what is no library."""
    out = subprocess.run(
        ["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
         "--no-replaces", "--no-enhances", *(f"{package}:arm64" for package in packages)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = {line.strip() for line in out.splitlines() if line and not line.startswith(" ")}
    return sorted(name for name in names if name.endswith(":arm64") and not name.startswith("<"))


def set_up() -> None:
    """The compiler, the emulator, a root folder for aarch64 and Python packages for it; each once."""
    install_packages(TOOLS)
    done = FOLDER / "done.txt"
    wanted = " ".join([*HEADERS, *WHEELS])
    if done.exists() and done.read_text() == wanted:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    foreign = subprocess.run(["dpkg", "--print-foreign-architectures"], capture_output=True, text=True).stdout.split()
    if "arm64" not in foreign:
        root = become_root("dpkg --add-architecture arm64 && apt-get update")
        step("Adding the architecture arm64", [*root, "dpkg", "--add-architecture", "arm64"], FOLDER / "dpkg.log")
        step("Updating the list of Debian packages", [*root, "apt-get", "-q", "update"], FOLDER / "apt-update.log")
    packages = [*_closure([*HEADERS, "python3.11-minimal", "libpython3.11-stdlib", "libstdc++6"]), "libsimde-dev"]
    debs = FOLDER / "debs"
    debs.mkdir(exist_ok=True)
    download = ["sh", "-c", 'cd "$0" && apt-get -q download "$@"', str(debs), *packages]
    step("Fetching Debian packages of arm64", download, FOLDER / "apt.log")
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg", "-x", deb, SYSROOT], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(SITE)]
    tags = ["--platform", "manylinux2014_aarch64", "--platform", "manylinux_2_28_aarch64", "--python-version", "3.11"]
    wheels = [*pip, "--upgrade", "--only-binary", ":all:", *tags, *WHEELS]
    step("Installing Python packages of aarch64", wheels, FOLDER / "pip.log")
    done.write_text(wanted)


def build() -> None:
    configure: list[str | Path] = [
        "cmake", "-S", ROOT, "-B", FOLDER / "build", "-G", "Ninja", "-DPENSTOCK_WERROR=ON",
        f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / 'aarch64.cmake'}",
        f"-DPENSTOCK_ROOT={SYSROOT}", f"-DPENSTOCK_OUTPUT={FOLDER / 'native'}",
    ]  # fmt: skip
    step("Configuring the build for aarch64", configure, FOLDER / "cmake.log")
    make: list[str | Path] = [
        "cmake",
        "--build",
        FOLDER / "build",
        "-j",
        str(cores()),
        "--target",
        "all",
        "native_tests",
    ]
    step("Building for aarch64", make, FOLDER / "build.log")


def emulated(*command: str | Path, log: str = "", title: str = "") -> str:
    """Runs a program of aarch64; what it prints."""
    path = FOLDER / log
    environment = {
        **os.environ,
        "PYTHONPATH": f"{SITE}:{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PENSTOCK_NATIVE": str(FOLDER / "native"),
        "PENSTOCK_TEST_PROGRAMS": "/nowhere",  # QEMU does not start those of another processor
    }
    step(title, ["qemu-aarch64", "-L", SYSROOT, *command], path, environment)
    return path.read_text()


def python(*words: str, log: str, title: str) -> str:
    return emulated(SYSROOT / "usr/bin/python3.11", *words, log=log, title=title)


def same_bits() -> None:
    """Each case of the sweep and each picture gives the same bits as on this machine's processor."""
    build_native()
    here = FOLDER / "bits-here.log"
    step("Digests of all cases, here", [PYTHON, "-m", "tests.bits"], here)
    there = python("-m", "tests.bits", log="bits-there.log", title="Digests of all cases, aarch64").splitlines()
    wanted = here.read_text().splitlines()
    differ = sorted(set(wanted) ^ set(there), key=lambda line: line.partition(" ")[2])
    if differ or not wanted:
        raise StepError("\n".join(["these cases differ:", *differ[:40]]))
    note(f"  {len(wanted)} digests are the same")


def main(tests: Sequence[str] = ()) -> None:
    set_up()
    build()
    folder = FOLDER / "pictures"
    write: list[str | Path] = [PYTHON, "-m", "tools.photographs", folder, "--count", "4"]
    if not folder.exists():
        step("Writing JPEG files for the C++ checks", write, FOLDER / "pictures.log")
    files = sorted(folder.glob("**/*.jpg"))
    for program in sorted((FOLDER / "build" / "bin" / "baseline").iterdir()):
        if os.access(program, os.X_OK):
            emulated(program, *files, log=f"{program.name}.log", title=f"{program.name} on aarch64")
    same_bits()
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    for which in [tests] if tests else [[*LEFT_OUT, test] for test in TESTS]:
        name = Path(which[-1]).stem
        print(python(*words, *which, log=f"{name}.log", title=f"{name} on aarch64").rstrip().splitlines()[-1])
    count(FOLDER, SYSROOT, files)
