"""Readers of videos: sequences, lists, parts, numbers and times, broken files, memory."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, DecodeError, PenstockError, ReadError
from penstock.read.video_index import index_video
from tests.decode.videos import Array, Clip, decoded, encoded
from tests.read.data_sets import case, label, pipeline, read, remember

_ROOT = Path(__file__).resolve().parents[2]
_A = Clip("libvpx-vp9", "webm", frames=30, gop=10)
_B = Clip("libx264", "mp4", frames=22, gop=250, b=3, seed=1)
_C = Clip("libx264", "matroska", frames=9, gop=4, b=2, seed=2, width=64, height=48)
_FILES = {"a/a.webm": encoded(_A), "b/b.mp4": encoded(_B), "b/c.mkv": encoded(_C)}
_RGB = {name: np.stack([decoded(data).rgb(i) for i in range(len(decoded(data).planes))])
        for name, data in _FILES.items()}  # fmt: skip
_LABELS = {"a/a.webm": 0, "b/b.mp4": 1, "b/c.mkv": 1}
_WITHIN_1 = "colours are within 1 of DALI's, which decodes no H.264 on the CPU"


def sequences(length: int, step: int, stride: int = 1, labels: dict[str, int] | None = None) -> list[tuple[Any, ...]]:
    """All whole ones, with labels where there are some."""
    return [
        (rgb[first : first + (length - 1) * stride + 1 : stride], *([label(labels[name])] if labels else []))
        for name, rgb in _RGB.items()
        for first in range(0, len(rgb) - (length - 1) * stride, step)
    ]


def _names(root: str) -> list[str]:
    return [f"{root}/{name}" for name in _FILES]


def _case(reader: str, title: str, samples: Sequence[Any], arguments: Any, **options: Any) -> Any:
    return case(reader, _FILES, samples, arguments, title=title, differs=_WITHIN_1, **options)


CASES = [
    _case("experimental.readers.video", "names", sequences(4, 4),
          lambda root: {"filenames": _names(root), "sequence_length": 4}),
    _case("experimental.readers.video", "folder", sequences(3, 5, 2, _LABELS),
          lambda root: {"file_root": root, "sequence_length": 3, "stride": 2, "step": 5}, in_memory=False),
    _case("readers.video", "labels", sequences(5, 5, 2, {n: i for i, n in enumerate(_FILES)}),
          lambda root: {"filenames": _names(root), "labels": [0, 1, 2], "sequence_length": 5, "stride": 2}),
    _case("readers.video_resize", "of the same size", sequences(7, 7),
          lambda root: {"filenames": _names(root), "sequence_length": 7, "size": (48, 64)}),
]  # fmt: skip


def run(name: str, count: int = 1, dali: bool = False, **arguments: Any) -> list[tuple[Array, ...]]:
    """So many samples of a reader, one by one."""
    if dali:
        from nvidia.dali import Pipeline as Theirs
        from nvidia.dali import fn as module

        pipe: Any = Theirs(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    else:
        pipe, module = Pipeline(batch_size=1, num_threads=2, device_id=None), fn
    operator: Any = module
    for part in name.split("."):
        operator = getattr(operator, part)
    with pipe:
        made = operator(name="Reader", **arguments)
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    if dali:
        pipe.build()
    count = count or pipe.reader_meta("Reader")["epoch_size"]
    return [tuple(np.array(o.at(0)) for o in pipe.run()) for _ in range(count)]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The videos: VP9 of 30 frames, H.264 of 22 and of 9."""
    for name, data in _FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    return [str(tmp_path / name) for name in _FILES]


_PADDED: list[dict[str, Any]] = [
    {"sequence_length": 12, "pad_mode": mode, "stride": stride, "enable_frame_num": "sequence",
     "enable_timestamps": True}
    for mode in ("none", "constant", "edge", "reflect_101", "reflect_1001") for stride in (1, 2)
]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        *_PADDED,
        {"sequence_length": 12, "step": 5, "enable_frame_num": True, "enable_timestamps": True},
        {"sequence_length": 12, "pad_mode": "constant", "fill_value": [1, 2, 3], "enable_frame_num": "scalar"},
        {"sequence_length": 40, "pad_mode": "edge", "enable_frame_num": "none"},
        *({"sequence_length": n, "uniform_sample": True, "enable_frame_num": "sequence"} for n in (1, 4, 7, 30, 45)),
    ],
    ids=lambda a: "-".join(f"{k}={v}" for k, v in a.items()),
)
def test_sequences_are_dalis(arguments: dict[str, Any], files: list[str]) -> None:
    pytest.importorskip("nvidia.dali")
    _compare(0, filenames=files[:1], **arguments)


