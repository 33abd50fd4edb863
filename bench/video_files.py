"""The benchmarks' videos, made once by FFmpeg's encoder and kept with their photographs (ignored by git).

What is encoded is short; long videos repeat its packets, which takes a decoder as long as others would.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.photos import FOLDER

VIDEOS = FOLDER / "videos"
RATE = 30  # frames a second
SIZE = (1280, 720)
SMALL = (320, 240)
_LARGE = 10 << 20  # bytes of a file of which links are made, not copies


def _noise(random: np.random.Generator, height: int, width: int) -> np.ndarray[Any, Any]:
    """A picture with details of all sizes, as photographs have them."""
    found = np.zeros((height, width, 3))
    for step, strength in ((128, 70), (32, 40), (8, 20), (2, 10)):
        coarse = random.normal(0, strength, (height // step + 2, width // step + 2, 3))
        found += coarse.repeat(step, 0).repeat(step, 1)[:height, :width]
    return np.clip(found + 128, 0, 255).astype(np.uint8)


def _scene(frames: int, size: tuple[int, int], seed: int) -> Iterator[np.ndarray[Any, Any]]:
    """A camera that moves over a picture, things that move in it, and a sensor's noise."""
    random = np.random.default_rng(seed)
    width, height = size
    wide = _noise(random, height + 128, width + 256)
    things = [(_noise(random, height // 4, width // 6), random.uniform(0, 6.28, 2)) for _ in range(4)]
    grain = random.integers(-4, 5, (8, height, width, 1), np.int8)
    for i in range(frames):
        x, y = int(128 + 120 * np.sin(i / 40)), int(64 + 60 * np.cos(i / 55))
        picture = wide[y : y + height, x : x + width].copy()
        for thing, phases in things:
            rows, columns = thing.shape[:2]
            top = int((height - rows) * (0.5 + 0.5 * np.sin(phases[0] + i / 17)))
            left = int((width - columns) * (0.5 + 0.5 * np.sin(phases[1] + i / 23)))
            picture[top : top + rows, left : left + columns] = thing
        yield np.clip(picture.astype(np.int16) + grain[i % 8], 0, 255).astype(np.uint8)


def encode(path: Path, frames: int, size: tuple[int, int], gop: int, seed: int, preset: str = "medium") -> None:
    """H.264 with x264's own settings but for the key frames, and closed groups, so that packets can be repeated."""
    import av

    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.gop_size = gop
        stream.options = {"preset": preset, "x264-params": f"keyint={gop}:min-keyint={gop}:scenecut=0"}
        for picture in _scene(frames, size, seed):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))


def repeated(source: Path, path: Path, times: int) -> None:
    """The video so many times, one behind the other."""
    import av

    with av.open(str(source)) as container, av.open(str(path), "w", format="mp4") as made:
        video = container.streams.video[0]
        stream = made.add_stream_from_template(video)
        packets = [(bytes(p), p.pts, p.dts, p.is_keyframe) for p in container.demux(video) if p.size]
        length = int(len(packets) / RATE / video.time_base)
        for i in range(times):
            for data, pts, dts, is_key in packets:
                packet = av.Packet(data)
                packet.pts, packet.dts, packet.is_keyframe = pts + i * length, dts + i * length, is_key
                packet.time_base, packet.stream = video.time_base, stream
                made.mux(packet)


def _write(folder: Path, name: str, count: int, scenes: int, times: int, **options: Any) -> None:
    """``count`` files of ``scenes`` different scenes, each ``times`` times."""
    for i in range(count):
        path = folder / f"{i:05}.mp4"
        if i >= scenes:
            first = folder / f"{i % scenes:05}.mp4"
            (os.link if first.stat().st_size > _LARGE else shutil.copyfile)(first, path)
            continue
        print(f"\rwriting videos: {name}, scene {i + 1} of {scenes}", end="", flush=True)
        once = folder / "once.mp4"
        encode(once, seed=i, **options)
        repeated(once, path, times) if times > 1 else os.replace(once, path)
        once.unlink(missing_ok=True)
    print()


# By name: how many files, of how many scenes, how often each is repeated, and how they are encoded.
SETS: dict[str, dict[str, Any]] = {
    "gop30": dict(count=16, scenes=4, times=4, frames=300, size=SIZE, gop=30),
    "gop250": dict(count=16, scenes=4, times=4, frames=250, size=SIZE, gop=250),
    "long": dict(count=4, scenes=1, times=30, frames=300, size=SIZE, gop=60),
    "short": dict(count=4000, scenes=20, times=1, frames=60, size=SMALL, gop=30),
    "hours": dict(count=1, scenes=1, times=5400, frames=60, size=SMALL, gop=60, preset="veryfast"),
}


def videos(name: str) -> list[Path]:
    """The files of one set; writes them when they are not there."""
    folder = VIDEOS / name
    if not folder.exists():
        unfinished = VIDEOS / f"{name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        _write(unfinished, name, **SETS[name])
        unfinished.rename(folder)
    return sorted(folder.glob("*.mp4"))


def frames_of(name: str) -> int:
    """In each file of a set."""
    return int(SETS[name]["frames"] * SETS[name]["times"])
