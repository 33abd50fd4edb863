"""Links the libraries that are loaded when a file of their format comes: each is one file, with what it needs in it.

They have names of their own, in the file system and to the dynamic linker, so they are never taken for the system's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.console import step
from tools.wheel import toolchain
from tools.wheel.target import Target

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Loaded:
    """A library that the native one loads by its name (`CodecLibrary` in native/decode/library.h).

    Attributes:
        archives: static libraries, that which it is first.
        exports: what is called of it, by patterns; with what nobody calls, it would be larger.
        sources: packages that are in it.
    """

    name: str
    archives: tuple[str, ...]
    exports: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def file(self) -> str:
        """Its name in the wheel, which native/decode/library.cpp looks for."""
        return f"{self.name}-penstock.so"


def _prefixed(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names.split())


_TIFF = """ClientOpen ClientOpenExt Close ComputeStrip ComputeTile GetField GetFieldDefaulted IsTiled OpenOptionsAlloc
    OpenOptionsFree OpenOptionsSetErrorHandlerExtR OpenOptionsSetWarningHandlerExtR RGBAImageOK ReadEncodedStrip
    ReadEncodedTile ReadRGBAImageOriented ScanlineSize64 SetErrorHandler SetField SetWarningHandler TileRowSize64"""
_OPENJPEG = """create_decompress decode destroy_codec image_destroy read_header set_decode_area
    set_default_decoder_parameters set_error_handler setup_decoder stream_create stream_destroy stream_set_read_function
    stream_set_seek_function stream_set_skip_function stream_set_user_data stream_set_user_data_length"""
_SNDFILE = "close open_virtual read_raw readf_float readf_int readf_short seek strerror"

LOADED = (
    Loaded("libz", ("z",), ("inflate", "inflateInit2_", "inflateEnd"), ("zlib",)),
    Loaded(
        "libwebp",
        ("webp",),
        ("WebPDecode", "WebPGetFeaturesInternal", "WebPInitDecoderConfigInternal"),
        ("libwebp",),
    ),
    Loaded(
        "libtiff",
        ("tiff", "jpeg", "zstd", "lzma", "z"),
        _prefixed("TIFF", _TIFF),
        ("tiff", "libjpeg-turbo", "libzstd", "xz-utils", "zlib"),
    ),
    Loaded("libopenjp2", ("openjp2",), _prefixed("opj_", _OPENJPEG), ("openjpeg2",)),
    Loaded(
        "libsndfile",
        ("sndfile", "FLAC", "vorbis", "opus", "ogg", "mpg123"),
        _prefixed("sf_", _SNDFILE),
        ("libsndfile", "flac", "libvorbis", "opus", "libogg", "mpg123"),
    ),
)


def command(library: Loaded, target: Target, output: Path) -> list[str | Path]:
    """The compiler's command line, which links it."""
    first, *others = [f"-l:lib{name}.a" for name in library.archives]
    exported = toolchain.exports(target.folder / f"{library.name}.map", *library.exports)
    words: list[str | Path] = [target.machine.compilers[0], "-shared", "-s", "-o", output]
    words += [f"-Wl,-soname,{library.file}", f"-L{target.prefix / 'lib'}", *toolchain.link_flags(target), exported]
    words += ["-Wl,--whole-archive", first, "-Wl,--no-whole-archive", _encoders(target), *others]
    return [*words, "-lm", "-lgcc", "-pthread"]


def _encoders(target: Target) -> Path:
    return target.folder / "libencoders.a"


def link(target: Target, output: Path) -> None:
    """Links all of them into a folder."""
    output.mkdir(parents=True, exist_ok=True)
    toolchain.archive("what is in the place of encoders", target, _HERE / "encoders.c", _encoders(target))
    for library in LOADED:
        step(
            f"Linking {library.name}",
            command(library, target, output / library.file),
            target.folder / f"{library.name}-link.log",
        )