@pytest.mark.parametrize("part", ["", " 0.1 0.5", " 0.11 0.49", " 0.5 0.8", " 0.34 0.66"])
@pytest.mark.parametrize("rounding", ["start_down_end_up", "start_up_end_down", "all_up", "all_down"])
def test_parts_by_time_are_dalis(part: str, rounding: str, files: list[str], tmp_path: Path) -> None:
    pytest.importorskip("nvidia.dali")
    (tmp_path / "list.txt").write_text(f"{files[0]} 3{part}\n")
    _compare(0, file_list=str(tmp_path / "list.txt"), sequence_length=4, file_list_rounding=rounding,
             enable_frame_num=True, pad_mode="constant")  # fmt: skip


@pytest.mark.parametrize("part", [" 2 12", " -9 -3", " 20 100", " 0 30", " 5 6"])
@pytest.mark.parametrize("include_end", [False, True])
def test_parts_by_number_are_dalis(part: str, include_end: bool, files: list[str], tmp_path: Path) -> None:
    pytest.importorskip("nvidia.dali")
    if "100" in part and not include_end:
        pytest.skip("DALI takes frames then that the video has not")
    (tmp_path / "list.txt").write_text(f"{files[0]} 3{part}\n")
    _compare(0, file_list=str(tmp_path / "list.txt"), sequence_length=4, file_list_format="frames",
             enable_frame_num="sequence", pad_mode="reflect", file_list_include_end=include_end)  # fmt: skip


def _compare(count: int, **arguments: Any) -> None:
    """With DALI's experimental reader on the CPU."""
    wanted = run("experimental.readers.video", count, dali=True, **arguments)
    found = run("experimental.readers.video", count, **arguments)
    assert len(found) == len(wanted)
    for mine, its in zip(found, wanted, strict=True):
        assert [a.dtype for a in mine] == [a.dtype for a in its]
        assert mine[0].shape == its[0].shape
        assert np.abs(mine[0].astype(int) - its[0]).max() <= 1
        for a, b in zip(mine[1:], its[1:], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)


def test_a_list_with_a_start_alone(files: list[str], tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{files[1]} 7 15\n\n{files[2]} 8\n")
    arguments = {"file_list": str(tmp_path / "list.txt"), "sequence_length": 7, "enable_frame_num": True}
    found = run("experimental.readers.video", 0, file_list_format="frames", **arguments)
    assert [(int(n[0]), int(first[0])) for _, n, first in found] == [(7, 15), (8, 0)]
    np.testing.assert_array_equal(found[0][0], _RGB["b/b.mp4"][15:])


def test_names_with_spaces(files: list[str], tmp_path: Path) -> None:
    os.rename(files[1], tmp_path / "a video.mp4")
    (tmp_path / "list.txt").write_text(f"{tmp_path}/a video.mp4 4\n")
    ((frames, number),) = run("readers.video", file_list=str(tmp_path / "list.txt"), sequence_length=3)
    assert number.tolist() == [4]
    np.testing.assert_array_equal(frames, _RGB["b/b.mp4"][:3])


@pytest.mark.parametrize(("preceding", "first", "last"), [(False, 4, 15), (True, 3, 14)])
def test_parts_of_readers_video(preceding: bool, first: int, last: int, files: list[str], tmp_path: Path) -> None:
    """0.11 s is between the frames 3 and 4, 0.48 s between 14 and 15."""
    (tmp_path / "list.txt").write_text(f"{files[1]} 1 0.11 0.48\n")
    arguments = {"file_list": str(tmp_path / "list.txt"), "sequence_length": 4, "step": 1, "enable_frame_num": True}
    found = run("readers.video", 0, file_list_include_preceding_frame=preceding, **arguments)
    assert [int(number[0]) for *_, number in found] == [*range(first, last - 3)]


def test_padded_sequences_of_readers_video(files: list[str]) -> None:
    found = run("readers.video", 0, filenames=files[2:], sequence_length=6, pad_sequences=True,
                enable_frame_num="sequence", enable_timestamps=True)  # fmt: skip
    assert [n.tolist() for _, n, _ in found] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, -1, -1, -1]]
    assert found[1][2].tolist()[3:] == [-1, -1, -1]
    assert not found[1][0][3:].any()


