"""Videos that FFmpeg's encoders make for tests, by PyAV, and what PyAV decodes of them from the beginning."""

from __future__ import annotations

import io
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

av = pytest.importorskip("av", reason="PyAV, which makes videos for tests, is not installed")

Array = np.ndarray[Any, Any]
_WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


@dataclass(frozen=True)
class Clip:
    """How a video is made: ``gop`` frames from key frame to key frame, ``b`` B-frames between others."""

    codec: str
    container: str
    frames: int = 40
    width: int = 64
    height: int = 48
    gop: int = 12
    b: int = 0
    pixels: str = "yuv420p"
    options: tuple[tuple[str, str], ...] = ()
    times: tuple[int, ...] | None = None  # of each frame, in 1/600 s
    full_range: bool = False
    matrix: str | None = None
    seed: int = 0
    mux: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        parts = [self.codec.removeprefix("lib"), self.container, self.pixels, f"{self.width}x{self.height}"]
        parts += [f"gop{self.gop}", *([f"b{self.b}"] if self.b else [])]
        parts += ["vfr"] * (self.times is not None) + ["full"] * self.full_range + [self.matrix] * bool(self.matrix)
        return "-".join([*parts, *(f"{k}={v[:12]}" for k, v in self.options + self.mux)])  # type: ignore[list-item]


def scene(number: int, width: int, height: int, seed: int = 0) -> Array:
    """A picture of frame ``number``, which none of the others is like: noise, shapes that move, a number in bits."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    picture = np.stack([x * 255 // max(width - 1, 1), y * 255 // max(height - 1, 1), (x + y + 3 * number) % 256], -1)
    picture = picture + random.integers(-12, 12, (height, width, 1))
    at = 3 * number % max(width - 8, 1)
    picture[8:20, at : at + 8] = [255, 30 + 5 * number % 200, 0]
    for bit in range(8):
        picture[-6:, 4 * bit : 4 * bit + 4] = 230 if number >> bit & 1 else 20
    return np.clip(picture, 0, 255).astype(np.uint8)


@cache
def encoded(clip: Clip) -> bytes:
    """The file."""
    with tempfile.NamedTemporaryFile() as file:
        _write(clip, file.name)
        return file.read()


def _write(clip: Clip, path: str) -> None:
    with av.open(path, "w", format=clip.container, options=dict(clip.mux)) as container:
        stream = container.add_stream(clip.codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = clip.width, clip.height, clip.pixels
        context = stream.codec_context
        context.gop_size, context.max_b_frames, context.thread_count = clip.gop, clip.b, 1
        options = {"threads": "1", **dict(clip.options)}
        if clip.codec == "libx264":
            options = {"preset": "veryfast", "bf": str(clip.b), "crf": "23", **options}
        elif clip.codec == "libx265":
            extra = options.pop("x265-params", "")
            params = f"keyint={clip.gop}:bframes={clip.b}:pools=1:frame-threads=1:log-level=none:{extra}".strip(":")
            options = {"preset": "ultrafast", "x265-params": params, **options}
        elif clip.codec == "libsvtav1":
            options = {"preset": "12", "svtav1-params": "lp=1", **options}
        elif clip.codec.startswith("libvpx"):
            options = {"deadline": "realtime", "cpu-used": "8", "b": "200k", **options}
        elif clip.codec in ("mjpeg", "mpeg4", "mpeg2video"):
            options = {"qscale": "3", **options}
        context.options = options
        if clip.full_range:
            context.color_range = 2
        if clip.matrix:
            context.colorspace = {"bt601": 6, "bt709": 1, "bt2020": 9}[clip.matrix]
        if clip.times:
            context.time_base = stream.time_base = Fraction(1, 600)
        for i in range(clip.frames):
            frame = av.VideoFrame.from_ndarray(scene(i, clip.width, clip.height, clip.seed), format="rgb24")
            frame = frame.reformat(format=clip.pixels, dst_color_range=2 if clip.full_range else 1)
            if clip.times:
                frame.pts, frame.time_base = clip.times[i], Fraction(1, 600)
            else:
                frame.pts = i
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


@dataclass(frozen=True)
class Decoded:
    """Frames as PyAV decodes them from the beginning.

    Attributes:
        planes: Y, U and V of each.
        seconds: when each is shown.
    """

    planes: list[list[Array]]
    seconds: list[float | None]
    depth: int
    shifts: tuple[int, int]
    full_range: bool
    size: tuple[int, int] = field(default=(0, 0))

    def rgb(self, i: int, matrix: str = "bt601") -> Array:
        """What this library makes of a frame, as its documentation says it, in NumPy's integers."""
        return to_rgb(self.planes[i], self.depth, self.shifts, self.full_range, matrix)


