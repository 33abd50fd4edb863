"""`./dev bench readers`: readers of records beside DALI's, from a warm page cache, and how long large data sets take.

    ./dev bench readers            all of them, into bench/results/readers.md
    ./dev bench readers caffe      those whose names have one of these in them, nowhere

Each sample is one byte string and one label. Both libraries read the same files, in turn, in one process; what is told
is the median of the rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.record_pipeline import BATCH, pipeline_of
from bench.report import comparison, show, table
from bench.timing import medians, seconds_each
from tests.read import record_files as files

SIZES = {"1 KB": (1000, 30000), "10 KB": (10_000, 10000), "100 KB": (100_000, 1500)}
MILLIONS = 2


def _payloads(size: int, count: int) -> Iterator[bytes]:
    noise = np.random.default_rng(1).bytes(size + count)
    return (noise[i : i + size] for i in range(count))


def _tfrecord(folder: Path, payloads: Iterator[bytes]) -> dict[str, Any]:
    with (folder / "a").open("wb") as data, (folder / "a.idx").open("w") as index:
        for i, payload in enumerate(payloads):
            label = files.field(3, files.packed(1, [i]))
            record = files.framed(files.example({"image": files.field(1, files.field(1, payload)), "label": label}))
            index.write(f"{data.tell()} {len(record)}\n")
            data.write(record)
    return {"path": str(folder / "a"), "index_path": str(folder / "a.idx")}


def _mxnet(folder: Path, payloads: Iterator[bytes]) -> dict[str, Any]:
    with (folder / "a").open("wb") as data, (folder / "a.idx").open("w") as index:
        for i, payload in enumerate(payloads):
            index.write(f"{i}\t{data.tell()}\n")
            data.write(files.recordio([[files.labelled(payload, float(i))]]))
    return {"path": [str(folder / "a")], "index_path": [str(folder / "a.idx")]}


def _database(record: Callable[[bytes, int], bytes]) -> Callable[[Path, Iterator[bytes]], dict[str, Any]]:
    def write_values(folder: Path, payloads: Iterator[bytes]) -> dict[str, Any]:
        (folder / "data.mdb").write_bytes(files.database(record(payload, i) for i, payload in enumerate(payloads)))
        return {"path": str(folder)}

    return write_values


def _protos(payload: bytes, i: int) -> bytes:
    return files.protos(files.proto(files.STRING, [payload]), files.proto(files.INT32, [i]))


READERS: dict[str, Callable[[Path, Iterator[bytes]], dict[str, Any]]] = {
    "tfrecord": _tfrecord,
    "mxnet": _mxnet,
    "caffe": _database(lambda payload, i: files.datum(payload, i)),
    "caffe2": _database(_protos),
}


def _rate(pipe: Any, seconds: float) -> float:
    return BATCH / seconds_each(pipe.run, seconds, warm_up=6, least=1)


def rows(names: list[str], rounds: int, seconds: float, threads: int, shuffle: bool) -> Iterator[list[str]]:
    for name, make in READERS.items():
        if names and not any(part in name for part in names):
            continue
        for title, (size, count) in SIZES.items():
            with tempfile.TemporaryDirectory() as folder:
                arguments = make(Path(folder), _payloads(size, count)) | {"random_shuffle": shuffle}
                ours, theirs = (
                    pipeline_of(library, name, arguments, threads) for library in ("penstock", "nvidia.dali")
                )
                found = [(_rate(ours, seconds), _rate(theirs, seconds)) for _ in range(rounds)]
                del ours, theirs
            mine, its = medians(found)
            times = statistics.median(a / b for a, b in found)
            yield [f"readers.{name}", title, f"{mine:.0f}", f"{its:.0f}", f"{times:.2f}"]


def _start(name: str, arguments: dict[str, Any], cache: Path) -> dict[str, float]:
    """In a process of its own: until the first batch is there, and the memory at the end of many batches."""
    code = f"""
import json, re, time
import numpy as np
from bench import record_pipeline
def memory(what):
    return int(re.search(what + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])
before = memory("VmRSS")
begin = time.perf_counter()
pipe = record_pipeline.pipeline_of("penstock", {name!r}, {arguments!r}, 2, random_shuffle=True)
pipe.run()
took = time.perf_counter() - begin
for _ in range(2000):
    pipe.run()
most = memory("VmHWM")
print(json.dumps([took, most / 1024, (most - before) / 1024]))
"""
    environment = {**os.environ, "PENSTOCK_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, env=environment)
    seconds, most, more = json.loads(done.stdout)
    return {"seconds": seconds, "most": most, "more": more}


def large(names: list[str]) -> Iterator[list[str]]:
    for name, make in READERS.items():
        if names and not any(part in name for part in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            arguments = make(Path(folder), _payloads(32, MILLIONS * 1_000_000))
            tries = [("with its index", arguments)] if "index_path" in arguments else []
            alone = {"path": arguments["path"]}
            for title, some in [*tries, ("first time", alone), ("second time", alone)]:
                found = _start(name, some, Path(folder) / "cache")
                yield [
                    f"readers.{name}",
                    title,
                    f"{found['seconds']:.2f}",
                    f"{found['most']:.0f}",
                    f"{found['more']:.0f}",
                ]


def main() -> None:
    options = comparison("readers", __doc__, "parts of readers' names", rounds=21, seconds=0.12).parse_args()

    def rates(shuffle: bool) -> Callable[[], Iterator[str]]:
        def lines() -> Iterator[str]:
            yield "By `./dev bench readers`."
            yield f"Samples per second in batches of {BATCH}, {options.threads} threads, from a warm page cache."
            yield f"Medians of {options.rounds} rounds of {options.seconds:g} s for each library, and of the quotients."
            yield ""
            found = rows(options.names, options.rounds, options.seconds, options.threads, shuffle)
            yield from table(["reader", "a sample", "Penstock", "DALI", "times DALI"], list(found))

        return lines

    def start() -> Iterator[str]:
        yield "By `./dev bench readers`."
        yield f"{MILLIONS} million samples of 32 bytes, shuffled: from the reader's call to the first batch, and the"
        yield "most memory of the process in 2000 batches: of all, and of what it had before the pipeline was made."
        yield "Without an index files are gone through; the second time what was found is in the user's cache."
        yield ""
        head = ["reader", "index", "seconds", "MB", "MB of the pipeline"]
        yield from table(head, list(large(options.names)))

    sections = {
        "order": ("In order", rates(False)), "shuffled": ("Shuffled", rates(True)), "large": ("Large data sets", start),
    }  # fmt: skip
    show(options.names, "readers", "Readers of records", sections)


if __name__ == "__main__":
    main()