def test_floats(files: list[str]) -> None:
    for normalized, top in ((False, 1), (True, 255)):
        ((frames,),) = run("readers.video", filenames=files[1:2], sequence_length=2, dtype=types.FLOAT,
                           normalized=normalized)  # fmt: skip
        assert frames.dtype == np.float32
        np.testing.assert_allclose(frames, _RGB["b/b.mp4"][:2] / np.float32(top), rtol=1e-6)


@pytest.mark.parametrize(
    "size", [{"resize_x": 32, "resize_y": 20}, {"resize_shorter": 30}, {"size": (11, 13)}], ids=str
)
def test_resized(size: dict[str, Any], files: list[str]) -> None:
    """As a resize behind the reader."""
    options = {"interp_type": types.INTERP_CUBIC, "antialias": False}
    arguments = {"filenames": files[1:2], "labels": [6], "sequence_length": 4, "enable_frame_num": True}
    ((found, number, first),) = run("readers.video_resize", **arguments, **size, **options)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.resize(fn.readers.video(**arguments)[0], **size, **options))
    np.testing.assert_array_equal(found, pipe.run()[0].at(0))
    assert (number.tolist(), first.tolist()) == ([6], [0])


def test_resized_with_a_size_for_each(files: list[str]) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        widths = fn.external_source(lambda: [np.float32(20), np.float32(32)])
        pipe.set_outputs(fn.readers.video_resize(filenames=files[1:2], sequence_length=4, resize_x=widths))
    assert pipe.run()[0].shape() == [(4, 15, 20, 3), (4, 24, 32, 3)]


def test_ycbcr(files: list[str]) -> None:
    ((frames,),) = run("experimental.readers.video", filenames=files[1:2], sequence_length=2, image_type=types.YCbCr)
    rgb = _RGB["b/b.mp4"][:2].astype(float)
    luma = 16 + rgb @ [0.25678824, 0.50412941, 0.09790588]
    assert np.abs(frames[..., 0] - luma).max() <= 0.51


def test_times_are_those_of_the_file(tmp_path: Path) -> None:
    """Of a variable rate, and of a file whose first frame is shown 15 s after the beginning."""
    late = tuple(9000 + 20 * i for i in range(40))
    for times in (tuple(np.cumsum([0, *range(8, 47)]).tolist()), late):
        data = encoded(Clip("libx264", "matroska", b=2, times=times))
        (tmp_path / "a.mkv").write_bytes(data)
        ((_, seconds),) = run("experimental.readers.video", filenames=[str(tmp_path / "a.mkv")], sequence_length=40,
                              enable_timestamps=True)  # fmt: skip
        np.testing.assert_allclose(seconds, decoded(data).seconds, atol=1e-9)
        np.testing.assert_allclose(seconds, np.array(times) / 600, atol=1e-3)


