"""Tries changed texts, each in a process that may crash without the others: ``python -m tests.fuzz.texts --help``.

A process that has everything imported forks children, each of which tries texts one after the other and says at which
it is. A child that dies, hangs or takes too much memory ends with its text, which is kept; the next one goes on behind
it. Text N of a seed is always the same one.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from penstock.errors import PenstockError
from tests.fuzz.text_mutation import changed_index, mutant
from tests.fuzz.text_seeds import KINDS, Try

# For a text, of processor time, or of time in which all of its threads wait for something else than a processor or a
# disk: machines are busy. By the clock it may take six times as long, whatever it does.
SECONDS = 10.0
TEXTS_OF_A_CHILD = 200


class Board:
    """What a child tells its parent: the text it is at, and since when."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 64)

    def write(self, number: int) -> None:
        self._memory[:24] = struct.pack("qdd", number, time.process_time(), time.monotonic())

    def read(self) -> tuple[int, float, float]:
        number, cpu, wall = struct.unpack("qdd", self._memory[:24])
        return int(number), cpu, wall


def text_of(kind: str, seeds: list[bytes], seed: int, number: int) -> bytes:
    """Text ``number``; a few are as they were, so that it shows if all are refused for another reason."""
    random = Random(f"{kind} {seed} {number}")
    sound = random.choice(seeds)
    if random.random() < 0.01:
        return sound
    return (changed_index if kind == "index" else mutant)(sound, random)


def child(args: argparse.Namespace, seeds: list[bytes], run: Try, numbers: range, board: Board, out: int) -> None:
    """Tries these, and writes what became of each that is worth a word."""
    if args.address_space:
        resource.setrlimit(resource.RLIMIT_AS, (args.address_space << 20,) * 2)
    faulthandler.enable()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + (args.megabytes << 10)
    counts: collections.Counter[str] = collections.Counter()
    for number in numbers:
        board.write(number)
        text = text_of(args.kind, seeds, args.seed, number)
        found = "result"
        try:
            run(text)
        except PenstockError as error:
            found = type(error).__name__
        except BaseException as error:
            found = f"! {type(error).__name__}"
            os.write(out, (json.dumps([number, found, traceback.format_exc()]) + "\n").encode())
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > most:
            os.write(out, (json.dumps([number, "! memory", ""]) + "\n").encode())
            most = sys.maxsize
        counts[found] += 1
    os.write(out, (json.dumps(["counts", counts]) + "\n").encode())


def waits(pid: int) -> bool:
    """Whether no thread of it runs, is ready to run, or waits for a disk."""
    try:
        states = [
            task.joinpath("stat").read_text().rpartition(") ")[2][0] for task in Path(f"/proc/{pid}/task").iterdir()
        ]
    except (OSError, IndexError):  # one has just ended
        return False
    return not {"R", "D"} & set(states)


def watch(pid: int, board: Board) -> tuple[int, str]:
    """Waits for a child; (its last text, why it died, or "")."""
    ticks = os.sysconf("SC_CLK_TCK")
    pause, at, waited = 0.005, -1, 0.0
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        number, cpu, wall = board.read()
        if done:
            died = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""
            return number, died or (f"status {os.WEXITSTATUS(status)}" if status else "")
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        used = (int(fields[11]) + int(fields[12])) / ticks - cpu
        at, waited = number, (waited if at == number else 0.0) + pause * waits(pid)
        if used > SECONDS or waited > SECONDS or time.monotonic() - wall > 6 * SECONDS:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return number, f"hang ({used:.1f} s of processor time, {waited:.1f} s of waiting)"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where failing texts go")
    parser.add_argument("--address-space", type=int, default=0, metavar="MB", help="of a child; not under sanitizers")
    parser.add_argument("--megabytes", type=int, default=1024, help="of memory, beyond what a child has at its start")
    parser.add_argument("--show", type=int, metavar="N", help="writes this text to standard output, and ends")
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="texts-") as name:
        seeds, run = prepared(args.kind, Path(name))
        if args.show is not None:
            sys.stdout.buffer.write(text_of(args.kind, seeds, args.seed, args.show))
            return 0
        return try_all(args, seeds, run)


def prepared(kind: str, folder: Path) -> tuple[list[bytes], Try]:
    """Seeds and how to try a text. What starts threads is done in a child: this process must be able to fork."""
    os.chdir(folder)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        seeds = KINDS[kind][0](folder)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps([seed.decode("latin-1") for seed in seeds]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        seeds = [seed.encode("latin-1") for seed in json.loads(pipe.read())]
    os.waitpid(pid, 0)
    return seeds, KINDS[kind][1](folder)


def try_all(args: argparse.Namespace, seeds: list[bytes], run: Try) -> int:
    """Forks, watches and counts; 1 where a text failed."""
    counts: collections.Counter[str] = collections.Counter()
    failures = 0
    at, end = args.first, args.first + args.texts
    while at < end:
        board = Board()
        board.write(at)
        reading, writing = os.pipe()
        numbers = range(at, min(end, at + TEXTS_OF_A_CHILD))
        pid = os.fork()
        if not pid:
            child(args, seeds, run, numbers, board, writing)
            os._exit(0)
        os.close(writing)
        number, died = watch(pid, board)
        with os.fdopen(reading) as pipe:
            reports = [json.loads(line) for line in pipe]
        bad = [(n, what, why) for n, what, *why in reports if n != "counts"]
        counts.update(*(row[1] for row in reports if row[0] == "counts"))
        if died:
            bad.append((number, f"! {died}", [""]))
            counts["! died"] += 1
            counts["not counted"] += number - at
        for n, what, why in bad:
            failures += 1
            path = args.keep / f"{args.kind}-{args.seed}-{n}.txt"
            path.write_bytes(text_of(args.kind, seeds, args.seed, n))
            print(f"{args.kind} {n}: {what[2:]}: {path}\n{''.join(why)[-1500:]}", flush=True)
        at = number + 1 if died else numbers.stop
    print(json.dumps({"texts": args.texts, "failures": failures, **dict(counts.most_common())}), flush=True)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
