"""Instructions that decoding a JPEG takes on aarch64, counted by QEMU: ours with and without NEON, and libjpeg-turbo's.

An emulator says nothing of time, but less work for the same pictures is seen.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.console import note, step
from tools.environment import ROOT

PLUGIN = ROOT / "tools" / "count_instructions.c"
SOURCES = ("bench/native/jpeg_bench.cpp", "native/decode/jpeg/*.cpp", "native/core/*.cpp", "native/rows/*.cpp")
FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")
ROUNDS = (1, 3)  # their difference is decoding alone


def _program(folder: Path, root: Path, name: str, flags: Sequence[str]) -> Path:
    """jpeg_bench, compiled from the decoder's units alone."""
    library = root / "usr/lib/aarch64-linux-gnu"
    sources = [path for pattern in SOURCES for path in sorted(ROOT.glob(pattern))]
    headers: list[str | Path] = ["-I", ROOT / "native", "-I", ROOT / "penstock", "-idirafter", root / "usr/include"]
    links: list[str | Path] = [
        library / "libjpeg.so",
        f"-Wl,-rpath-link,{library}",
        f"-Wl,-rpath-link,{root}/lib/aarch64-linux-gnu",
    ]
    command: list[str | Path] = [
        "aarch64-linux-gnu-g++", *FLAGS, '-DPS_ISA="baseline"', *flags, *headers,
        "-idirafter", root / "usr/include/aarch64-linux-gnu", *sources, "-o", folder / name,
        *links, "-ldl", "-pthread", "-Wl,--unresolved-symbols=ignore-all",  # of operators, which it does not call
    ]  # fmt: skip
    step(f"Compiling {name}", command, folder / f"{name}.log")
    return folder / name


def _instructions(folder: Path, root: Path, program: Path, who: str, rounds: int, files: Sequence[Path]) -> int:
    words: list[str | Path] = [program, *files, "--rounds", str(rounds), "--only", who]
    command: list[str | Path] = ["qemu-aarch64", "-plugin", folder / "count.so", "-L", root, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stderr.split("instructions:")[1])


def count(folder: Path, root: Path, files: Sequence[Path]) -> None:
    """Of a picture of these files on average, in millions."""
    compiler: list[str | Path] = ["gcc", "-shared", "-fPIC", "-O1", PLUGIN, "-o", folder / "count.so"]
    step("Compiling the counter", compiler, folder / "count.log")
    neon = _program(folder, root, "jpeg_neon", ())
    plain = _program(folder, root, "jpeg_plain", ("-DSIMDE_NO_NATIVE",))
    for title, program, who in (
        ("ours", neon, "ours"),
        ("ours, without NEON", plain, "ours"),
        ("libjpeg-turbo", neon, "libjpeg"),
    ):
        few, many = (_instructions(folder, root, program, who, rounds, files) for rounds in ROUNDS)
        each = (many - few) / (ROUNDS[1] - ROUNDS[0]) / len(files)
        note(f"  {title}: {each / 1e6:.2f} million instructions for a picture")
