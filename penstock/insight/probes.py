"""What this machine offers, asked piece by piece: of each piece, what there is, and what is missing for what."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import resource
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock import fn
from penstock._version import __version__
from penstock.errors import DecodeError, PenstockError
from penstock.frameworks import backends
from penstock.insight import machine
from penstock.machine import codecs, loader
from penstock.pipeline import Pipeline

GB = 1 << 30
Facts = dict[str, Any]


@dataclass(frozen=True)
class Missing:
    """Something that is not there, what does not work without it, and what brings it."""

    what: str
    without: str
    fix: str


Probe = Callable[[list[Missing]], Facts]


def versions(missing: list[Missing]) -> Facts:
    """Of Penstock, of what it runs on, and the file that is loaded."""
    facts: Facts = {
        "penstock": __version__,
        "python": f"{platform.python_version()}, {sys.executable}",
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
    }
    try:
        facts["native library"] = str(loader.library_path())
    except PenstockError as e:
        facts["native library"] = "not found"
        missing.append(Missing("the native library", "No pipeline runs.", str(e)))
        return facts
    built = loader.isa()
    best = (loader._levels() or ["none"])[-1]
    facts["instruction set"] = f"{built} (this processor runs {best})"
    if built != best:
        missing.append(
            Missing(
                f"the native library for {best}",
                f"Everything works, but slower: the one for {built} is used.",
                "unset PENSTOCK_ISA" if os.environ.get("PENSTOCK_ISA") else f"in a checkout: ./dev build {best}",
            )
        )
    return facts


def processors(missing: list[Missing]) -> Facts:
    """How many there are for this process."""
    allowed, usable = len(os.sched_getaffinity(0)), machine.usable_processors()
    name = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    nodes = sorted(Path("/sys/devices/system/node").glob("node[0-9]*/cpulist"))
    quota = machine.processor_quota()
    if quota and quota < allowed:
        missing.append(
            Missing(
                f"{allowed - quota:g} of {allowed} processors",
                f"The container gives this process the time of {quota:g}: more num_threads make nothing faster.",
                "a higher CPU limit for the container",
            )
        )
    return {
        "model": name,
        "processors": f"{os.cpu_count()}, of which this process may run on {allowed}",
        "usable": usable,
        "limit of the container": f"{quota:g} processors" if quota else "none",
        "NUMA nodes": {path.parent.name: path.read_text().strip() for path in nodes},
    }


def memory(missing: list[Missing]) -> Facts:
    """How much there is, and the limits that matter to loaders of data."""
    read = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    shm = os.statvfs("/dev/shm")
    shared = shm.f_blocks * shm.f_frsize
    if shared < GB:
        missing.append(
            Missing(
                f"shared memory (/dev/shm has {_bytes(shared)})",
                "Workers that are processes, such as those of PyTorch's DataLoader, fail with 'bus error'; Penstock "
                "itself needs none.",
                "docker run --shm-size=8g, or --ipc=host",
            )
        )
    limit = machine.memory_limit()
    locked, files = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0], resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return {
        "memory": _bytes(int(read["MemTotal"].split()[0]) * 1024),
        "available": _bytes(int(read["MemAvailable"].split()[0]) * 1024),
        "limit of the container": _bytes(limit) if limit else "none",
        "lockable memory": _bytes(locked) if locked != resource.RLIM_INFINITY else "unlimited",
        "shared memory": _bytes(shared),
        "open files": files if files != resource.RLIM_INFINITY else "unlimited",
    }


def pictures(missing: list[Missing]) -> Facts:
    """Which formats can be decoded: by trying it."""
    facts: Facts = {}
    for codec in codecs.codecs():
        name = codec.name
        try:
            _decode(codec.sample)
        except PenstockError as e:
            facts[name] = "missing"
            said = str(e).splitlines()[0].removeprefix("decoders.image: ")
            missing.append(Missing(f"a decoder of {name}", f"{name} pictures can't be decoded.", said))
            continue
        loaded = (path for path in _loaded() if codec.library and Path(path).name.startswith(codec.library))
        facts[name] = next(loaded, "built in")
    return facts


def _decode(data: bytes) -> None:
    import numpy as np

    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source(name="file")))
    try:
        (image,) = pipe.run(file=[np.frombuffer(data, np.uint8)])
        if image[0].shape() != [8, 8, 3]:
            raise DecodeError(f"a picture of 8x8 was decoded to {image[0].shape()}")
    finally:
        pipe.close()


def _loaded() -> list[str]:
    """The files of the libraries in this process, by their real names, which contain their versions."""
    rows = (line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines())
    return sorted({row[5] for row in rows if len(row) == 6 and ".so" in row[5]})


# Besides those that have a backend, what the same arrays are used with: module by distribution.
_OTHERS = {
    "numpy": "numpy", "jax": "jax", "tensorflow": "tensorflow", "paddlepaddle": "paddle", "numba": "numba",
    "pillow": "PIL",
}  # fmt: skip


def sounds(missing: list[Missing]) -> Facts:
    """Whether sounds can be decoded: by trying it."""
    import numpy as np

    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 52, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", 16)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(*fn.decoders.audio(fn.external_source(name="file")))
    try:
        pipe.run(file=[np.frombuffer(head + bytes(16), np.uint8)])
    except PenstockError as e:
        said = str(e).splitlines()[0].removeprefix("decoders.audio: ")
        missing.append(Missing("libsndfile", "Sounds can't be decoded.", said))
        return {"libsndfile": "missing"}
    return {"libsndfile": next((path for path in _loaded() if "sndfile" in Path(path).name), "built in")}


def stores(missing: list[Missing]) -> Facts:
    """What object stores are read by. It is not imported."""
    try:
        return {"obstore": importlib.metadata.version("obstore")}
    except importlib.metadata.PackageNotFoundError:
        effect = "Object stores and web servers (s3://, https:// ...) can't be read; files can."
        missing.append(Missing("obstore", effect, "pip install 'penstock[stores]'"))
        return {"obstore": "not installed"}


def frameworks(missing: list[Missing]) -> Facts:
    """Which are installed. Nothing is imported: some take seconds."""
    facts: Facts = {}
    for distribution, module in {**{b.distribution: b.module for b in backends()}, **_OTHERS}.items():
        spec = importlib.util.find_spec(module)
        if spec is None:
            facts[distribution] = "not installed"
            continue
        try:
            version = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:  # as cupy-cuda13x, for instance
            version = "installed"
        facts[distribution] = version + _cuda_of(spec.origin) if module == "torch" else version
    for backend in backends():
        if backend.plugin and facts[backend.distribution] == "not installed":
            effect = f"{backend.plugin} does not work; all else does."
            missing.append(Missing(backend.name, effect, f"pip install 'penstock[{backend.extra}]'"))
    return facts


def _cuda_of(origin: str | None) -> str:
    text = (Path(origin or "").parent / "version.py").read_text()
    found = re.search(r"^cuda\b[^=]*= *'([\d.]+)'", text, re.MULTILINE)
    return f", for CUDA {found[1]}" if found else ", without CUDA"


def _bytes(n: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.4g} {unit}"
        n /= 1024
    return f"{n:.4g} GiB"
