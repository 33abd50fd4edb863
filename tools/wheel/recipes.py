"""The libraries that a wheel brings, and how each is configured: in the order in which they are built."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """A static library, which is built from a source package of Debian.

    Attributes:
        source: the package.
        options: for CMake, or for configure.
        folder: of the source, in which CMakeLists.txt is.
        configure: it has no CMakeLists.txt, but a script `configure`.
        absent: files that Debian has taken out, which CMake wants to see and does not use.
        licences: files of the source that go into the wheel, besides Debian's list of copyrights.
    """

    source: str
    options: tuple[str, ...] = ()
    folder: str = ""
    configure: bool = False
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
    Recipe("opus", ("--disable-doc", "--disable-extra-programs"), configure=True, licences=("COPYING",)),
    Recipe(
        "mpg123",
        ("-DBUILD_LIBOUT123=OFF", "-DBUILD_PROGRAMS=OFF"),
        folder="ports/cmake",
        licences=("COPYING",),
    ),
    Recipe(
        "lame",  # its header alone is used: libsndfile reads MP3 only where it could write it, too
        ("--disable-frontend", "--disable-decoder", "--enable-nasm"),
        configure=True,
        licences=("COPYING", "LICENSE"),
    ),
    Recipe("libsndfile", (*_NO_PROGRAMS, "-DENABLE_CPACK=OFF"), licences=("COPYING",)),
)
