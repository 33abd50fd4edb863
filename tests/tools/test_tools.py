"""The tools behind ./dev check find what they are there for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from tools import check_imports, check_simd, check_sizes, environment, photographs


def mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(check_imports, "ROOT", tmp_path)
    order = check_imports.layers(check_imports.PYTHON)
    native = check_imports.layers(check_imports.NATIVE)
    return [
        *check_imports.mistakes(check_imports.python_edges(), tmp_path / "penstock", order),
        *check_imports.mistakes(check_imports.native_edges(), tmp_path / "native", native),
    ]


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("penstock/read/file.py", "from penstock.decode import image", "read.file may not import decode"),
        ("penstock/read/file.py", "def f():\n    from penstock import pipeline", "may not import pipeline"),
        ("penstock/read/file.py", "if TYPE_CHECKING:\n    from penstock import pipeline", "may not import pipeline"),
        ("penstock/read/file.py", 'import_module("penstock.ops").make', "may not import ops"),
        ("penstock/math.py", "from penstock import pipeline", "math may not import pipeline"),
        ("penstock/graph/node.py", "import penstock.optimize.passes", "may not import optimize.passes"),
        ("penstock/newcomer/a.py", "import penstock.errors", "no layer"),
        ("native/core/tensor.h", '#include "run/plan.h"', "core may not import run"),
        ("native/ops/flip.cpp", '#include "run/plan.h"', "ops may not import run"),
        ("penstock/device/base/half.h", '#include "core/tensor.h"', "device.base may not import core"),
        ("native/ops/geometry/paste.cpp", '#include "ops/tensor/join.h"', "ops.geometry may not import ops.tensor"),
        ("native/decode/jpeg/lossless.cpp", '#include "decode/codec.h"', "decode.jpeg may not import decode"),
        ("native/decode/jpeg.cpp", '#include "decode/jpeg/decoder.h"', None),
        ("penstock/decode/image.py", "from penstock.read import file\nimport numpy", None),
        ("native/run/plan.cpp", '#include <vector>\n#include "core/tensor.h"', None),
    ],
)
def test_import_directions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, found: str | None
) -> None:
    (tmp_path / "penstock").mkdir()
    (tmp_path / "native").mkdir()
    lines = mistakes(tmp_path, monkeypatch, {file: text})
    assert len(lines) == (found is not None)
    assert all(found in line and file in line for line in lines if found)


def test_a_unit_compiled_once_may_see_no_simd_in_any_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "CMakeLists.txt": 'list(FILTER common_sources INCLUDE REGEX "/run/")\n'
        'list(FILTER common_sources EXCLUDE REGEX "/run/isa.cpp")\n',
        "native/run/plain.cpp": '#include "core/plain.h"\n',
        "native/run/hot.cpp": '#include "core/near.h"\n',
        "native/run/isa.cpp": "const char* isa = PS_ISA;\n",
        "native/core/plain.h": "#include <vector>\n",
        "native/core/near.h": '#include "core/lanes.h"\n',
        "native/core/lanes.h": "#ifdef __AVX2__\n#endif\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(check_simd, "ROOT", tmp_path)
    (found,) = check_simd.mistakes()
    assert "native/run/hot.cpp" in found
    assert "native/core/lanes.h (__AVX)" in found


def test_wide_lines_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "native" / "run").mkdir(parents=True)
    (tmp_path / "native" / "run" / "plan.cpp").write_text(f"{'x' * 120}\n{'x' * 121}\n")
    (tmp_path / "CMakeLists.txt").write_text("\n")
    monkeypatch.setattr(check_sizes, "ROOT", tmp_path)
    assert list(check_sizes.wide_lines()) == ["native/run/plan.cpp:2: 121 columns"]


def test_an_extra_names_all_that_it_needs() -> None:
    wanted = environment.requirements("test")
    assert any(entry.startswith("numpy") for entry in wanted)
    assert any(entry.startswith("pytest>") for entry in wanted)
    assert any(entry.startswith("pillow") for entry in wanted)  # of an extra that the extra names
    assert not any("penstock[" in entry for entry in wanted)


def test_photographs_are_the_same_each_time_and_of_the_size_asked_for() -> None:
    style = photographs.Style(quality=(92, 92), subsampling="4:4:4")
    first, again, other = (photographs.photograph("cat", seed, style) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert 85_000 < len(first) < 120_000
    picture = Image.open(io.BytesIO(first))
    assert picture.size == (500, 375)
    assert picture.format == "JPEG"
