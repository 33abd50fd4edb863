"""Videos on a GPU: what the CPU gives. On the software GPU, whose decoders are FFmpeg's, bit for bit; a real one's may
be a few levels off.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.arguments import video_engine
from penstock.errors import DecodeError
from penstock.machine import libraries
from tests.decode.test_video import turned
from tests.decode.videos import Array, Clip, encoded
from tests.software_gpu.libraries import has_real_gpu

pytestmark = pytest.mark.usefixtures("software_gpu")
REAL = os.environ.get("PENSTOCK_TEST_REAL_GPU") == "1" or has_real_gpu()
MOST = 3 if REAL else 0  # levels of difference
software = pytest.mark.skipif(REAL, reason="of the software GPU")
H264 = Clip("libx264", "mp4", gop=12, b=2)
VIDEOS = [
    H264,
    Clip("libx264", "mp4", width=62, height=46, gop=30, b=3),
    Clip("libx264", "matroska", gop=12, b=2, options=(("x264-params", "open-gop=1"),)),
    Clip("libx264", "mpegts", gop=10, b=1),
    Clip("libx264", "mp4", pixels="yuv420p10le", gop=9),
    Clip("libx264", "mp4", full_range=True, matrix="bt709"),
    Clip("libx265", "mp4", width=160, height=144, gop=12, b=2),
    Clip("libx265", "matroska", width=160, height=144, pixels="yuv420p10le", gop=12),
    Clip("libvpx", "webm", gop=12),
    Clip("libvpx-vp9", "webm", width=131, height=133, gop=12),
]
ENGINE: dict[str, Any] = {"video_engine": "nvdec"}


def frames_of(*files: bytes, device: str = "mixed", threads: int = 2, runs: int = 1, **arguments: Any) -> list[Array]:
    """The frames of each file; of several runs the last."""
    arrays = [np.frombuffer(file, np.uint8) for file in files]
    pipe = Pipeline(batch_size=len(files), num_threads=threads, device_id=0, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.decoders.video(fn.external_source(lambda: arrays), device=device, **arguments))
    for _ in range(runs):
        (found,) = pipe.run()
    found = found.as_cpu() if device == "mixed" else found
    return [np.array(found.at(i)) for i in range(len(files))]


def assert_alike(found: list[Array], wanted: list[Array], most: int = MOST) -> None:
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=0, atol=most)


@pytest.mark.parametrize("clip", VIDEOS, ids=str)
def test_frames_are_the_cpus(clip: Clip) -> None:
    data = encoded(clip)
    assert_alike(frames_of(data, **ENGINE), frames_of(data, device="cpu"))


@pytest.mark.parametrize("clip", VIDEOS, ids=str)
def test_any_clip_is_a_part_of_all(clip: Clip, random: np.random.Generator) -> None:
    data = encoded(clip)
    (every,) = frames_of(data, **ENGINE)
    n = len(every)
    picks = [np.clip(random.integers(n) + np.arange(random.integers(1, 9)) * random.integers(1, 6), 0, n - 1)
             for _ in range(12)]  # fmt: skip
    picks[0] = random.integers(0, n, 12)  # in no order, some twice
    pipe = Pipeline(batch_size=len(picks), num_threads=2, device_id=0, prefetch_queue_depth=1)
    with pipe:
        files = fn.external_source(lambda: [np.frombuffer(data, np.uint8)] * len(picks))
        frames = fn.external_source(lambda: [np.asarray(pick, np.int32) for pick in picks])
        pipe.set_outputs(fn.decoders.video(files, frames=frames, device="mixed", **ENGINE))
    (found,) = pipe.run()
    found = found.as_cpu()
    for i, pick in enumerate(picks):
        np.testing.assert_array_equal(found.at(i), every[pick], str(pick))


@pytest.mark.parametrize(
    "arguments",
    [
        {"color_matrix": "stream"}, {"color_matrix": "bt2020"}, {"stride": 7}, {"start_frame": 35, "end_frame": 45},
        {"frames": [39, 3, 3, 0]}, {"start_frame": 38, "sequence_length": 6, "pad_mode": "edge"},
        {"start_frame": 38, "sequence_length": 6, "fill_value": [1, 2, 3]}, {"sequence_length": 0},
    ],
    ids=str,
)  # fmt: skip
def test_arguments(arguments: dict[str, Any]) -> None:
    data = encoded(H264)
    assert_alike(frames_of(data, **ENGINE, **arguments), frames_of(data, device="cpu", **arguments))


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_frames_are_turned(turns: int) -> None:
    data = turned(encoded(H264), turns)
    arguments = {"adjust_orientation": True}
    assert_alike(frames_of(data, **ENGINE, **arguments), frames_of(data, device="cpu", **arguments))


def test_videos_of_many_sizes_share_decoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more decoders are made than threads need, and all are destroyed in the end."""
    log = tmp_path / "log"
    monkeypatch.setenv("SOFTWARE_NVCUVID_LOG", str(log))
    sizes = [(64, 48), (96, 80), (64, 48), (128, 112), (48, 64), (200, 160)]
    files = [encoded(Clip("libx264", "mp4", width=w, height=h, frames=8)) for w, h in sizes]
    assert_alike(frames_of(*files, threads=1, runs=2, **ENGINE), frames_of(*files, device="cpu"))
    if REAL:
        return
    lines = log.read_text().splitlines()
    made = sum(line.startswith("create") for line in lines)
    assert made == 1 == lines.count("destroy")
    assert sum(line.startswith("reconfigure") for line in lines) >= 5


