"""fn.decoders.video: any frames of any video are those that decoding from the beginning gives."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, DecodeError, OperatorError
from tests.decode.videos import CLIPS, Array, Clip, decoded, encoded, to_rgb

each_clip = pytest.mark.parametrize("clip", CLIPS, ids=str)
PLAIN = Clip("libx264", "mp4", gop=12, b=2)


def frames_of(*files: bytes, library: Any = None, threads: int = 1, **arguments: Any) -> list[Array]:
    """The frames of each file; arguments may have a value for each."""
    arrays = [np.frombuffer(file, np.uint8) for file in files]
    maker, function = (library.pipeline.Pipeline, library.fn) if library else (Pipeline, fn)
    pipe = maker(batch_size=len(files), num_threads=threads, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(function.decoders.video(function.external_source(lambda: arrays), **arguments))
    if library:
        pipe.build()
    (found,) = pipe.run()
    return [np.array(found.at(i)) for i in range(len(files))]


@each_clip
def test_frames_are_pyavs(clip: Clip) -> None:
    """Bit for bit: chroma and colours are computed of PyAV's planes as this library does it."""
    data = encoded(clip)
    wanted = decoded(data)
    assert len(wanted.planes) == clip.frames
    (found,) = frames_of(data)
    assert found.shape == (clip.frames, *wanted.size, 3)
    for i, frame in enumerate(found):
        np.testing.assert_array_equal(frame, wanted.rgb(i), f"frame {i}")


@each_clip
def test_any_clip_is_a_part_of_all(clip: Clip, random: np.random.Generator) -> None:
    """Many sequences of one file, decoded side by side, and each by a decoder that starts at its key frame.
    PENSTOCK_VIDEO_CLIPS says how many.
    """
    data = encoded(clip)
    (all_frames,) = frames_of(data)
    n, clips = len(all_frames), int(os.environ.get("PENSTOCK_VIDEO_CLIPS", "25"))
    picks = [
        np.clip(random.integers(n) + np.arange(random.integers(1, 9)) * random.integers(1, 6), 0, n - 1)
        for _ in range(clips)
    ]
    picks[0] = random.integers(0, n, 12)  # in no order, some twice
    for pick, found in zip(picks, by_frames(data, picks), strict=True):
        np.testing.assert_array_equal(found, all_frames[pick], str(pick))


def by_frames(data: bytes, picks: list[Array]) -> list[Array]:
    pipe = Pipeline(batch_size=len(picks), num_threads=2, device_id=None, prefetch_queue_depth=1)
    with pipe:
        files = fn.external_source(lambda: [np.frombuffer(data, np.uint8)] * len(picks))
        frames = fn.external_source(lambda: [np.asarray(pick, np.int32) for pick in picks])
        pipe.set_outputs(fn.decoders.video(files, frames=frames))
    (found,) = pipe.run()
    return [np.array(found.at(i)) for i in range(len(picks))]


RANGES: list[dict[str, Any]] = [
    {"start_frame": 25},
    {"start_frame": 25, "end_frame": 28},
    {"start_frame": 35, "end_frame": 45},
    {"start_frame": 35, "end_frame": 45, "pad_mode": "none"},
    {"stride": 7},
    {"stride": 7, "end_frame": 20},
    {"start_frame": -1, "end_frame": 8},
    {"start_frame": 3, "sequence_length": 0},
    {"frames": [3, 1, 1, 29, 0]},
    {"frames": [3, 40, -1]},
    {"frames": [3, 40, -1], "pad_mode": "edge"},
    {"frames": [3, 43, -2], "pad_mode": "reflect"},
    {"frames": 5},
    *(
        {"start_frame": start, "sequence_length": length, "stride": stride, "pad_mode": mode}
        for start, length, stride in ((35, 8, 1), (35, 8, 3), (39, 6, 1), (0, 45, 1))
        for mode in ("none", "constant", "edge", "repeat", "reflect", "reflect_101", "reflect_1001", "symmetric")
    ),
    {"start_frame": 38, "sequence_length": 4, "fill_value": [1, 2, 3]},
    {"start_frame": 38, "sequence_length": 4, "fill_value": 7},
]


@pytest.mark.parametrize("arguments", RANGES, ids=lambda a: "-".join(f"{k}={v}" for k, v in a.items()))
def test_ranges_are_dalis(arguments: dict[str, Any]) -> None:
    dali = pytest.importorskip("nvidia.dali")
    data = encoded(Clip("libvpx-vp9", "webm", gop=12))
    (wanted,) = frames_of(data, library=dali, **arguments)
    (found,) = frames_of(data, **arguments)
    assert found.shape == wanted.shape
    assert not found.size or np.abs(found.astype(int) - wanted).max() <= 1


_DALIS = [c for c in CLIPS if c.codec in ("libvpx", "libvpx-vp9", "mjpeg")]


@pytest.mark.parametrize("clip", _DALIS, ids=str)
def test_colours_are_dalis(clip: Clip) -> None:
    """Of the codecs that DALI decodes on the CPU."""
    dali = pytest.importorskip("nvidia.dali")
    (wanted,) = frames_of(encoded(clip), library=dali)
    (found,) = frames_of(encoded(clip))
    assert found.shape == wanted.shape
    apart = np.abs(found.astype(int) - wanted)
    if clip.width % 2 == 0 and clip.height % 2 == 0:
        assert apart.max() <= 2
    else:  # FFmpeg stretches the chroma of odd sizes by a little less than 2, so that it is off where they end
        assert np.median(apart) <= 2


