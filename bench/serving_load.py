"""Clients of a server of `bench.serving_server`: each sends a file, waits for the picture, and sends the next one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Load:
    """What clients have seen: the seconds that each request took, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    sent: int = 0
    took: float = 0

    def percentile(self, percent: float) -> float:
        """Milliseconds in which so many of the requests were answered."""
        return float(np.percentile(self.seconds, percent)) * 1000

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.seconds) / self.took


@contextmanager
def server(library: str, threads: int) -> Iterator[int]:
    """Starts one; gives the port of its gRPC."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, "-m", "bench.serving_server", library, str(port), "--threads", str(threads)]
    # Triton's process for Python takes libpython from where the system has it: that must be this Python's.
    libraries = [sysconfig.get_config_var("LIBDIR"), os.environ.get("LD_LIBRARY_PATH")]
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdin
    assert process.stdout
    try:
        for line in process.stdout:
            if line.strip() == "ready":
                break
        else:
            raise RuntimeError(f"{' '.join(command)} ended")
        threading.Thread(target=process.stdout.read, daemon=True).start()  # what it says later
        yield port
    finally:
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def put_load(port: int, files: Sequence[bytes], clients: int, seconds: float) -> Load:
    """So many clients at the same time, for so long. Each request has to be answered, with a picture."""
    load, lock = Load(), threading.Lock()
    ready, end = threading.Barrier(clients + 1), [0.0]

    def client(number: int) -> None:
        import tritonclient.grpc as grpc

        with grpc.InferenceServerClient(f"127.0.0.1:{port}") as connection:
            ready.wait()
            k = number
            while time.perf_counter() < end[0]:
                with lock:
                    load.sent += 1
                begin = time.perf_counter()
                problem = ask(grpc, connection, files[k % len(files)])
                took = time.perf_counter() - begin
                with lock:
                    load.problems.append(problem) if problem else load.seconds.append(took)
                k += 1

    threads = [threading.Thread(target=client, args=[number]) for number in range(clients)]
    for thread in threads:
        thread.start()
    begin = time.perf_counter()
    end[0] = begin + seconds
    ready.wait()
    for thread in threads:
        thread.join()
    load.took = time.perf_counter() - begin
    return load


def ask(grpc: Any, connection: Any, file: bytes) -> str:
    """Sends one request; gives what is wrong with the answer, or ""."""
    tensor = grpc.InferInput("FILE", [1, 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[file]], object))
    try:
        answer = connection.infer("prepared", [tensor], client_timeout=60)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if text := answer.as_numpy("ERROR").reshape(-1)[0]:
        return str(text.decode())
    shape = answer.as_numpy("image").shape
    return "" if shape == (1, 3, 224, 224) else f"a picture of shape {shape}"