SEQUENCE = dict(sequence_length=5, stride=2, step=3, enable_frame_num="sequence", enable_timestamps=True)


def read(names: list[str], make: Any, device: str, batches: int = 6, **arguments: Any) -> list[list[Array]]:
    """What some batches have of each output, sample by sample."""
    pipe = Pipeline(batch_size=4, num_threads=2, device_id=0, seed=3)
    with pipe:
        outputs = make(filenames=names, labels=list(range(len(names))), device=device, **arguments)
        pipe.set_outputs(*outputs)
    found: list[list[Array]] = [[] for _ in outputs]
    for _ in range(batches):
        for own, output in zip(found, pipe.run(), strict=True):
            on_cpu = output.as_cpu() if device == "gpu" else output
            own += [np.array(on_cpu.at(i)) for i in range(4)]
    return found


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    found = []
    for i, clip in enumerate([H264, Clip("libx264", "mpegts", gop=10, b=1), Clip("libx265", "mp4", width=160,
                              height=144, gop=12, b=2), Clip("mpeg4", "avi"), VIDEOS[9]]):  # fmt: skip
        path = tmp_path / f"{i}.{clip.container}"
        path.write_bytes(encoded(clip))
        found.append(str(path))
    return found


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("make", [fn.experimental.readers.video, fn.readers.video])
def test_readers(names: list[str], make: Any, shuffle: bool) -> None:
    arguments = dict(SEQUENCE, random_shuffle=shuffle)
    for a, b in zip(read(names, make, "gpu", **arguments), read(names, make, "cpu", **arguments), strict=True):
        assert_alike(a, b)


@pytest.mark.parametrize("arguments", [dict(step=5), dict(step=2), dict(random_shuffle=True, step=3)], ids=str)
def test_readers_of_the_same_files_on_many_threads(names: list[str], arguments: dict[str, Any]) -> None:
    """Two shards side by side, closed before the end of an epoch: what each gives is what the CPU gives."""

    def sequences(device: str) -> list[list[Array]]:
        pipe = Pipeline(batch_size=5, num_threads=6, device_id=0, seed=3)
        with pipe:
            shards = [fn.readers.video(filenames=names[:3], sequence_length=5, num_shards=2, shard_id=i, device=device,
                                       **arguments) for i in range(2)]  # fmt: skip
            pipe.set_outputs(*shards)
        found: list[list[Array]] = [[], []]
        for _ in range(3):
            for own, output in zip(found, pipe.run(), strict=True):
                on_cpu = output.as_cpu() if device == "gpu" else output
                own += [np.array(on_cpu.at(i)) for i in range(5)]
        pipe.close()
        return found

    for ours, wanted in zip(sequences("gpu"), sequences("cpu"), strict=True):
        assert_alike(ours, wanted)


@pytest.mark.parametrize(
    "arguments",
    [dict(dtype=types.FLOAT), dict(dtype=types.FLOAT, normalized=True), dict(image_type=types.YCbCr),
     dict(pad_sequences=True)],
)  # fmt: skip
def test_types_and_colours(names: list[str], arguments: dict[str, Any]) -> None:
    arguments = dict(sequence_length=6, step=7, **arguments)
    ours, wanted = (read(names, fn.readers.video, device, **arguments) for device in ("gpu", "cpu"))
    assert_alike(ours[0], wanted[0])


