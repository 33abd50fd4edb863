"""`fn.readers.sequence`: frames of folders."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import fn, types
from penstock.errors import ArgumentError, DecodeError, OperatorError, ReadError
from tests.read.data_sets import case, read
from tests.small import made

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated.*:DeprecationWarning")


def _frame(video: str, number: int, height: int = 4) -> Any:
    return np.full((height, 6, 3), [ord(video), number, 0], np.uint8)


def _png(array: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


_VIDEOS = {"b": 5, "a": 3, "c": 9, "e": 1}
_FILES = {f"{video}/{i:02}.png": _png(_frame(video, i)) for video, n in _VIDEOS.items() for i in range(n)}


def sequences(length: int, step: int, stride: int) -> list[tuple[Any]]:
    return [
        (np.stack([_frame(video, first + i * stride) for i in range(length)]),)
        for video, n in sorted(_VIDEOS.items())
        for first in range(0, n - (length - 1) * stride, step)
    ]


def _case(title: str, length: int, step: int = 1, stride: int = 1, **options: Any) -> Any:
    arguments = {"sequence_length": length, "step": step, "stride": stride}
    return case("readers.sequence", _FILES, sequences(length, step, stride),
                lambda root: {"file_root": root, **arguments}, in_memory=False, title=title, **options)  # fmt: skip


CASES = [
    _case("neighbours", 3),
    _case("apart", 2, step=3, stride=2),
    _case("single frames", 1, step=4),
]


def test_gray(tmp_path: Path) -> None:
    for name, data in _FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    pipe = made(lambda: fn.readers.sequence(file_root=tmp_path, sequence_length=2, image_type=types.GRAY))
    (found,) = pipe.run()
    assert found.layout() == "FHWC"
    assert found.shape()[0] == (2, 4, 6, 1)


def test_media_beside_dali(dali_extra: Path) -> None:
    theirs = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import Pipeline as DaliPipeline

    arguments = {"file_root": str(dali_extra / "db" / "sequence" / "frames"), "sequence_length": 3, "step": 7}
    pipe = DaliPipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(theirs.readers.sequence(**arguments))
    pipe.build()
    (its,) = pipe.run()
    for i, (mine,) in enumerate(read(made(lambda: fn.readers.sequence(**arguments), batch_size=2), 2)):
        np.testing.assert_array_equal(mine, np.array(its.at(i)))


@pytest.mark.parametrize("name", ["sequence_length", "step", "stride"])
def test_numbers_are_positive(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"{name}=0: expected 1 or more"):
        fn.readers.sequence(**{"file_root": "x", "sequence_length": 2, name: 0})


def test_frames_that_do_not_fit(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v/0.png").write_bytes(_FILES["a/00.png"])

    def sequence() -> Any:
        return fn.readers.sequence(file_root=tmp_path, sequence_length=2)

    with pytest.raises(ArgumentError, match="no folder in it has the 2 frames"):
        sequence()
    with pytest.raises(ReadError, match="cannot list"):
        fn.readers.sequence(file_root=tmp_path / "gone", sequence_length=2)
    (tmp_path / "v/1.png").write_bytes(_png(_frame("v", 1, height=5)))
    with pytest.raises(DecodeError, match="frame 1 has 5 x 6 pixels of 3 channels, the first one has 4 x 6"):
        made(sequence, batch_size=1).run()
    (tmp_path / "v/1.png").write_bytes(b"no picture")
    with pytest.raises(OperatorError, match=r"v/0\.png"):
        made(sequence, batch_size=1).run()


def test_broken_sequences_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    for i in range(4):
        (tmp_path / f"v/{i}.png").write_bytes(_png(_frame("v", i)) if i != 1 else b"no picture")
    pipe = made(
        lambda: fn.readers.sequence(file_root=tmp_path, sequence_length=1, on_error="skip", name="Reader"), batch_size=1
    )
    assert [int(frames[0, 0, 0, 1]) for (frames,) in read(pipe, 6)] == [0, 2, 3, 0, 2, 3]
    (one,) = pipe.broken_samples()
    assert (one.reader, one.index, one.action) == ("Reader", 1, "skip")
