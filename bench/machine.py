"""What a table of figures was made with: the machine, the software, the commit, the command."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def commit() -> str:
    """Of the checkout, and whether there are changes to it; empty where this is no checkout."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + (" with changes" if git("status", "--porcelain") else "")


def describe() -> list[str]:
    from penstock.machine.loader import isa

    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = {"DALI": "nvidia-dali-cuda130", "torch": "torch", "Pillow": "pillow", "OpenCV": "opencv-python-headless"}
    return [
        f"Date: {datetime.date.today()}, commit {commit() or 'none'}",
        f"Machine: {_processor()}, {len(os.sched_getaffinity(0))} cores, {gigabytes:.0f} GiB; level {isa()}",
        f"Python {platform.python_version()}, " + ", ".join(f"{k} {_version(v)}" for k, v in packages.items()),
        f"Command: `./dev bench {' '.join([Path(sys.argv[0]).stem, *sys.argv[1:]])}`",
    ]


def gpus() -> list[str]:
    """The GPUs and their driver."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        lines = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return []
    return [f"GPU: {line.replace(',', ', driver', 1)}" for line in lines]


def gpu_memory() -> int:
    """Megabytes that are in use on the first GPU, by all processes."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)


def load() -> str:
    """How busy the machine was besides: figures of a busy machine are worth less."""
    return f"load average {os.getloadavg()[0]:.1f}"
