"""fn.experimental.inputs.video: sequences of videos that are fed, as DALI gives them; exact, in step, broken ones."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, DecodeError, NoDataError, TensorError
from tests.decode.videos import Array, Clip, decoded, encoded

VP9 = Clip("libvpx-vp9", "webm", frames=34, gop=12)
H264 = Clip("libx264", "mp4", frames=23, gop=250, b=3, width=96, height=64, seed=4)


def made(batch: int = 3, library: Any = None, depth: int = 2, **arguments: Any) -> Any:
    maker, function = (library.pipeline.Pipeline, library.fn) if library else (Pipeline, fn)
    pipe = maker(batch_size=batch, num_threads=2, device_id=None, prefetch_queue_depth=depth)
    with pipe:
        pipe.set_outputs(function.experimental.inputs.video(name="video", **arguments))
    pipe.build()
    return pipe


def fed(clip: Clip) -> list[Array]:
    return [np.frombuffer(encoded(clip), np.uint8)]


def all_of(pipe: Any) -> list[list[Array]]:
    """Batches, until there is no data."""
    batches = []
    while True:
        try:
            (found,) = pipe.run()
        except (NoDataError, RuntimeError):
            return batches
        batches.append([np.array(found.at(i)) for i in range(len(found))])


def rgb(clip: Clip) -> Array:
    wanted = decoded(encoded(clip))
    return np.stack([wanted.rgb(i) for i in range(clip.frames)])


@pytest.mark.parametrize("policy", ["partial", "pad"])
@pytest.mark.parametrize("length", [1, 5, 17, 40])
@pytest.mark.parametrize("batch", [1, 3])
def test_sequences_are_dalis(policy: str, length: int, batch: int) -> None:
    dali = pytest.importorskip("nvidia.dali")
    arguments: dict[str, Any] = {"batch": batch, "sequence_length": length, "last_sequence_policy": policy}
    theirs, ours = made(library=dali, depth=1, **arguments), made(**arguments)
    for pipe in (theirs, ours):
        pipe.feed_input("video", fed(VP9))
    count = math.ceil(math.ceil(VP9.frames / length) / batch)
    for _ in range(count):
        (wanted,), (found,) = theirs.run(), ours.run()
        assert len(found) == len(wanted)
        assert found.layout() == wanted.layout()
        for i in range(len(found)):
            a, b = np.array(found.at(i)), np.array(wanted.at(i))
            assert a.shape == b.shape
            assert np.abs(a.astype(int) - b).max() <= 1
    with pytest.raises(NoDataError, match=r"experimental\.inputs\.video 'video' has no data"):
        ours.run()


def test_several_videos_one_behind_the_other() -> None:
    """Of two sizes; each begins a batch of its own, and frames are exact."""
    pipe = made(batch=2, sequence_length=6)
    for clip in (H264, VP9, H264):
        pipe.feed_input("video", fed(clip))
    batches = all_of(pipe)
    assert [[len(s) for s in batch] for batch in batches] == (
        [*[[6, 6], [6, 5]], *[[6, 6], [6, 6], [6, 4]], *[[6, 6], [6, 5]]]
    )
    wanted = [*rgb(H264), *rgb(VP9), *rgb(H264)]
    found = [frame for batch in batches for sequence in batch for frame in sequence]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_by_run_and_padded() -> None:
    pipe = made(batch=8, sequence_length=5, last_sequence_policy="pad")
    (found,) = pipe.run(video=fed(H264))
    assert found.shape() == [(5, 64, 96, 3)] * 5
    np.testing.assert_array_equal(found.at(4)[:3], rgb(H264)[20:])
    assert not np.array(found.at(4)[3:]).any()


def test_behind_a_resize() -> None:
    """In one pass, with the same pixels as by themselves."""
    pipe = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipe:
        frames = fn.experimental.inputs.video(name="video", sequence_length=8)
        pipe.set_outputs(fn.resize(frames, size=(30, 40)))
    (found,) = pipe.run(video=fed(H264))
    plain = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with plain:
        plain.set_outputs(fn.resize(fn.external_source(lambda: [rgb(H264)], layout="FHWC"), size=(30, 40)))
    wanted = plain.run()[0].at(0)
    np.testing.assert_array_equal(np.concatenate([found.at(i) for i in range(3)]), wanted)


def test_blocking_waits() -> None:
    pipe = made(batch=4, sequence_length=6, blocking=True)
    thread = threading.Thread(target=lambda: (time.sleep(0.3), pipe.feed_input("video", fed(H264))))
    begin = time.monotonic()
    thread.start()
    (found,) = pipe.run()
    thread.join()
    assert time.monotonic() - begin > 0.25
    assert [len(found.at(i)) for i in range(4)] == [6, 6, 6, 5]


@pytest.mark.parametrize("no_copy", [False, True])
def test_memory_of_the_user(no_copy: bool) -> None:
    """A copy is made, unless it is not wanted: then the array must stay as it is."""
    pipe, video = made(batch=1, sequence_length=23, no_copy=no_copy), fed(H264)[0].copy()
    pipe.feed_input("video", [video])
    if not no_copy:
        video[:] = 0
    np.testing.assert_array_equal(pipe.run()[0].at(0), rgb(H264))


def test_an_array_of_one_video() -> None:
    pipe = made(batch=1, sequence_length=23)
    pipe.feed_input("video", np.stack(fed(H264)))
    np.testing.assert_array_equal(pipe.run()[0].at(0), rgb(H264))


@pytest.mark.parametrize(
    ("data", "error", "problem"),
    [
        ([np.zeros(5, np.uint8)] * 2, TensorError, "a batch of 2 samples"),
        ([np.zeros(5, np.float32)], TensorError, "expected the bytes of a file"),
        ([np.zeros((5, 5), np.uint8)], TensorError, "expected the bytes of a file"),
        ([np.zeros(5000, np.uint8)], DecodeError, "no video"),
    ],
    ids=["two", "floats", "picture", "zeros"],
)
def test_what_is_no_video(data: list[Array], error: type[Exception], problem: str) -> None:
    """It is refused when it is fed, and what comes behind it is as it was."""
    pipe = made(batch=4, sequence_length=6)
    with pytest.raises(error, match=problem):
        pipe.feed_input("video", data)
    pipe.feed_input("video", fed(H264))
    assert len(pipe.run()[0]) == 4


def test_length_is_checked() -> None:
    with pytest.raises(ArgumentError, match="sequence_length=0"):
        made(sequence_length=0)


def test_a_frame_that_is_broken() -> None:
    """It is named, and iterations without it are given."""
    clip = Clip("mjpeg", "avi", frames=12, pixels="yuvj420p", full_range=True)
    data = bytearray(encoded(clip))
    at = len(data) // 2
    data[at : at + 300] = bytes(300)
    pipe = made(batch=1, sequence_length=1)
    pipe.feed_input("video", [np.frombuffer(bytes(data), np.uint8)])
    good, broken = 0, []
    for _ in range(12):
        try:
            pipe.run()
            good += 1
        except DecodeError as error:
            broken.append(str(error))
    assert good >= 10
    assert broken
    assert all("frame " in text for text in broken)
