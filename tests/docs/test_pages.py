"""The code of the tutorial, the recipes and the guides for those who come from elsewhere runs as it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.decode.sounds import sounds_can_be_decoded, wav

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = ["tutorial", "performance", "from-torchvision", "from-tf-data", "dynamic",
         *(f"recipes/{path.stem}" for path in sorted((DOCS / "recipes").glob("*.md")))]  # fmt: skip
# Pages whose code other tests run, and those whose code is a part that shows how a line looks.
ELSEWHERE = {"audio", "video", "troubleshooting", "external-source", "conditionals", "checkpoints", "custom-operators",
             "frameworks", "scale-out", "serving"}  # fmt: skip
PARTS = {
    "migrating": "its first lines install what a whole process has: tests/compat runs them",
    "debug-mode": "it stops in a debugger",
    "stores": "its bucket is nobody's: tests/read/stores has servers",
    "jpeg-index": "a line of a pipeline",
}


def blocks(page: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def _sounds(folder: Path) -> None:
    if not sounds_can_be_decoded():
        pytest.skip("needs libsndfile")
    for i in range(4):
        (folder / f"{i % 2}").mkdir(parents=True, exist_ok=True)
        tone = np.sin(np.arange(8000 + 500 * i) * 0.3)[:, None] * 9000
        (folder / f"{i % 2}" / f"{i}.wav").write_bytes(wav(tone, 8000))


def _videos(folder: Path) -> None:
    pytest.importorskip("av", reason="PyAV, which makes videos for tests, is not installed")
    from tests.decode.videos import Clip, encoded

    for i in range(3):
        (folder / f"{i}").mkdir(parents=True)
        (folder / f"{i}" / "a.mp4").write_bytes(encoded(Clip("libx264", "mp4", b=2, seed=i)))


def _coco(folder: Path) -> None:
    (folder / "images").mkdir(parents=True)
    pictures, objects = [], []
    for i, file in enumerate(sorted(Path("photos").glob("*/*.jpg"))[:8]):
        (folder / "images" / f"{i}.jpg").write_bytes(file.read_bytes())
        pictures.append({"id": i, "file_name": f"{i}.jpg", "width": 500, "height": 375})
        objects += [{"id": 2 * i + k, "image_id": i, "category_id": 1 + k, "bbox": [60 + 90 * k, 40, 200, 180]}
                    for k in range(2)]  # fmt: skip
    document = {"images": pictures, "annotations": objects, "categories": [{"id": 1}, {"id": 2}]}
    (folder / "annotations.json").write_text(json.dumps(document))


def _segmentation(folder: Path) -> None:
    for i, file in enumerate(sorted(Path("photos").glob("*/*.jpg"))[:8]):
        for kind in ("pictures", "masks"):
            (folder / kind / "all").mkdir(parents=True, exist_ok=True)
        (folder / "pictures" / "all" / f"{i}.jpg").write_bytes(file.read_bytes())
        mask = np.zeros((375, 500), np.uint8)
        mask[50 : 100 + 20 * i, 100:300] = 1 + i % 3
        Image.fromarray(mask).save(folder / "masks" / "all" / f"{i}.png")


DATA: dict[str, Callable[[Path], None]] = {
    "sounds": _sounds, "videos": _videos, "coco": _coco, "segmentation": _segmentation,
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_code_runs(page: str, photographs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(blocks(page))
    (tmp_path / "photos").symlink_to(photographs)
    monkeypatch.chdir(tmp_path)
    for name, make in DATA.items():
        if f'"{name}' in code:
            make(tmp_path / name)
    file = tmp_path / "code.py"  # a file, so that errors can show the line
    file.write_text(code)
    scope: dict[str, object] = {"__name__": "code"}
    exec(compile(code, str(file), "exec"), scope)
    for written in re.findall(r'(?:save\(|html=)"([\w.]+)"', code):
        assert (tmp_path / written).stat().st_size > 10_000, written


def test_the_code_of_all_pages_runs_somewhere() -> None:
    with_code = {
        str(path.relative_to(DOCS).with_suffix("")) for path in DOCS.rglob("*.md") if "```python" in path.read_text()
    }
    assert with_code == {*PAGES, *ELSEWHERE, *PARTS}
    assert not {*PAGES} & ({*ELSEWHERE} | {*PARTS})
