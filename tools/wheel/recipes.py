"""The libraries that a wheel brings, and how each is configured: in the order in which they are built."""

from __future__ import annotations

from dataclasses import dataclass

from tools.wheel import ffmpeg


@dataclass(frozen=True)
class Recipe:
    """A static library, which is built from a source package of Debian.

    Attributes:
        source: the package.
        options: for CMake, or for configure.
        folder: of the source, in which CMakeLists.txt is.
        by: what configures it: "cmake", "meson", "configure" (autoconf's script), or "ffmpeg" (its own script).
        flags: for the compiler, besides those of all.
        absent: files that Debian has taken out, which CMake wants to see and does not use.
        licences: files of the source that go into the wheel, besides Debian's list of copyrights.
    """

    source: str
    options: tuple[str, ...] = ()
    folder: str = ""
    by: str = "cmake"
    flags: str = ""
    absent: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()


_NO_PROGRAMS = ("-DBUILD_PROGRAMS=OFF", "-DBUILD_EXAMPLES=OFF", "-DBUILD_TESTING=OFF")
_WEBP_TOOLS = ("ANIM_UTILS", "CWEBP", "DWEBP", "GIF2WEBP", "IMG2WEBP", "VWEBP", "WEBPINFO", "WEBPMUX", "EXTRAS")
_TIFF_WITHOUT = ("tools", "tests", "contrib", "docs")

RECIPES = (
    Recipe("zlib", absent=("win32/zlib1.rc",), licences=("LICENSE",)),
    Recipe(
        "libjpeg-turbo",
        ("-DENABLE_SHARED=OFF", "-DWITH_TURBOJPEG=OFF", "-DREQUIRE_SIMD=ON"),
        licences=("LICENSE.md", "README.ijg"),
    ),
    Recipe("libpng1.6", ("-DPNG_SHARED=OFF", "-DPNG_TESTS=OFF"), licences=("LICENSE",)),
    Recipe(
        "libwebp",
        tuple(f"-DWEBP_BUILD_{tool}=OFF" for tool in _WEBP_TOOLS),
        flags="-fno-tree-vectorize",  # of a loop that matters it has one for SSE: half of the size, as fast
        licences=("COPYING", "PATENTS"),
    ),
    Recipe(
        "libzstd",
        ("-DZSTD_BUILD_PROGRAMS=OFF", "-DZSTD_BUILD_SHARED=OFF", "-DZSTD_LEGACY_SUPPORT=OFF"),
        folder="build/cmake",
        licences=("LICENSE",),
    ),
    Recipe("xz-utils", ("-DCREATE_XZ_SYMLINKS=OFF", "-DCREATE_LZMA_SYMLINKS=OFF"), licences=("COPYING",)),
    Recipe(
        "tiff",
        (
            *(f"-Dtiff-{part}=OFF" for part in _TIFF_WITHOUT),
            *("-Dcxx=OFF", "-Djbig=OFF", "-Dlerc=OFF", "-Dlibdeflate=OFF", "-Dwebp=OFF"),
            *("-Djpeg=ON", "-Dlzma=ON", "-Dzlib=ON", "-Dzstd=ON"),
        ),
        licences=("LICENSE.md",),
    ),
    Recipe("openjpeg2", ("-DBUILD_CODEC=OFF",), licences=("LICENSE",)),
    Recipe("libogg", ("-DINSTALL_DOCS=OFF", "-DBUILD_TESTING=OFF"), licences=("COPYING",)),
    Recipe("libvorbis", ("-DBUILD_TESTING=OFF",), licences=("COPYING",)),
    Recipe(
        "flac",
        (*_NO_PROGRAMS, "-DBUILD_CXXLIBS=OFF", "-DBUILD_DOCS=OFF", "-DINSTALL_MANPAGES=OFF"),
        licences=("COPYING.Xiph",),
    ),
    # By CMake its version would be that of the git repository around it.
    Recipe("opus", ("--disable-doc", "--disable-extra-programs"), by="configure", licences=("COPYING",)),
    Recipe(
        "mpg123",
        ("-DBUILD_LIBOUT123=OFF", "-DBUILD_PROGRAMS=OFF"),
        folder="ports/cmake",
        licences=("COPYING",),
    ),
    Recipe(
        "lame",  # its header alone is used: libsndfile reads MP3 only where it could write it, too
        ("--disable-frontend", "--disable-decoder", "--enable-nasm"),
        by="configure",
        licences=("COPYING", "LICENSE"),
    ),
    Recipe("libsndfile", (*_NO_PROGRAMS, "-DENABLE_CPACK=OFF"), licences=("COPYING",)),
    Recipe(
        "dav1d",  # by which FFmpeg decodes AV1
        ("-Denable_tools=false", "-Denable_tests=false", "-Denable_examples=false"),
        by="meson",
        licences=("COPYING",),
    ),
    Recipe("ffmpeg", ffmpeg.OPTIONS, by="ffmpeg", licences=("COPYING.LGPLv2.1", "LICENSE.md")),
)