@cache
def decoded(data: bytes) -> Decoded:
    """All frames of a file, from the beginning."""
    planes, seconds = [], []
    depth, shifts, full, size = 8, (0, 0), False, (0, 0)
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        for frame in container.decode(stream):
            name = frame.format.name
            depth = frame.format.components[0].bits
            size = (frame.height, frame.width)
            dtype = np.uint8 if depth == 8 else np.uint16
            found = []
            for plane in frame.planes:
                rows = np.frombuffer(plane, dtype).reshape(plane.height, -1)
                found.append(rows[:, : plane.width].copy())
            planes.append(found)
            seconds.append(None if frame.pts is None else float(frame.pts * frame.time_base))
            full = name.startswith("yuvj") or int(frame.color_range) == 2
            if len(found) == 3:
                shifts = (int(found[1].shape[1] < found[0].shape[1]), int(found[1].shape[0] < found[0].shape[0]))
    return Decoded(planes, seconds, depth, shifts, full, size)


def _mixed(plane: Array, shift: int, count: int) -> Array:
    """Along the first axis, times 4: three parts of a sample, one of its neighbour on the pixel's side."""
    plane = plane.astype(np.int64)
    if not shift:
        return 4 * plane
    at = np.arange(count)
    near = at >> 1
    far = np.clip(near + np.where(at & 1, 1, -1), 0, len(plane) - 1)
    return 3 * plane[near] + plane[far]


def to_rgb(planes: list[Array], depth: int, shifts: tuple[int, int], full: bool, matrix: str = "bt601") -> Array:
    """The conversion of native/decode/video/color.cpp, bit for bit."""
    height, width = planes[0].shape
    if len(planes) == 1:
        return np.repeat(planes[0][..., None], 3, -1)
    unit, top = 1 << (depth - 8), (1 << depth) - 1
    red, blue = _WEIGHTS[matrix]
    green = 1 - red - blue
    light = 255 * unit / top if full else 255 / 219
    colour = 255 * unit / top if full else 255 / 224

    def fixed(factor: float) -> int:
        return int(np.floor(abs(factor) * 8192 + 0.5)) * (1 if factor >= 0 else -1)

    def times(values: Array, factor: float) -> Array:
        found: Array = (values * fixed(factor) + 16384) >> 15
        return found

    y = (planes[0].astype(np.int64) - (0 if full else 16 * unit)) << (15 - depth)
    chroma = []
    for plane in planes[1:]:
        up = _mixed(_mixed(plane, shifts[1], height).T, shifts[0], width).T
        up = up - (1 << (depth + 3))
        chroma.append(up << (11 - depth) if depth <= 11 else up >> (depth - 11))
    u, v = chroma
    base = times(y, light)
    r = base + times(v, 2 * (1 - red) * colour)
    g = base + times(u, -2 * (1 - blue) * blue / green * colour) + times(v, -2 * (1 - red) * red / green * colour)
    b = base + times(u, 2 * (1 - blue) * colour)
    return np.clip((np.stack([r, g, b], -1) + 16) >> 5, 0, 255).astype(np.uint8)


_VFR = tuple(int(t) for t in np.cumsum([0, *np.random.default_rng(3).integers(7, 60, 39)]))
_LATE = tuple(9000 + 20 * i for i in range(40))


def _options(**options: str) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", "-"), value) for name, value in options.items())