def test_resizing_readers(names: list[str]) -> None:
    arguments = dict(sequence_length=4, resize_x=33, resize_y=27)
    ours, wanted = (read(names[:1], fn.readers.video_resize, device, **arguments) for device in ("gpu", "cpu"))
    assert_alike(ours[0], wanted[0], max(MOST, 1))


@pytest.mark.parametrize("policy", ["partial", "pad"])
def test_inputs(policy: str) -> None:
    def sequences(device: str) -> list[Array]:
        pipe = Pipeline(batch_size=3, num_threads=2, device_id=0)
        with pipe:
            given = dict(name="video", sequence_length=7, last_sequence_policy=policy, device=device)
            pipe.set_outputs(fn.experimental.inputs.video(**given))
        for clip in (H264, VIDEOS[1]):
            pipe.feed_input("video", [np.frombuffer(encoded(clip), np.uint8)])
        found = []
        for _ in range(4):
            (out,) = pipe.run()
            out = out.as_cpu() if device == "mixed" else out
            found += [np.array(out.at(i)) for i in range(len(out))]
        return found

    assert_alike(sequences("mixed"), sequences("cpu"))


def test_what_the_decoder_does_not_take_the_cpu_decodes() -> None:
    files = [encoded(clip) for clip in (Clip("mpeg4", "avi"), Clip("libx264", "mp4", pixels="yuv444p"), H264)]
    assert_alike(frames_of(*files, **ENGINE), frames_of(*files, device="cpu"))


def test_the_cpu_on_demand() -> None:
    data = encoded(H264)
    found = frames_of(data, video_engine="cpu", frames=[39, 3, 50], fill_value=[9])
    assert_alike(found, frames_of(data, device="cpu", frames=[39, 3, 50], fill_value=[9]), 0)


@software
class TestFaults:
    def test_decoder_that_delivers_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTWARE_NVCUVID_SILENT", "1")
        data = encoded(H264)
        assert_alike(frames_of(data, **ENGINE), frames_of(data, device="cpu"))

    def test_codec_that_this_gpu_has_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SOFTWARE_NVCUVID_NO", "4")
        data = encoded(H264)
        assert_alike(frames_of(data, **ENGINE), frames_of(data, device="cpu"))

    def test_counts_and_explanation(self) -> None:
        files = [encoded(Clip("mpeg4", "avi")), encoded(H264)]
        pipe = Pipeline(batch_size=2, num_threads=2, device_id=0, prefetch_queue_depth=1)
        with pipe:
            source = fn.external_source(lambda: [np.frombuffer(f, np.uint8) for f in files])
            pipe.set_outputs(fn.decoders.video(source, device="mixed"))
        pipe.run()
        text = pipe.explain()
        assert "videos: NVDEC (video_engine='auto')" in text
        done = text.split("so far:")[1]
        assert "NVDEC 1 file" in done
        assert "CPU 1 file" in done

    def test_no_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(libraries, "found", lambda name: name != "nvcuvid")
        chosen = video_engine.choose("auto")
        assert chosen.name == "cpu"
        assert chosen.missing
        assert "libnvcuvid" in chosen.notes()[0]


# Without the muxer's random numbers: the same bytes are broken, and what FFmpeg says of them is the same.
SAME_EACH_TIME = Clip("libx264", "matroska", gop=12, b=2, mux=(("fflags", "+bitexact"),))


def broken(data: bytes) -> bytes:
    """With a packet of the second half overwritten."""
    at = len(data) * 5 // 8
    return data[:at] + bytes(400) + data[at + 400 :]


@software  # a real one conceals some damage without a word
def test_damage_is_told_as_the_cpu_tells_it() -> None:
    data = broken(encoded(SAME_EACH_TIME))
    with pytest.raises(DecodeError) as wanted:
        frames_of(data, device="cpu")
    with pytest.raises(DecodeError) as found:
        frames_of(data, **ENGINE)
    assert str(wanted.value).splitlines()[0] == str(found.value).splitlines()[0]


@software
def test_broken_files_are_left_out(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "broken.matroska"
    path.write_bytes(broken(encoded(SAME_EACH_TIME)))
    arguments = dict(SEQUENCE, on_error="skip")
    files = [str(path), *names[:2]]
    ours, wanted = (read(files, fn.readers.video, device, batches=5, **arguments) for device in ("gpu", "cpu"))
    assert_alike(ours[0], wanted[0])
