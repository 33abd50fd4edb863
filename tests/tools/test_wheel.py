"""What ./dev wheel decides without building anything: tags, what a library may need, sources, licences."""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path

import pytest

from tools.console import StepError
from tools.wheel import check, compress, ffmpeg, licences, ondemand, package, sources, static, toolchain, trial
from tools.wheel.recipes import RECIPES, Recipe
from tools.wheel.target import Target


@pytest.mark.parametrize(
    ("glibc", "tag"), [("2.28", "py3-none-manylinux_2_28_x86_64"), ("2.17", "py3-none-manylinux_2_17_x86_64")]
)
def test_tags(glibc: str, tag: str) -> None:
    assert Target("x86_64", glibc).tag == tag


@pytest.mark.parametrize(("machine", "glibc"), [("sparc", "2.28"), ("x86_64", "3.1"), ("x86_64", "2.28 ")])
def test_targets_that_there_are_not(machine: str, glibc: str) -> None:
    with pytest.raises(StepError):
        Target(machine, glibc)


def test_what_lacks_levels_is_not_for_users() -> None:
    assert package.destination(Target()) == package.DIST
    assert package.destination(Target(only=("x86-64-v3",))) != package.DIST
    assert package.definitions(Target(only=("x86-64-v3",)))["PENSTOCK_ISA"] == "x86-64-v3"
    with pytest.raises(StepError, match="x86-64-v5"):
        Target(only=("x86-64-v5",))


def test_targets_have_folders_of_their_own() -> None:
    assert len({Target("x86_64", glibc).folder for glibc in ("2.17", "2.28")}) == 2


def test_libraries_may_need_glibc_and_no_others() -> None:
    needed = ["libm.so.6", "libjpeg.so.62", "libgcc_s.so.1", "libc.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2"]
    dynamic = "".join(f" 0x0001 (NEEDED)             Shared library: [{name}]\n" for name in needed)
    dynamic += " 0x000e (SONAME)             Library soname: [libtiff.so.6]\n"
    assert check.strangers(dynamic) == ["libjpeg.so.62", "libstdc++.so.6"]


def test_the_newest_glibc_is_found_by_number() -> None:
    symbols = "0x0010: Name: GLIBC_2.9  Flags: none\n 0x0020: Name: GLIBC_2.28\n Name: GLIBC_2.2.5\n Name: GCC_3.0\n"
    assert check.newest(symbols) == (2, 28)
    assert check.newest("") == (0,)


def test_a_wheel_with_all_its_files() -> None:
    levels = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
    names = [f"penstock/_native/libpenstock-{level}.so" for level in levels]
    names += ["penstock/_native/libpenstock_video.so", "penstock/fn.pyi", "penstock/ops.pyi"]
    names += ["penstock-1.dist-info/licenses/LIBRARIES.md"]
    assert check.misplaced(names, levels) == []
    assert check.misplaced(names[1:], levels) == [f"lacks {names[0]}"]
    assert check.misplaced([*names, "penstock/_native/libz.a"], levels) == ["has penstock/_native/libz.a"]


def test_lists_of_packages_become_lists_of_sources() -> None:
    stanza = "Types: deb\nURIs: http://a.org/debian\nSuites: bookworm\nComponents: main\n"
    lists = {
        "debian.sources": f"{stanza}\nTypes: deb\nURIs: http://b.org/tools\nSuites: ./\n",
        "sources.list": "# deb http://a.org/debian x main\ndeb [arch=amd64] http://a.org/debian-security x main\n",
        "other.list": "deb http://b.org/tools ./\n",
    }
    assert sources.source_lists(lists) == {
        "debian.sources": stanza.replace("deb", "deb-src", 1).rstrip("\n") + "\n\n",
        "sources.list": "deb-src [arch=amd64] http://a.org/debian-security x main\n",
    }


def test_every_library_has_its_licences(tmp_path: Path) -> None:
    assert all(recipe.licences for recipe in RECIPES)
    recipe = Recipe("tiff", licences=("docs/LICENSE.md",))
    with pytest.raises(StepError, match=r"tiff has no .*LICENSE\.md, .*copyright"):
        licences.wanted(recipe, tmp_path)
    for folder, name in [("docs", "LICENSE.md"), ("debian", "copyright")]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).touch()
    assert set(licences.wanted(recipe, tmp_path)) == {"tiff/LICENSE.md", "tiff/copyright"}
    assert "- tiff 4.5.0-6\n" in licences.readme({"tiff": "4.5.0-6"})


def test_what_is_loaded_on_demand_is_made_of_what_is_built() -> None:
    built = {recipe.source for recipe in RECIPES}
    assert all(built.issuperset(library.sources) for library in ondemand.LOADED)
    assert built - {recipe.source for recipe in licences.bundled()} == {"lame"}


def test_names_are_those_that_the_native_library_looks_for() -> None:
    root = Path(__file__).parents[2]
    assert '"-penstock.so"' in (root / "native" / "decode" / "library.cpp").read_text()
    code = "".join(path.read_text() for path in (root / "native" / "decode").rglob("*.cpp"))
    assert all(
        library.file == f"{library.name}-penstock.so" and f'"{library.name}"' in code for library in ondemand.LOADED
    )


