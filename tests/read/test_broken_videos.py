"""Files of videos with changed bytes, cut ends and lost parts: the reader names the file, or gives the
frames that it has; files beside it are not touched; no crash, no hang.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import DecodeError, PenstockError, ReadError
from tests.decode.test_broken_videos import mutated
from tests.decode.test_video import frames_of
from tests.decode.videos import Array, Clip, encoded
from tests.read.data_sets import remember

MANY, SOME = 2000, 100
LENGTH = 5  # frames of a sequence
_CLIPS = [
    Clip("libx264", "mp4", frames=20, gop=8, b=2),
    Clip("libx264", "mpegts", frames=20, gop=8, b=2),
    Clip("libx265", "matroska", frames=20, gop=8, b=2),
    Clip("libvpx-vp9", "webm", frames=20, gop=8),
    Clip("mpeg4", "avi", frames=20, gop=8, b=2),
]
each_clip = pytest.mark.parametrize("clip", _CLIPS, ids=str)


@contextmanager
def remembered(variants: list[bytes]) -> Iterator[list[str]]:
    paths = [f"memory://broken-videos/{i}" for i in range(len(variants))]
    try:
        for path, data in zip(paths, variants, strict=True):
            remember(path, data)
        yield paths
    finally:
        for path in paths:
            remember(path, None)


def sequences(paths: list[str], on_error: str, threads: int = 2) -> list[tuple[int, int, Array]]:
    """The file's number, the first frame, and the frames of each sequence that is given."""
    pipe = Pipeline(batch_size=1, num_threads=threads, device_id=None)
    with pipe:
        made = fn.experimental.readers.video(
            filenames=paths, labels=range(len(paths)), sequence_length=LENGTH, pad_mode="edge", enable_frame_num=True,
            on_error=on_error, name="Reader",
        )  # fmt: skip
        pipe.set_outputs(*made)
    found: list[tuple[int, int, Array]] = []
    refused: list[DecodeError] = []
    for _ in range(pipe.reader_meta("Reader")["epoch_size"] - (on_error == "skip")):
        try:
            frames, file, first = pipe.run()
        except DecodeError as error:
            refused.append(error)
            continue
        except StopIteration:
            break
        number, begin = int(file.at(0)[0]), int(first.at(0)[0])
        if found and on_error == "skip" and (number, begin) <= found[-1][:2]:
            break  # the next epoch
        found.append((number, begin, np.array(frames.at(0))))
    assert on_error == "raise" or not refused
    assert all(error.file in paths for error in refused)
    return found


def check(clip: Clip, count: int, random: np.random.Generator) -> None:
    """Files that are refused are left out, and told of; those between them that were not harmed are as they were."""
    data = encoded(clip)
    (good,) = frames_of(data)
    variants = [data if i % 10 == 0 else mutated(data, random) for i in range(count)]
    with remembered(variants) as paths:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = sequences(paths, "skip")
        assert count < 50 or any("videos are left out" in str(one.message) for one in told)
        whole = [i for i in range(count) if variants[i] == data]
        by_file: dict[int, list[tuple[int, Array]]] = {}
        for number, first, frames in found:
            by_file.setdefault(number, []).append((first, frames))
        for i in whole:
            assert [first for first, _ in by_file[i]] == [0, 5, 10, 15]
            for first, frames in by_file[i]:
                np.testing.assert_array_equal(frames, good[first : first + LENGTH])


@each_clip
def test_broken_files(clip: Clip, random: np.random.Generator) -> None:
    check(clip, SOME, random)


@pytest.mark.fuzz
@each_clip
def test_many_broken_files(clip: Clip, random: np.random.Generator) -> None:
    check(clip, MANY, random)


@each_clip
def test_broken_files_are_named(clip: Clip, random: np.random.Generator) -> None:
    data = encoded(clip)
    variants: list[Any] = [mutated(data, random) for _ in range(30)]
    with remembered(variants) as paths:
        refused = [(path, error) for path in paths if (error := _error(path))]
        assert all(path in str(error) for path, error in refused)


def _error(path: str) -> PenstockError | None:
    try:
        sequences([path], "raise")
    except (DecodeError, ReadError) as error:
        return error
    return None


def test_an_unknown_codec_is_damage_of_the_file() -> None:
    data = encoded(_CLIPS[0])
    assert data.count(b"avc1") >= 1
    with remembered([data.replace(b"avc1", b"\0\x7f\0\x7f")]) as (path,):
        error = _error(path)
    assert isinstance(error, (DecodeError, ReadError))
    assert path in str(error)
    assert "no codec has the name in it" in str(error)