def test_shuffled_sequences_of_many_threads(files: list[str]) -> None:
    pipe = Pipeline(batch_size=5, num_threads=4, device_id=None, seed=3)
    with pipe:
        made = fn.experimental.readers.video(filenames=files, sequence_length=5, step=1, random_shuffle=True,
                                             labels=[0, 1, 2], enable_frame_num="scalar", name="Reader")  # fmt: skip
        pipe.set_outputs(*made)
    seen = set()
    for _ in range(10):
        frames, labels, numbers = pipe.run()
        for i in range(5):
            name, first = list(_FILES)[int(labels.at(i)[0])], int(numbers.at(i)[0])
            np.testing.assert_array_equal(frames.at(i), _RGB[name][first : first + 5])
            seen.add((name, first))
    assert len(seen) > 40


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "filenames is missing"),
        ({"filenames": ["a"], "file_root": "b"}, "exclude each other"),
        ({"filenames": ["a"], "labels": [1, 2]}, "labels has 2 elements"),
        ({"filenames": ["a"], "stride": 0}, "stride=0"),
        ({"filenames": ["a"], "step": 0}, "step=0"),
        ({"filenames": ["a"], "enable_frame_num": "all"}, "enable_frame_num='all'"),
        ({"filenames": ["a"], "fill_value": [1, 2]}, "fill_value"),
    ],
    ids=str,
)
def test_arguments_that_are_refused(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        run("experimental.readers.video", sequence_length=3, **arguments)


@pytest.mark.parametrize("line", ["a.mp4", "a.mp4 x", "a.mp4 -1", "a.mp4 1.5"])
def test_lists_that_are_none(line: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(line)
    with pytest.raises(ArgumentError, match="line 1"):
        run("experimental.readers.video", sequence_length=3, file_list=str(tmp_path / "list.txt"))


def test_no_sequence_is_an_error(files: list[str]) -> None:
    with pytest.raises(ArgumentError, match="no video has the 31 frames of a sequence"):
        run("experimental.readers.video", sequence_length=31, filenames=files)


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_files_that_are_no_videos(on_error: str, files: list[str], tmp_path: Path) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video" * 99)
    names = [str(tmp_path / "bad.mp4"), *files, str(tmp_path / "gone.mp4")]
    arguments = {"filenames": names, "sequence_length": 4, "on_error": on_error}
    if on_error == "raise":
        with pytest.raises(DecodeError, match=r"bad\.mp4"):
            run("experimental.readers.video", **arguments)
        with pytest.raises(ReadError, match=r"gone\.mp4"):
            run("experimental.readers.video", **(arguments | {"filenames": names[1:]}))
        return
    with pytest.warns(UserWarning, match="2 of 5 videos are left out"):
        found = run("experimental.readers.video", 0, **arguments)
    assert len(found) == len(sequences(4, 4))


def harmed(data: bytes, at: float) -> bytes:
    """The file with zeros in its second half from a place on, but for its end, where the table of frames is."""
    begin = int(len(data) * at)
    return data[:begin] + bytes(300) + data[begin + 300 :]


@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_broken_frames(on_error: str, tmp_path: Path) -> None:
    """Sequences in which a picture is broken are refused, naming file and frame; the others are as they were."""
    data = encoded(Clip("mjpeg", "avi", frames=12, pixels="yuvj420p", full_range=True))
    wanted = decoded(data)
    path = str(tmp_path / "a.avi")
    (tmp_path / "a.avi").write_bytes(harmed(data, 0.5))
    arguments = {"filenames": [path], "sequence_length": 2, "enable_frame_num": True, "on_error": on_error}
    pipe = Pipeline(batch_size=1, num_threads=2, device_id=None)
    with pipe:
        pipe.set_outputs(*fn.experimental.readers.video(name="Reader", **arguments))
    seen, refused = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(6):
            try:
                frames, first = pipe.run()
            except DecodeError as error:
                refused.append((i, error.file, "frame " in str(error)))
                continue
            seen.append(int(first.at(0)[0]))
            np.testing.assert_array_equal(frames.at(0), np.stack([wanted.rgb(seen[-1] + k) for k in range(2)]))
    if on_error == "raise":
        assert 1 <= len(refused) <= 2
        assert {told[1:] for told in refused} == {(path, True)}
        assert seen == [2 * i for i in range(6) if i not in [told[0] for told in refused]]
    else:
        assert not refused
        assert len(seen) == 6
        assert len(set(seen)) < 6
        assert all(b.file == path for b in pipe.broken_samples())


def test_a_file_that_changes(files: list[str]) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.experimental.readers.video(filenames=files[1:2], sequence_length=4))
    Path(files[1]).write_bytes(_FILES["b/b.mp4"][:-100])
    with pytest.raises(ReadError, match="when its index was made"):
        _run_all(pipe)


def _run_all(pipe: Pipeline) -> None:
    for _ in range(3):
        pipe.run()


def test_indexes_are_kept(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    made = index_video(files[0])
    kept = list((tmp_path / "cache").rglob("*"))
    assert len([p for p in kept if p.is_file()]) == 1
    times = Path(files[0]).stat()
    harmed = bytearray(_FILES["a/a.webm"])
    harmed[:64] = bytes(64)  # of the same size and time: what was kept is taken
    Path(files[0]).write_bytes(harmed)
    os.utime(files[0], ns=(times.st_atime_ns, times.st_mtime_ns))
    np.testing.assert_array_equal(index_video(files[0]).block, made.block)
    os.utime(files[0])
    with pytest.raises(PenstockError):
        index_video(files[0])


def test_indexes_are_made_by_a_command(files: list[str], tmp_path: Path) -> None:
    """Of all videos below a folder; a reader then makes none."""
    (tmp_path / "b" / "broken.mp4").write_bytes(b"no video" * 50)
    cache = tmp_path / "cache"
    environment = {**os.environ, "PENSTOCK_CACHE": str(cache), "PYTHONPATH": str(_ROOT)}
    words = [sys.executable, "-m", "penstock", "index", "--video", str(tmp_path)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "broken.mp4" in done.stderr
    assert done.stdout.strip() == "3 videos, 61 frames"
    before = {p: p.stat().st_mtime_ns for p in cache.rglob("*") if p.is_file()}
    assert len(before) == 3
    os.remove(tmp_path / "b" / "broken.mp4")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert {p: p.stat().st_mtime_ns for p in cache.rglob("*") if p.is_file()} == before


def test_an_index_that_is_broken_is_refused(files: list[str]) -> None:
    from penstock.read.videos import VideoReader

    made: VideoReader = pipeline_reader(files)
    for at in (0, 8, 40, 100, 170, 500):
        block = made._tables["indexes"].copy()
        block[at : at + 8] = 255
        made._tables["indexes"] = block
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            node = fn.experimental.readers.video(filenames=files, sequence_length=4)
            node.source.op._index, node.source.op._tables = made.index, made._tables
            pipe.set_outputs(node)
        if at in (100, 170, 500):  # numbers that lead nowhere, or only give other pictures: no harm but an error
            with contextlib.suppress(PenstockError):
                pipe.run()
        else:
            with pytest.raises(PenstockError, match="index of a data set"):
                pipe.run()
        made = pipeline_reader(files)


def pipeline_reader(files: list[str]) -> Any:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        made = fn.experimental.readers.video(filenames=files, sequence_length=4)
        return made.source.op


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_few_files_are_open(tmp_path: Path) -> None:
    names = []
    for i in range(120):
        names.append(str(tmp_path / f"{i}.mp4"))
        os.link(tmp_path / "0.mp4", names[-1]) if i else (tmp_path / "0.mp4").write_bytes(_FILES["b/b.mp4"])
    pipe = Pipeline(batch_size=8, num_threads=2, device_id=None)
    with pipe:
        pipe.set_outputs(fn.experimental.readers.video(filenames=names, sequence_length=2, step=20))
    before, most = _descriptors(), 0
    for _ in range(30):
        pipe.run()
        most = max(most, _descriptors() - before)
    assert 0 < most <= 64


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow(files: list[str]) -> None:
    pipe = Pipeline(batch_size=4, num_threads=2, device_id=None)
    with pipe:
        pipe.set_outputs(fn.experimental.readers.video(filenames=files, sequence_length=4, random_shuffle=True))
    levels = []
    for _ in range(6):
        for _ in range(60):
            pipe.run()
        gc.collect()
        levels.append(_resident())
    assert levels[-1] - levels[1] < 8 << 20, levels


def test_another_storage() -> None:
    remember("memory://videos/a.mp4", _FILES["b/b.mp4"])
    try:
        ((frames,),) = run("experimental.readers.video", filenames=["memory://videos/a.mp4"], sequence_length=3)
        np.testing.assert_array_equal(frames, _RGB["b/b.mp4"][:3])
    finally:
        remember("memory://videos/a.mp4", None)


def test_without_ffmpeg_all_else_works(files: list[str]) -> None:
    """A library that cannot be loaded is an error of videos, and of nothing else."""
    code = f"""
import penstock.fn as fn
from penstock import Pipeline
from penstock.errors import OperatorError
pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
with pipe:
    pipe.set_outputs(*fn.readers.file(files={files!r}))
pipe.run()
try:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        fn.experimental.readers.video(filenames={files!r}, sequence_length=2)
except Exception as error:
    assert "libpenstock_video" in str(error), error
else:
    raise SystemExit("no error")
"""
    environment = {**os.environ, "PENSTOCK_LIBPENSTOCK_VIDEO": "/nowhere/lib.so", "PYTHONPATH": str(_ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)


def test_case_helpers_read_what_they_say(tmp_path: Path) -> None:
    one = CASES[0]
    assert len(read(pipeline(one, one.written(tmp_path)), len(one.samples))) >= len(one.samples)