def test_what_is_exported_is_what_the_native_library_looks_for() -> None:
    decode = Path(__file__).parents[2] / "native" / "decode"

    def called(file: str, pattern: str, prefix: str = "") -> set[str]:
        return {prefix + name for name in re.findall(pattern, (decode / file).read_text())}

    wanted = {
        "libz": called("gzip.cpp", r'find_symbol\(library, "(\w+)"'),
        "libwebp": called("webp.cpp", r'find_symbol\(library, "(\w+)"'),
        "libtiff": called("tiff_library.h", r"\bX\((\w+)\)", "TIFF"),
        "libopenjp2": called("jpeg2000.cpp", r'find\("(opj_\w+)"'),
        "libsndfile": called("audio/library.cpp", r"PS_SND\((\w+)\)(?! find_symbol)", "sf_"),
    }
    assert {library.name: set(library.exports) for library in ondemand.LOADED} == wanted


def test_ffmpeg_is_under_the_lgpl_and_only_decodes() -> None:
    assert not [option for option in ffmpeg.OPTIONS if re.search(r"gpl|nonfree|version3|encoder|muxers?$", option)]
    assert {"--disable-everything", "--disable-autodetect", "--disable-network"}.issubset(ffmpeg.OPTIONS)
    assert package.definitions(Target())["PENSTOCK_FFMPEG"] == str(Target().prefix)
    text = licences.readme({"ffmpeg": "7:5.1.9-0+deb12u1"})
    assert "PENSTOCK_LIBPENSTOCK_VIDEO" in text
    assert all(f"    {option}\n" in text for option in ffmpeg.OPTIONS)
    (recipe,) = (recipe for recipe in licences.bundled() if recipe.source == "ffmpeg")
    assert "COPYING.LGPLv2.1" in recipe.licences


def test_a_wheel_is_packed_anew_with_all_that_was_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deflated(data: bytes) -> bytes:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(data) + packer.flush()

    monkeypatch.setattr(compress, "deflated", deflated)
    files = {"penstock/a.py": b"import math\n" * 50, "penstock/empty": b"", "penstock/\u00fc": bytes(range(256))}
    with zipfile.ZipFile(tmp_path / "old.whl", "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (2026, 11, 24, 9, 7, 58))
            info.external_attr = 0o100755 << 16
            archive.writestr(info, data)
    with zipfile.ZipFile(tmp_path / "old.whl") as archive:
        packed = [compress.pack(info, archive.read(info)) for info in archive.infolist()]
    (tmp_path / "new.whl").write_bytes(compress.archive(packed))
    with zipfile.ZipFile(tmp_path / "new.whl") as archive:
        assert {info.filename: archive.read(info) for info in archive.infolist()} == files
        assert archive.testzip() is None
        for info in archive.infolist():
            assert (info.date_time, info.external_attr >> 16) == ((2026, 11, 24, 9, 7, 58), 0o100755)
        sizes = [info.compress_size for info in archive.infolist()]
    assert sizes[0] < 50
    assert sizes[1:] == [0, 256]


def test_another_systems_files_have_its_names() -> None:
    assert trial.System().command("python", "-V") == ["python", "-V"]
    assert trial.System().inside(Path("/tmp/a")) == Path("/tmp/a")
    other = trial.System(Path("/roots/old"))
    assert other.inside(Path("/roots/old/tmp/a")) == Path("/tmp/a")
    words = other.command("/bin/python", "-V")
    assert words[:2] == ["unshare", "--mount"]
    assert words[-3:] == [Path("/roots/old"), "/bin/python", "-V"]


def test_symbols_are_hidden_but_for_those_that_are_called(tmp_path: Path) -> None:
    flag = toolchain.exports(tmp_path / "x" / "libtiff.map", "TIFF*", "a")
    assert flag == f"-Wl,--version-script={tmp_path / 'x' / 'libtiff.map'}"
    assert (tmp_path / "x" / "libtiff.map").read_text() == "{ global: TIFF*; a; local: *; };\n"


def test_the_older_glibc_is_looked_into_first() -> None:
    assert toolchain.libc_script("ld-linux-x86-64.so.2").startswith("GROUP ( libc.so.6 libc_nonshared.a ")


def test_static_libraries_alone_are_linked_into_the_native_one() -> None:
    target = Target()
    linked = [value for name, value in package.definitions(target).items() if name.endswith("_LIBRARY")]
    assert len(linked) == 3
    assert all(value.startswith(f"{target.prefix}/") and value.endswith(".a") for value in linked)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.source)
def test_libraries_are_built_static_and_for_any_address(recipe: Recipe) -> None:
    words = [str(word) for word in static.command(recipe, Target(), Path("/source"), Path("/build"))]
    assert any("-ffp-contract=off" in word and "-march=x86-64-v2" in word for word in words)
    assert "--enable-pic" in words or any("-fPIC" in word for word in words)
    static_only = {"-DBUILD_SHARED_LIBS=OFF", "--disable-shared", "--default-library=static", "--enable-pic"}
    assert static_only.intersection(words)
    assert "--enable-shared" not in words
