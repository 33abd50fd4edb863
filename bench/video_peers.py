"""The other libraries of `./dev bench video`, each in a process of its own and in their environment, as bench/worker.py
has it: says "ready", then answers each line of its input with a rate.

Clips are given to a pool of as many threads as there may be, each with decoders of one thread; or one after the other
to a decoder with that many threads. Decoders of few files are kept open.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache, partial
from threading import local
from typing import Any

from bench.timing import measured, seconds_each
from bench.video_work import OUT, Clip, clips, files

WARM_UP = 1  # runs before each round that are not counted
KEPT = 16  # decoders of a thread: as many as there are files of random clips
Decode = Callable[[Clip], object]


class _Mine(local):
    """What a thread keeps open."""

    def __init__(self) -> None:
        self.opened: Any = None

    def opener(self, make: Callable[[str], Any], work: str) -> Callable[[str], Any]:
        if self.opened is None:
            self.opened = make if work == "stamps" else lru_cache(KEPT)(make)
        return self.opened  # type: ignore[no-any-return]


def torchcodec(work: str, threads: int) -> Decode:
    from torchcodec.decoders import VideoDecoder
    from torchcodec.transforms import Resize

    mine, transforms = _Mine(), [] if work == "stamps" else [Resize((OUT, OUT))]

    def make(path: str) -> Any:
        return VideoDecoder(path, num_ffmpeg_threads=threads, seek_mode="approximate", transforms=transforms)

    def decode(clip: Clip) -> object:
        return mine.opener(make, work)(clip.path).get_frames_at(indices=clip.frames).data

    return decode


def decord(work: str, threads: int) -> Decode:
    from decord import VideoReader

    mine, size = _Mine(), {} if work == "stamps" else {"width": OUT, "height": OUT}

    def make(path: str) -> Any:
        return VideoReader(path, num_threads=threads, **size)

    def decode(clip: Clip) -> object:
        return mine.opener(make, work)(clip.path).get_batch(clip.frames).asnumpy()

    return decode


def pyav(work: str, threads: int) -> Decode:
    import av
    import numpy as np

    mine = _Mine()
    size: dict[str, Any] = {} if work == "stamps" else {"width": OUT, "height": OUT, "interpolation": "BILINEAR"}

    def make(path: str) -> Any:
        container = av.open(path)
        video = container.streams.video[0]
        video.thread_type, video.codec_context.thread_count = "AUTO", threads
        return container

    def decode(clip: Clip) -> object:
        container = mine.opener(make, work)(clip.path)
        video = container.streams.video[0]
        ticks = 1 / (video.average_rate * video.time_base)
        found, wanted, shown = [], deque(clip.frames), -1
        while wanted:
            # Where the next frame is far, it is sooner reached from a key frame.
            if shown < 0 or wanted[0] - shown > 60:
                container.seek(int(wanted[0] * ticks), stream=video)
            for frame in container.decode(video):
                shown = round(frame.pts / ticks)
                if shown >= wanted[0]:
                    found.append(frame.reformat(format="rgb24", **size).to_ndarray())
                    wanted.popleft()
                    if not wanted or wanted[0] - shown > 60:
                        break
        return np.stack(found)

    return decode


def ffmpeg(work: str, root: str, threads: int) -> Callable[[], int]:
    """All frames of the files, by FFmpeg's own command; to pictures in RGB, if that is the work."""
    import subprocess

    paths = files(root)

    def run() -> int:
        path = paths[0]
        paths.append(paths.pop(0))
        more = ["-pix_fmt", "rgb24"] if work == "rgb" else []
        words = ["ffmpeg", "-nostdin", "-v", "error", "-threads", str(threads), "-i", path, "-an", "-fps_mode",
                 "passthrough", *more, "-f", "null", "-"]  # fmt: skip
        subprocess.run(words, check=True)
        return 1

    return run


def penstock(work: str, root: str, threads: int, count: int) -> Callable[[], int]:
    """This library's readers: of random clips, of one clip of each file, or of all frames in order."""
    from bench.video_pipelines import pipeline

    pipe, frames = pipeline(work, root, threads, count)

    def run() -> int:
        pipe.run()
        return frames

    return run


MAKERS: dict[str, Callable[[str, int], Decode]] = {"torchcodec": torchcodec, "decord": decord, "pyav": pyav}


def start(who: str, work: str, root: str, threads: int, pool: bool, count: int) -> Callable[[], int]:
    """What decodes the next frames, and tells how many."""
    if who == "penstock":
        return penstock(work, root, threads, count)
    if who == "ffmpeg":
        run = ffmpeg(work, root, threads)
        return lambda: run() * count
    coming = clips(work, root, count)
    if pool:
        ahead = _pooled(MAKERS[who](work, 1), coming, threads)
        return lambda: next(ahead)
    decode = MAKERS[who](work, threads)

    def one() -> int:
        clip = next(coming)
        decode(clip)
        return len(clip.frames)

    return one


def _pooled(decode: Decode, coming: Iterator[Clip], threads: int) -> Iterator[int]:
    """Clips are decoded while others are taken, two for each thread ahead."""
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[tuple[Future[object], int]] = deque()
        for clip in coming:
            ahead.append((pool.submit(decode, clip), len(clip.frames)))
            if len(ahead) > 2 * threads:
                done, frames = ahead.popleft()
                done.result()
                yield frames


def rate(run: Callable[[], int], seconds: float) -> float:
    """Frames a second."""
    counted: list[int] = []
    each = seconds_each(lambda: counted.append(run()), seconds, warm_up=WARM_UP, least=2)
    return sum(counted[WARM_UP:]) / (len(counted) - WARM_UP) / each


def main() -> None:
    run = start(**json.loads(sys.argv[1]))
    run()
    print("ready", flush=True)
    for line in sys.stdin:
        seconds: float = json.loads(line)["seconds"]
        print(json.dumps(measured(partial(rate, run, seconds))), flush=True)


if __name__ == "__main__":
    main()
