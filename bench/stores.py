"""`./dev bench stores`: files in an object store, read by `readers.file`, beside local ones and beside other clients.

A web server of a process of its own, on loopback, answers as S3 does, out of memory, and after a while that stands for
a network where one is asked for (``--latency``). All read the same objects from it, in turn, with as many requests
under way, and end with the bytes of a batch in one array; what is told is the median of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import table, write

BATCH, REQUESTS = 64, 64
SIZES = {"10 KB": (10_000, 1024), "100 KB": (100_000, 512)}
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1",
    "PENSTOCK_STORE_REQUESTS": str(REQUESTS),
}  # fmt: skip
KEY = "/bench/{:06}.jpg"


class _Answers(asyncio.Protocol):
    """GET and HEAD of objects that are all the same noise."""

    def __init__(self, size: int, count: int, latency: float):
        self._body = np.random.default_rng(1).bytes(size)
        self._count, self._latency = count, latency
        self._wanted = b""

    def connection_made(self, transport: Any) -> None:
        self._to = transport

    def data_received(self, data: bytes) -> None:
        self._wanted += data
        while b"\r\n\r\n" in self._wanted:
            head, _, self._wanted = self._wanted.partition(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n")[0].split(b" ")
            answer = self._list() if b"list-type" in target else self._object(method == b"GET")
            if self._latency:
                asyncio.get_running_loop().call_later(self._latency, self._to.write, answer)
            else:
                self._to.write(answer)

    def _object(self, whole: bool) -> bytes:
        head = (
            f'HTTP/1.1 200 OK\r\nContent-Length: {len(self._body)}\r\nETag: "noise"\r\n'
            "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n"
        )
        return head.encode() + (self._body if whole else b"")

    def _list(self) -> bytes:
        return b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n"


def serve(size: int, count: int, latency: float) -> None:
    """Tells its port, and answers until its standard input ends."""

    async def work() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Answers(size, count, latency), "127.0.0.1", 0, backlog=512)
        print(server.sockets[0].getsockname()[1], flush=True)
        await loop.run_in_executor(None, sys.stdin.read)

    asyncio.run(work())


Take = Callable[[], int]
_coming: list[Any] = []  # what others of us have under way


def _penstock(names: list[str], threads: int) -> Take:
    from penstock import Pipeline, fn

    pipe = Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(fn.readers.file(files=names, name="Reader")[0])
    pipe.build()
    return lambda: len(pipe.run()[0])


def _joined(parts: list[Any]) -> int:
    """The bytes of a batch, one behind the other, as a pipeline gives them."""
    np.concatenate([np.frombuffer(part, np.uint8) for part in parts])
    return len(parts)


def _batches(names: list[str]) -> Iterator[list[str]]:
    while True:
        yield from (names[i : i + BATCH] for i in range(0, len(names), BATCH))


def _ahead(names: list[str], start: Callable[[str], Any]) -> Take:
    """Batch by batch, with the next one under way."""
    batches = _batches(names)
    coming = [[start(name) for name in next(batches)]]

    def take() -> int:
        coming.append([start(name) for name in next(batches)])
        _coming[:] = coming[-1]
        return _joined([one.result() for one in coming.pop(0)])

    return take


def _obstore(names: list[str], threads: int) -> Take:
    import obstore
    from obstore.store import from_url

    store = from_url("s3://bucket", client_options={"allow_http": True})
    pool = ThreadPoolExecutor(REQUESTS)
    paths = [name.removeprefix("s3://bucket/") for name in names]
    return _ahead(paths, lambda path: pool.submit(lambda: obstore.get(store, path).bytes()))


def _s3fs(names: list[str], threads: int) -> Take:
    import s3fs

    files = s3fs.S3FileSystem(endpoint_url=os.environ["AWS_ENDPOINT_URL"], key="key", secret="secret")
    batches, pool = _batches(names), ThreadPoolExecutor(2)

    def cat() -> Any:
        return pool.submit(files.cat, next(batches), batch_size=REQUESTS)

    coming = [cat()]

    def take() -> int:
        coming.append(cat())
        _coming[:] = coming[-1:]
        return _joined([*coming.pop(0).result().values()])

    return take


def _rate(take: Take, seconds: float) -> float:
    for _ in range(3):
        take()
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        count += take()
    rate = count / (time.perf_counter() - begin)
    for one in _coming:  # or it would go on while the next one is timed
        one.result()
    _coming.clear()
    time.sleep(0.1)
    return rate


def rows(latency: float, rounds: int, seconds: float, threads: int) -> Iterator[list[str]]:
    for title, (size, count) in SIZES.items():
        code = f"from bench import stores; stores.serve({size}, {count}, {latency})"
        with (
            tempfile.TemporaryDirectory() as folder,
            subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as server,
        ):
            assert server.stdout
            assert server.stdin
            os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=f"http://127.0.0.1:{int(server.stdout.readline())}")
            names = ["s3://bucket" + KEY.format(i) for i in range(count)]
            data = np.random.default_rng(1).bytes(size)
            local = [f"{folder}/{i}.jpg" for i in range(count)]
            for name in local:
                Path(name).write_bytes(data)
            with_cache = {"PENSTOCK_STORE_CACHE": f"{folder}/cache"}
            contestants: dict[str, Take] = {
                "Penstock, S3": _penstock(names, threads),
                "obstore, 64 threads": _obstore(names, threads),
                "Penstock, files": _penstock(local, threads),
            }
            if importlib.util.find_spec("s3fs"):
                contestants["s3fs"] = _s3fs(names, threads)
            found: dict[str, list[float]] = {name: [] for name in contestants}
            for _ in range(rounds):
                for name, take in contestants.items():
                    found[name].append(_rate(take, seconds))
            contestants.clear()
            os.environ.update(with_cache)
            cached = _penstock(names, threads)
            for _ in range(count // BATCH + 3):
                cached()
            found["Penstock, S3, from the cache"] = [_rate(cached, seconds) for _ in range(rounds)]
            del cached
            for name in with_cache:
                del os.environ[name]
            first = found["Penstock, S3"]
            for name, rates in found.items():
                times = statistics.median(a / b for a, b in zip(first, rates, strict=True))
                yield [name, title, f"{statistics.median(rates):.0f}", f"{times:.2f}"]
            server.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench stores", description=__doc__)
    parser.add_argument("--threads", type=int, default=2, help="of each pipeline")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each contestant")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of one round")
    parser.add_argument("--latency", type=float, nargs="*", default=[0, 30], help="of the server, in milliseconds")
    options = parser.parse_args()

    def section(latency: float) -> Callable[[], Iterator[str]]:
        def lines() -> Iterator[str]:
            yield f"By `./dev bench stores`, {options.threads} threads, {REQUESTS} requests, batches of {BATCH}."
            yield f"Medians of {options.rounds} rounds of {options.seconds:g} s; other work went on, with a load of"
            yield f"{os.getloadavg()[0]:.1f} at the beginning. The server, in Python, shares the processors."
            yield ""
            found = rows(latency / 1000, options.rounds, options.seconds, options.threads)
            yield from table(["who", "an object", "samples/s", "Penstock, S3, is so many times as fast"], list(found))

        return lines

    sections = {
        str(ms): (f"A server that answers {'at once' if not ms else f'after {ms:g} ms'}", section(ms))
        for ms in options.latency
    }
    write("stores", "Object stores", sections, False)


if __name__ == "__main__":
    main()
