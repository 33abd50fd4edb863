"""nvImageCodec of a version that is not used: the CPU decodes, a warning says why, and so does `explain`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.decode.formats import tiff
from tests.decode.pictures import write
from tests.faults.processes import finish, script
from tests.programs import ROOT

PROGRAM = """
import sys, warnings
from penstock import fn, pipeline_def

@pipeline_def(batch_size=1, num_threads=1, device_id=0)
def pipeline(engine):
    return fn.decoders.image(fn.readers.file(files=sys.argv[1:])[0], device="mixed", jpeg_engine=engine)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    pipeline("cpu").build()
    print(len(caught))
    for _ in range(2):
        pipe = pipeline("auto")
        pipe.run()
        pipe.run()
print([str(one.message) for one in caught])
print(pipe.explain())
"""


@pytest.mark.parametrize(("version", "fits"), [("800", False), ("1000", False), ("901", True)])
def test_other_versions(tmp_path: Path, software_gpu: dict[str, str], version: str, fits: bool) -> None:
    if not software_gpu:
        pytest.skip("asks the library in software to say that it is another version")
    names = write(tmp_path, [tiff(np.arange(7 * 5 * 3, dtype=np.uint8).reshape(7, 5, 3))])
    process = script(PROGRAM, *names, SOFTWARE_NVIMGCODEC_VERSION=version)
    out, err = finish(process, 120)
    assert (err, process.returncode) == ("", 0)
    problem = f"nvImageCodec 0.{int(version) // 100} was found, 0.9 is needed: `pip install -U penstock[cuda13]`, or "
    problem += "penstock[cuda12], brings it"
    first, second, *explained = out.splitlines()
    assert first == "0"
    warned = (
        "device='mixed' decodes JPEG 2000, TIFF and lossless JPEG on the CPU, which is slower (jpeg_engine='cpu' asks "
        f"for the CPU, without this warning): {problem}"
    )
    assert second == str([] if fits else [warned])
    decoder = "nvImageCodec" if fits else f"CPU ({problem})"
    text = "\n".join(explained)
    assert f"JPEG 2000, TIFF, lossless JPEG: {decoder}; other formats: CPU" in text
    assert re.search(r"so far: (\S+)", text)[1] == ("nvImageCodec" if fits else "CPU")  # type: ignore[index]


def test_the_package_asks_for_the_version_that_is_used() -> None:
    (version,) = re.findall(
        r"kVersion = (\d+);", (ROOT / "native" / "cuda" / "decode" / "nvimgcodec" / "nvimgcodec.h").read_text()
    )
    minor = int(version) // 100
    asked = re.findall(r"nvidia-nvimgcodec-cu\d+([^\"]*)\"", (ROOT / "pyproject.toml").read_text())
    assert asked == [f">=0.{minor},<0.{minor + 1}"] * 2
