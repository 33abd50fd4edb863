"""Videos that are broken: an error that says what is wrong, or the frames as they were; never a hang or a crash."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from penstock.errors import PenstockError
from tests.decode.test_video import frames_of
from tests.decode.videos import Array, Clip, av, encoded

_CLIPS = [
    Clip("libx264", "mp4", frames=20, gop=8, b=2),
    Clip("libx264", "matroska", frames=20, gop=8, b=2),
    Clip("libx264", "mpegts", frames=20, gop=8, b=2),
    Clip("libx264", "avi", frames=20, gop=8, b=2),
    Clip("libx264", "mp4", frames=20, gop=8, mux=(("movflags", "frag_keyframe+empty_moov"),)),
    Clip("libx265", "mp4", frames=20, gop=8, b=2),
    Clip("libvpx", "webm", frames=20, gop=8),
    Clip("libvpx-vp9", "webm", frames=20, gop=8),
    Clip("libsvtav1", "mp4", frames=12, gop=8, width=64, height=64),
    Clip("mpeg4", "avi", frames=20, gop=8, b=2),
    Clip("mpeg2video", "mpeg", frames=20, gop=8, b=2),
    Clip("mjpeg", "avi", frames=12, pixels="yuvj420p", full_range=True),
]
each_clip = pytest.mark.parametrize("clip", _CLIPS, ids=str)


def mutated(data: bytes, random: np.random.Generator) -> bytes:
    """One of: some bytes changed, a part removed, a part twice, zeros, cut off."""
    array = np.frombuffer(data, np.uint8).copy()
    kind, at = random.integers(6), int(random.integers(len(array)))
    n = int(random.integers(1, 400))
    if kind == 0:
        array[random.integers(0, len(array), 1 + n // 40)] = random.integers(0, 256)
    elif kind == 1:
        array = np.delete(array, slice(at, at + n))
    elif kind == 2:
        array = np.insert(array, at, array[at : at + n])
    elif kind == 3:
        array[at : at + n] = 0
    elif kind == 4:
        array = array[:at]
    else:  # numbers of the header
        at = int(random.integers(min(len(array), 900)))
        array[at : at + 4] = random.integers(0, 256, len(array[at : at + 4]))
    return array.tobytes()


def _try(data: bytes, good: Array) -> str:
    try:
        (found,) = frames_of(data, frames=[0, 3, 11, 4], pad_mode="edge")
    except PenstockError:
        return "refused"
    assert found.shape[0] == 4
    return "same" if found.shape[1:] == good.shape[1:] and np.array_equal(found, good[[0, 3, 11, 4]]) else "other"


@each_clip
def test_mutated_videos(clip: Clip, random: np.random.Generator) -> None:
    _mutate(clip, random, 40)


@pytest.mark.fuzz
@each_clip
def test_many_mutated_videos(clip: Clip, random: np.random.Generator) -> None:
    _mutate(clip, random, 450)


def _mutate(clip: Clip, random: np.random.Generator, count: int) -> None:
    data = encoded(clip)
    (good,) = frames_of(data)
    results: Any = [_try(mutated(data, random), good) for _ in range(count)]
    assert results.count("refused") > count // 20
    assert results.count("same") >= count // 20


@each_clip
def test_cut_videos(clip: Clip) -> None:
    """What is whole is there, in order, or nothing: of MP4 the table of frames comes last."""
    data = encoded(clip)
    (good,) = frames_of(data)
    for share in (0.3, 0.6, 0.9, 0.99):
        cut = data[: int(len(data) * share)]
        try:
            (found,) = frames_of(cut)
        except PenstockError:
            continue
        n = len(found)
        assert 0 < n <= len(good)
        same = [np.array_equal(a, b) for a, b in zip(found, good, strict=False)]
        assert same.count(False) <= 1, share  # one at the end may be a whole packet of a container, and half a picture
        assert all(same[:-3])


@pytest.mark.parametrize("codec", ["libx264", "libx265", "mpeg4", "libvpx-vp9"])
def test_a_damaged_frame_harms_no_other_key_frame(codec: str) -> None:
    """Frames before it and those from the next key frame on are as they were. Those between are refused, where the
    decoder notices: of codecs with arithmetic coding any bits are a picture.
    """
    clip = Clip(codec, "matroska", frames=30, gop=10)
    data = bytearray(encoded(clip))
    (good,) = frames_of(bytes(data))
    with av.open(io.BytesIO(data)) as container:
        packet = bytes([p for p in container.demux(video=0) if p.size][13])
    at = data.index(packet) + len(packet) // 2
    data[at : at + 12] = bytes(b ^ 0x5A for b in data[at : at + 12])
    outcomes = []
    for i in range(30):
        try:
            (found,) = frames_of(bytes(data), frames=[i])
        except PenstockError as error:
            outcomes.append("refused" if f"frame {i} " in str(error) else str(error))
            continue
        outcomes.append("same" if np.array_equal(found[0], good[i]) else "other")
    assert outcomes[:10] == ["same"] * 10
    assert outcomes[20:] == ["same"] * 10
    assert set(outcomes[10:20]) != {"same"}
