"""The example of docs/stores.md runs as it stands."""

from __future__ import annotations

from pathlib import Path

from tests.docs.test_readme import blocks, run
from tests.read.stores.servers import S3


def test_stores(s3: S3, photographs: Path, tmp_path: Path) -> None:
    (code,) = blocks("docs/stores.md", "python")
    files = {f"train/{p.relative_to(photographs)}": p.read_bytes() for p in photographs.glob("*/*.jpg")}
    code = code.replace("s3://photographs", s3.bucket(files))
    scope = run(code, tmp_path)
    assert scope["images"].as_array().shape == (8, 224, 224, 3)  # type: ignore[attr-defined]
    assert scope["labels"].as_array().shape == (8, 1)  # type: ignore[attr-defined]
