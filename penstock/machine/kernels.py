"""Compiles GPU kernels by NVRTC, and keeps them on disk.

The native library makes the sources, a few lines each, and asks for each one once, on threads of its own. What was
compiled is kept in ``PENSTOCK_CACHE`` (unless set, the folder ``penstock`` in ``XDG_CACHE_HOME`` or ``~/.cache``), by
a name that stands for the source, the headers that it includes, the options and the architecture. So a change anywhere
else keeps it, and it is loaded where there is no NVRTC, too. Which NVRTC has made it stands in the file.
"""

from __future__ import annotations

import atexit
import ctypes as c
import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from penstock.errors import DeviceError, NativeLibraryError
from penstock.machine import libraries, loader, native

_PACKAGE = Path(__file__).resolve().parents[1]
# No contraction: the CPU's results are made without, too. Where a multiply-add is wanted, kernels say so.
# Lambdas in device functions count as the device's with NVRTC 13.0 only where all functions do.
_OPTIONS = ("--std=c++17", "--fmad=false", "--extra-device-vectorization", "--device-as-default-execution-space")

_FORMAT = 2  # of files that are kept


def source_folders() -> tuple[Path, ...]:
    """Where kernels' headers are looked for."""
    return (_PACKAGE,)


@cache
def _headers() -> bytes:
    """A digest of all that a kernel may include: that of cmake/Device.cmake."""
    found = {path.relative_to(_PACKAGE).as_posix(): path for path in (_PACKAGE / "device").rglob("*.h")}
    lines = [f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for name, path in sorted(found.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest().encode()


def _check_headers() -> None:
    """NativeLibraryError where the library, which fills the structs of kernels in, has others than these have."""
    if native.quick().ps_gpu_headers() != _headers():
        raise NativeLibraryError(
            f"{loader.library_path()} was built with other headers of kernels than those in {_PACKAGE / 'device'}: "
            "build it again (./dev build)"
        )


def folder() -> Path:
    """What is kept between processes lies here."""
    named = os.environ.get("PENSTOCK_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"


class Nvrtc:
    """NVIDIA's run-time compiler."""

    def __init__(self, path: str) -> None:
        self._library = c.CDLL(path)
        self._library.nvrtcGetErrorString.restype = c.c_char_p
        major, minor = c.c_int(), c.c_int()
        self._check(self._library.nvrtcVersion(c.byref(major), c.byref(minor)))
        self.version = (major.value, minor.value)
        self.path = path

    def __str__(self) -> str:
        return f"NVRTC {self.version[0]}.{self.version[1]}"

    def compile(self, source: str, arch: int) -> bytes:
        """Machine code for an architecture such as 90; DeviceError with the compiler's words if it refuses."""
        options = [f"--gpu-architecture=sm_{arch}", *_OPTIONS, *(f"--include-path={f}" for f in source_folders())]
        program = c.c_void_p()
        lib = self._library
        self._check(lib.nvrtcCreateProgram(c.byref(program), source.encode(), b"penstock.cu", 0, None, None))
        try:
            words = (c.c_char_p * len(options))(*[o.encode() for o in options])
            status = lib.nvrtcCompileProgram(program, len(options), words)
            if status:
                log = self._read(program, "ProgramLog")
                raise DeviceError(f"NVRTC refuses a kernel ({self._text(status)}):\n{log}")
            return self._bytes(program, "CUBIN")
        finally:
            lib.nvrtcDestroyProgram(c.byref(program))

    def _bytes(self, program: c.c_void_p, what: str) -> bytes:
        size = c.c_size_t()
        self._check(getattr(self._library, f"nvrtcGet{what}Size")(program, c.byref(size)))
        buffer = c.create_string_buffer(max(size.value, 1))
        self._check(getattr(self._library, f"nvrtcGet{what}")(program, buffer))
        return buffer.raw[: size.value]

    def _read(self, program: c.c_void_p, what: str) -> str:
        return self._bytes(program, what).rstrip(b"\0").decode(errors="replace")

    def _text(self, status: int) -> str:
        return str(self._library.nvrtcGetErrorString(status).decode())

    def _check(self, status: int) -> None:
        if status:
            raise DeviceError(f"NVRTC: {self._text(status)}")


@cache
def nvrtc() -> Nvrtc:
    """The compiler, loaded when the first kernel needs it. ``PENSTOCK_NVRTC`` names another library in its place."""
    named = os.environ.get("PENSTOCK_NVRTC")
    problems = []
    for path in (named,) if named else libraries.candidates("nvrtc"):
        try:
            return Nvrtc(path)
        except OSError as e:
            problems.append(str(e))
    raise DeviceError(
        "CUDA's run-time compiler NVRTC was not found, which makes the kernels for GPUs. "
        "pip install 'penstock[cuda13]' brings it, or penstock[cuda12] for older drivers\n" + "\n".join(problems)
    )


def _included(text: str) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)


@cache
def _header(name: str) -> tuple[str, list[str]]:
    """A digest of a header, and the headers that it includes. If it is missing, the compiler's error says more."""
    try:
        text = (_PACKAGE / name).read_bytes()
    except OSError:
        return "", []
    return hashlib.sha256(text).hexdigest(), _included(text.decode())


def headers_of(source: str) -> Iterator[tuple[str, str]]:
    """Name and digest of the headers that a source is compiled with: those that it includes, and that these include."""
    waiting, seen = _included(source), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            digest, more = _header(name)
            waiting += more
            yield name, digest


def cache_file(source: str, arch: int) -> Path:
    """Where the kernel of this source is kept, once it is compiled."""
    text = re.sub(r"^#line .*$", "", source, flags=re.MULTILINE)  # where a user's text stands may change
    made_of = repr((_FORMAT, _OPTIONS, arch, text, sorted(headers_of(source))))
    digest = hashlib.blake2b(made_of.encode(), digest_size=20).hexdigest()
    return folder() / "kernels" / f"{digest}-sm_{arch}.cubin"


def kept(path: Path) -> tuple[str, bytes] | None:
    """A kept kernel: its compiler, and the machine code. None if the file is damaged: its digest comes first."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, text = data[:20], data[20:]
    if hashlib.blake2b(text, digest_size=20).digest() != digest:
        return None
    maker, _, binary = text.partition(b"\n")
    return maker.decode(errors="replace"), binary


def _keep(path: Path, maker: str, binary: bytes) -> None:
    """Writes it so that others see all of it or nothing. A folder that can't be written is no error."""
    import tempfile  # with what it imports in turn, it takes longer than all of this module

    text = maker.encode() + b"\n" + binary
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, unfinished = tempfile.mkstemp(dir=path.parent)
        try:
            with open(descriptor, "wb") as file:
                file.write(hashlib.blake2b(text, digest_size=20).digest() + text)
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise
    except OSError:
        return


def machine_code(source: str, arch: int) -> bytes:
    """The kernel for an architecture such as 90: from disk, or compiled now."""
    path = cache_file(source, arch)
    if found := kept(path):
        return found[1]
    compiler = nvrtc()
    binary = compiler.compile(source, arch)
    _keep(path, str(compiler), binary)
    return binary


def _answer(source: bytes, arch: int, answer: int) -> None:
    quick = native.quick()
    try:
        binary = machine_code(source.decode(), arch)
    except BaseException as e:
        quick.ps_gpu_compiled(answer, None, 0, (str(e) or repr(e)).encode())
    else:
        quick.ps_gpu_compiled(answer, binary, len(binary), None)


_callback = native.Compiler(_answer)


def provide() -> None:
    """Makes this module the native library's compiler. Nothing is loaded before a kernel is wanted.

    NativeLibraryError if the library and the kernels' headers are not of the same version.
    """
    _check_headers()
    native.blocking().ps_gpu_set_compiler(_callback)
    atexit.register(_stop, os.getpid())


def _stop(pid: int) -> None:
    """Waits for kernels that are being compiled: their threads must not come back to an interpreter that is gone."""
    if os.getpid() == pid:  # a forked child has none of the threads
        native.blocking().ps_gpu_set_compiler(native.Compiler(0))
