"""`./dev bench video`: videos on the CPU beside torchcodec, PyAV, decord and FFmpeg's own command.

    ./dev bench video                  all sections, into bench/results/video.md
    ./dev bench video clips spread     some of them

The others are installed in an environment of their own. DALI's part on the CPU decodes no H.264. Each library has two
ways to use the threads, clips side by side or one clip by all threads; the faster one is told.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from bench import machine
from bench.contest import Contestant, contest, fastest, ratio
from bench.report import Section, arguments, choose, script, table, write
from bench.video_files import frames_of, videos
from tools.environment import BUILD, install_packages, install_python

OTHERS = ("torchcodec", "pyav", "decord")
PACKAGES = {"torchcodec": "torchcodec", "pyav": "av", "decord": "decord"}


@dataclass
class Player(Contestant):
    """A library that decodes the clips of `bench.video_work`. ``pool``: clips side by side, by threads of Python's."""

    pool: bool = False
    count: int = 0  # frames of each file
    python: str = sys.executable

    def command(self) -> list[str]:
        names = ("who", "work", "threads", "pool", "count")
        settings = {name: getattr(self, name) for name in names}
        return [self.python, "-m", "bench.video_peers", json.dumps({**settings, "root": str(self.root)})]


class Bench:
    def __init__(self, rounds: int, seconds: float, threads: int) -> None:
        self.rounds, self.seconds, self.threads = rounds, seconds, threads
        self._others: str | None = None

    @property
    def others(self) -> str:
        """The Python of the other libraries."""
        if self._others is None:
            install_packages(["ffmpeg"])  # the command, and libraries of which torchcodec has none
            self._others = str(install_python("bench-video", BUILD / "environments" / "video"))
        return self._others

    def player(self, who: str, work: str, name: str, pool: bool = False) -> Player:
        root = videos(name)[0].parent
        python = sys.executable if who in ("penstock", "ffmpeg") else self.others
        return Player(who, work, root, self.threads, pool=pool, count=frames_of(name), python=python)

    def rows(self, title: str, work: str, name: str) -> Iterator[list[str]]:
        """Each library's rate, by its faster way."""
        found: list[Contestant] = [self.player("penstock", work, name)]
        for who in OTHERS:
            found.append(fastest([self.player(who, work, name, pool) for pool in (True, False)], self.seconds))
        contest(found, self.rounds, self.seconds)
        best = max(found[1:], key=lambda c: c.rate)
        for c in found:
            assert isinstance(c, Player)
            way = "" if c.who == "penstock" else "clips side by side" if c.pool else "one clip by all threads"
            yield [title, c.who, way, f"{c.rate:.0f}", c.spread, f"{ratio(c, best):.2f}"]

    def compare(self, about: str, parts: list[tuple[str, str, str]]) -> Iterator[str]:
        yield from about.splitlines()
        yield f"{self.threads} threads, medians of {self.rounds} rounds of {self.seconds:g} s; {machine.load()}."
        yield ""
        rows = (row for part in parts for row in self.rows(*part))
        yield from table(["files", "who", "threads are for", "frames/s", "spread", "times the best other"], rows)

    def clips(self) -> Iterator[str]:
        return self.compare(
            "Clips of 16 frames, 4 apart, at random places of 16 files in H.264, 1280 x 720, resized to 224 x 224.",
            [("a key frame every 30", "clips", "gop30"), ("a key frame every 250", "clips", "gop250")],
        )

    def spread(self) -> Iterator[str]:
        return self.compare(
            f"64 frames from the first to the last of a video of {frames_of('long')}, H.264, 1280 x 720, a key frame\n"
            "every 60, resized to 224 x 224.",
            [("long", "spread", "long")],
        )

    def stamps(self) -> Iterator[str]:
        return self.compare(
            f"2 frames of each of {len(videos('short'))} files of 60 frames, H.264, 320 x 240, a key frame every 30, "
            "in random order.",
            [("short", "stamps", "short")],
        )

    def order(self) -> Iterator[str]:
        yield "All frames of files of 1280 x 720, in order, to pictures in RGB; `ffmpeg -f null` decodes without and"
        yield f"with `-pix_fmt rgb24`. {self.threads} threads, medians of {self.rounds} rounds; {machine.load()}."
        yield ""
        rows = []
        for name in ("gop30", "gop250"):
            found: list[Contestant] = [self.player(who, work, name) for who, work in
                                       (("penstock", "order"), ("ffmpeg", "planes"), ("ffmpeg", "rgb"))]  # fmt: skip
            contest(found, self.rounds, self.seconds)
            for c in found:
                what = {"penstock": "RGB", "ffmpeg": "YUV" if c.work == "planes" else "RGB"}[c.who]
                rows.append([name, c.who, what, f"{c.rate:.0f}", c.spread, f"{ratio(c, found[1]):.2f}"])
        yield from table(["files", "who", "pictures", "frames/s", "spread", "times FFmpeg's YUV"], rows)

    def limits(self) -> Iterator[str]:
        yield "Each in a process of its own (`python -m bench.video_limits`)."
        yield ""
        rows = []
        for what, shown in (
            ("epochs", "200 epochs over 50 files: MB in use (PSS) at the end of epochs"),
            ("handles", "1000 files, one behind the other: most files open at a time"),
            ("hours", "index of a video of 3 hours: seconds, most MB in use while it is made, MB of the index"),
            ("start", "start with 10 000 files whose index is kept: seconds until the first batch"),
        ):
            rows.append([shown, str(script("bench.video_limits", what)["found"])])
        yield from table(["what", "found"], rows)


def _versions(python: str) -> str:
    import subprocess

    code = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    found = json.loads(subprocess.check_output([python, "-c", code, *PACKAGES.values()], text=True))
    return ", ".join(f"{name} {version}" for name, version in found.items())


def main() -> None:
    parser = arguments("video", "clips, spread, stamps, order, limits", rounds=5, seconds=8)
    parser.add_argument("--threads", type=int, default=2, help="of each library")
    options = parser.parse_args()
    bench = Bench(options.rounds, options.seconds, options.threads)
    sections: dict[str, Section] = {
        "clips": ("Random clips", bench.clips),
        "spread": ("Frames spread over a long video", bench.spread),
        "stamps": ("Two frames of each of many files", bench.stamps),
        "order": ("In order", bench.order),
        "limits": ("Limits", bench.limits),
    }
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    chosen = choose(parser, options.sections or list(sections), sections)
    write("video", "Videos on the CPU", chosen, options.append)
    print(_versions(bench.others) if bench._others else "")


if __name__ == "__main__":
    main()