CLIPS = [
    *(Clip("libx264", container, gop=12, b=2) for container in ("mp4", "mov", "matroska", "mpegts", "avi", "flv")),
    *(Clip("libx264", "mp4", gop=gop, b=b) for gop, b in ((1, 0), (2, 0), (5, 1), (30, 3), (300, 0), (300, 7))),
    Clip("libx264", "mp4", gop=10, b=3, options=_options(b_pyramid="strict")),
    Clip("libx264", "mp4", gop=10, b=3, options=(("x264-params", "open-gop=1:keyint=10:min-keyint=10"),)),
    Clip("libx264", "matroska", gop=10, b=3, options=(("x264-params", "open-gop=1:keyint=10:min-keyint=10"),)),
    Clip("libx264", "mpegts", gop=10, b=3, options=(("x264-params", "open-gop=1:keyint=10:min-keyint=10"),)),
    Clip("libx264", "mp4", gop=20, options=(("x264-params", "intra-refresh=1:keyint=20"),)),
    Clip("libx264", "matroska", gop=20, options=(("x264-params", "intra-refresh=1:keyint=20"),)),
    Clip("libx264", "mp4", gop=12, b=2, times=_VFR),
    Clip("libx264", "matroska", gop=12, b=2, times=_VFR),
    Clip("libx264", "mp4", gop=12, b=2, times=_LATE),
    Clip("libx264", "mpegts", gop=12, b=2, times=_LATE),
    Clip("libx264", "mp4", gop=12, b=2, width=62, height=46),
    Clip("libx264", "mp4", gop=12, b=2, width=65, height=47, pixels="yuv444p"),
    Clip("libx264", "mp4", gop=12, b=2, width=66, height=49, pixels="yuv422p"),
    Clip("libx264", "mp4", gop=12, b=2, width=18, height=16),
    Clip("libx264", "mp4", gop=12, b=2, pixels="yuv420p10le"),
    Clip("libx264", "mp4", gop=12, b=2, pixels="yuv422p10le"),
    Clip("libx264", "mp4", gop=12, b=2, pixels="yuv444p10le"),
    Clip("libx264", "mp4", gop=12, b=2, pixels="yuvj420p", full_range=True),
    Clip("libx264", "mp4", gop=12, b=2, matrix="bt709"),
    Clip("libx264", "mp4", gop=12, b=2, mux=_options(movflags="faststart")),
    Clip("libx264", "mp4", gop=12, b=2, mux=_options(movflags="frag_keyframe+empty_moov")),
    Clip("libx264", "mp4", gop=12, pixels="gray"),
    Clip("libx264", "mp4", gop=12, b=2, options=(("x264-params", "interlaced=1"),), height=64),
    *(Clip("libx265", container, gop=12, b=2) for container in ("mp4", "matroska", "mpegts")),
    Clip("libx265", "mp4", gop=10, b=4, options=(("x265-params", "open-gop=1:min-keyint=10"),)),
    Clip("libx265", "matroska", gop=10, b=4, options=(("x265-params", "open-gop=1:min-keyint=10"),)),
    Clip("libx265", "mp4", gop=30, b=4, pixels="yuv420p10le"),
    Clip("libx265", "mp4", gop=30, b=4, pixels="yuv420p12le"),
    Clip("libx265", "mp4", gop=300, b=2, pixels="yuv444p"),
    Clip("libx265", "mp4", gop=12, b=2, width=66, height=50, times=_VFR),
    Clip("libvpx", "webm", gop=12),
    Clip("libvpx", "matroska", gop=300, options=(("auto-alt-ref", "1"), ("lag-in-frames", "12"), ("deadline", "good"))),
    Clip("libvpx", "webm", gop=12, width=63, height=47),
    Clip("libvpx-vp9", "webm", gop=12),
    Clip("libvpx-vp9", "mp4", gop=12),
    Clip("libvpx-vp9", "webm", gop=300, options=(("auto-alt-ref", "1"), ("lag-in-frames", "12"), ("deadline", "good"))),
    Clip("libvpx-vp9", "webm", gop=12, pixels="yuv444p", width=65, height=47),
    Clip("libvpx-vp9", "webm", gop=12, times=_VFR),
    Clip("libsvtav1", "mp4", gop=12, width=64, height=64),
    Clip("libsvtav1", "matroska", gop=30, width=96, height=64),
    Clip("libsvtav1", "webm", gop=12, width=64, height=64, pixels="yuv420p10le"),
    *(Clip("mpeg4", container, gop=12, b=b) for container in ("mp4", "avi", "matroska") for b in (0, 2)),
    Clip("mpeg2video", "mpeg", gop=12, b=2),
    Clip("mpeg2video", "mpegts", gop=12, b=2),
    *(Clip("mjpeg", container, pixels="yuvj420p", full_range=True) for container in ("avi", "mov", "mp4", "matroska")),
    Clip("mjpeg", "avi", pixels="yuvj422p", full_range=True, width=33, height=21),
    Clip("mjpeg", "avi", pixels="yuvj444p", full_range=True, width=33, height=21),
    Clip("ffv1", "matroska", gop=1),
]
