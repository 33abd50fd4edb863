"""What there is for GPUs."""

from __future__ import annotations

import ctypes as c
import os
from pathlib import Path

from penstock.arguments import gpu_storage
from penstock.errors import PenstockError
from penstock.insight.probes import Facts, Missing
from penstock.machine import gpu, kernels, libraries, versions

_EXTRA = "pip install 'penstock[cuda13]', or penstock[cuda12] for older drivers"


def gpus(missing: list[Missing]) -> Facts:
    """The driver and its GPUs."""
    try:
        count = gpu.count()
    except PenstockError as e:
        missing.append(
            Missing(
                "a GPU",
                'Operators with device="gpu" or "mixed" do not run; all on the CPU do.',
                f"{str(e).splitlines()[0]}. A GPU needs NVIDIA's driver; a container also --gpus all",
            )
        )
        return {"driver": "not found"}
    facts: Facts = {"driver": _driver_version()}
    for number in range(count):
        info = gpu.describe(number)
        arch = f"{info.arch // 10}.{info.arch % 10}"
        facts[f"GPU {number}"] = (
            f"{info.name.decode(errors='replace')}, compute capability {arch}, {info.multiprocessors} multiprocessors, "
            f"at {info.bus.decode(errors='replace')}"
        )
    return facts


def _driver_version() -> str:
    version = versions.driver()
    return f"for CUDA {version // 1000}.{version % 1000 // 10}" if version else "found"


def cuda_libraries(missing: list[Missing]) -> Facts:
    """What compiles kernels and decodes pictures there, and what was compiled so far."""
    facts: Facts = {}
    try:
        compiler = kernels.nvrtc()
        facts["NVRTC"] = f"{compiler.version[0]}.{compiler.version[1]}, {compiler.path}"
    except PenstockError:
        facts["NVRTC"] = "missing"
        missing.append(Missing("NVRTC", "No operator runs on a GPU: it compiles their kernels.", _EXTRA))
    if nvjpeg := _place("nvjpeg"):
        facts["nvJPEG"] = nvjpeg
        facts["JPEG engines"] = _engines()
    else:
        facts["nvJPEG"] = "missing"
        missing.append(Missing("nvJPEG", 'device="mixed" decodes JPEG on the CPU.', _EXTRA))
    if codec := _place("nvimgcodec"):
        facts["nvImageCodec"] = codec
    else:
        facts["nvImageCodec"] = "missing"
        missing.append(
            Missing("nvImageCodec", 'device="mixed" decodes JPEG 2000, TIFF and lossless JPEG on the CPU.', _EXTRA)
        )
    facts["NVDEC"] = _place("nvcuvid") or "not found: videos for a GPU are decoded on the CPU"
    facts["cuFile (optional)"] = (
        _place("cufile") or "not found: files for a GPU are read into the host's memory and copied"
    )
    facts["GPUDirect Storage"] = gpu_storage.kernel_support()
    facts["optical flow"] = _place("nvof") or "not found: fn.optical_flow has no device='gpu'"
    facts["NVTX (optional)"] = _place("nvtx") or "not found"
    folder = kernels.folder() / "kernels"
    files = [file for file in folder.glob("*.cubin") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    makers = sorted({found[0] for file in files if (found := kernels.kept(file))})
    made = f", made by {', '.join(makers)}" if makers else ""
    facts["compiled kernels"] = f"{len(files)}, {size / 2**20:.1f} MiB, in {folder}{made}"
    above = next((f for f in [folder, *folder.parents] if f.exists()), Path("/"))
    if not os.access(above, os.W_OK):
        missing.append(
            Missing(
                f"a writable folder for kernels ({folder})",
                "Each process compiles its kernels anew, which takes seconds.",
                "set PENSTOCK_CACHE to a folder that can be written",
            )
        )
    return facts


def _place(name: str) -> str | None:
    """Where a library is; None: nowhere, or not where the environment says."""
    path = libraries.located(name)
    if path:
        return path if Path(path).exists() else None
    return "the system's" if libraries.found(name) else None


def _engines() -> str:
    """The GPU's hardware decoders of JPEG, by nvJPEG's own report, where there is a GPU."""
    try:
        if not gpu.count():
            return "no GPU"
        library = c.CDLL(libraries.located("nvjpeg") or next(iter(libraries.candidates("nvjpeg"))))
        handle, engines, cores = c.c_void_p(), c.c_uint(), c.c_uint()
        hardware = 3
        if library.nvjpegCreateEx(hardware, None, None, 0, c.byref(handle)):
            return "none: the GPU's multiprocessors decode"
        status = library.nvjpegGetHardwareDecoderInfo(handle, c.byref(engines), c.byref(cores))
        library.nvjpegDestroy(handle)
    except PenstockError:
        return "no GPU"
    except (OSError, AttributeError) as e:
        return f"unknown ({e})"
    return "unknown" if status else f"{engines.value}, of {cores.value} cores each"
