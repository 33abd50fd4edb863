"""A file that defines a pipeline to be served, and what it makes of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

DEFINITION = """
from penstock import fn, pipeline_def, types
from penstock.plugin.triton import autoserialize

@autoserialize
@pipeline_def(
    batch_size=16, num_threads=2, device_id=None,
    output_dtype=[types.UINT8, types.INT64], output_ndim=[3, 1],
)
def prepared():
    files = fn.external_source(name="FILE", dtype=types.UINT8, ndim=1, no_copy=True)
    images = fn.decoders.image(files, output_type=types.RGB)
    return fn.resize(images, size=(48, 64)), images.shape()
"""


def load(folder: Path) -> Any:
    """The pipeline of a file that is written there."""
    (folder / "prepared.py").write_text(DEFINITION)
    scope: dict[str, Any] = {"__name__": "prepared"}
    exec(compile(DEFINITION, str(folder / "prepared.py"), "exec"), scope)
    return scope["prepared"]()


def expected(folder: Path, files: list[bytes]) -> list[np.ndarray]:
    """The picture that the pipeline makes of each file."""
    pipe = load(folder)
    return [pipe.run(FILE=[np.frombuffer(file, np.uint8)])[0].at(0) for file in files]