@pytest.mark.parametrize("matrix", ["bt601", "bt709", "bt2020"])
def test_matrices(matrix: str) -> None:
    data = encoded(Clip("libx264", "mp4", pixels="yuv444p", matrix=matrix))
    wanted = decoded(data)
    for name in ("bt601", "bt709", "bt2020"):
        np.testing.assert_array_equal(frames_of(data, color_matrix=name)[0][5], wanted.rgb(5, name))
    np.testing.assert_array_equal(frames_of(data, color_matrix="stream")[0][5], wanted.rgb(5, matrix))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("depth", [8, 10, 12])
def test_reference_is_exact(full: bool, depth: int, random: np.random.Generator) -> None:
    """The integers that stand for the conversion here are at most 1 from what the standards' real numbers give."""
    unit = 1 << (depth - 8)
    planes = [random.integers(0, 256 * unit, (40, 40)) for _ in range(3)]
    y, u, v = (p.astype(float) for p in planes)
    top = 256 * unit - 1
    y = y / top * 255 if full else (y / unit - 16) * 255 / 219
    u, v = ((c - 128 * unit) * (255 / top if full else 255 / 224 / unit) for c in (u, v))
    exact = np.stack([y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u], -1)
    found = to_rgb(planes, depth, (0, 0), full)
    assert np.abs(np.clip(exact, 0, 255) - found).max() < 1


def test_arguments_of_each_sample() -> None:
    data = encoded(PLAIN)
    (all_frames,) = frames_of(data)
    pipe = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipe:
        files = fn.external_source(lambda: [np.frombuffer(data, np.uint8)] * 3)
        starts = fn.external_source(lambda: [np.int32(i) for i in (3, 17, 30)])
        pipe.set_outputs(fn.experimental.decoders.video(files, start_frame=starts, sequence_length=3, stride=2))
    (found,) = pipe.run()
    assert found.layout() == "FHWC"
    for i, start in enumerate((3, 17, 30)):
        np.testing.assert_array_equal(found.at(i), all_frames[start : start + 6 : 2])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"start_frame": 40}, "start_frame=40: the video has 40 frames"),
        ({"start_frame": 5, "end_frame": 5}, "end_frame=5"),
        ({"stride": 0}, "stride=0"),
        ({"sequence_length": -1}, "sequence_length=-1"),
        ({"frames": [40], "pad_mode": "none"}, "frame 40 is asked for"),
    ],
    ids=str,
)
def test_ranges_that_are_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        frames_of(encoded(PLAIN), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"frames": [1], "start_frame": 1},
        {"end_frame": 3, "sequence_length": 1},
        {"pad_mode": "mirror"},
        {"fill_value": [1, 2]},
        {"fill_value": 256},
        {"color_matrix": "bt470"},
    ],
    ids=str,
)
def test_arguments_that_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        frames_of(encoded(PLAIN), **arguments)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_turned_videos(turns: int) -> None:
    """A display matrix of MP4, put in by hand: phones note so how they were held."""
    data = turned(encoded(PLAIN), turns)
    (plain,) = frames_of(encoded(PLAIN))
    np.testing.assert_array_equal(frames_of(data)[0], plain)
    np.testing.assert_array_equal(frames_of(data, adjust_orientation=True)[0], np.rot90(plain, -turns, (1, 2)))


def turned(data: bytes, turns: int) -> bytes:
    """The MP4 file with another matrix in its track's header, a quarter turn clockwise or several."""
    at = data.index(b"tkhd") + 4 + 40
    one = 1 << 16
    matrix = {1: (0, one, 0, -one, 0, 0, 0, 0, 1 << 30), 2: (-one, 0, 0, 0, -one, 0, 0, 0, 1 << 30),
              3: (0, -one, 0, one, 0, 0, 0, 0, 1 << 30)}[turns]  # fmt: skip
    return data[:at] + np.array(matrix, ">i4").tobytes() + data[at + 36 :]


@pytest.mark.parametrize("data", [b"", b"no video", bytes(5000)], ids=["empty", "text", "zeros"])
def test_what_is_no_video(data: bytes) -> None:
    with pytest.raises((DecodeError, OperatorError)):
        frames_of(data)


def test_sounds_are_no_videos() -> None:
    import io
    import wave

    file = io.BytesIO()
    with wave.open(file, "w") as sound:
        sound.setparams((1, 2, 8000, 100, "NONE", ""))
        sound.writeframes(bytes(200))
    with pytest.raises(DecodeError, match="there is no video in it"):
        frames_of(file.getvalue())


def test_dalis_media(dali_extra: Any) -> None:
    """Each file of its folder of videos: all frames are PyAV's, and so are some of its clips."""
    paths = sorted(p for p in (dali_extra / "db/video").rglob("*") if p.suffix in (".mov", ".mpeg", ".mp4", ".webm"))
    if not paths:
        pytest.skip("DALI_EXTRA_PATH has no videos")
    for path in paths:
        data = path.read_bytes()
        wanted = decoded(data)
        n = len(wanted.planes)
        for start in (0, n // 3, n - 9):
            (found,) = frames_of(data, start_frame=start, sequence_length=3, stride=4)
            for i, frame in enumerate(found):
                np.testing.assert_array_equal(frame, wanted.rgb(start + 4 * i), f"{path.name}, frame {start + 4 * i}")
        decoded.cache_clear()
