"""Model repositories in a real Triton server, that of nvidia-pytriton, by its Python backend."""

from __future__ import annotations

import contextlib
import importlib
import os
import queue
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pytriton", reason="needs nvidia-pytriton: ./dev test frameworks triton has it")
grpc: Any = importlib.import_module("tritonclient.grpc")
InferenceServerException: Any = importlib.import_module("tritonclient.utils").InferenceServerException

from penstock.plugin.triton.repository import write_model  # noqa: E402
from tests.plugin.triton.models import expected, load  # noqa: E402


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a server with the same pipeline as three models."""
    from pytriton.utils.distribution import get_libs_path, get_root_module_path

    folder = tmp_path_factory.mktemp("triton")
    pipe = load(folder)
    write_model(pipe, folder / "models", "arrays")
    write_model(pipe, folder / "models", "files", as_bytes=["FILE"], delay=20_000)
    write_model(pipe, folder / "models", "stream", as_bytes=["FILE"], decoupled=True)
    installed = Path(get_root_module_path()) / "tritonserver"
    shutil.copytree(installed / "backends", folder / "backends")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stub = next((installed / "python_backend_stubs" / version).rglob("triton_python_backend_stub"))
    shutil.copy(stub, folder / "backends" / "python")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [
        str(installed / "bin" / "tritonserver"), f"--model-repository={folder / 'models'}",
        f"--backend-directory={folder / 'backends'}", "--grpc-address=127.0.0.1", f"--grpc-port={port}",
        "--allow-http=false", "--allow-metrics=false",
    ]  # fmt: skip
    libraries = f"{sysconfig.get_config_var('LIBDIR')}:{get_libs_path()}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "LD_LIBRARY_PATH": libraries, "PATH": path}
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        with grpc.InferenceServerClient(f"127.0.0.1:{port}") as client:
            _wait(client, process, folder / "log")
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def _wait(client: Any, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text()[-3000:]
        with contextlib.suppress(InferenceServerException):  # it does not listen yet
            if client.is_server_ready():
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])


def tensor(shape: list[int], kind: str, data: Any) -> Any:
    made = grpc.InferInput("FILE", shape, kind)
    made.set_data_from_numpy(data)
    return made


def test_arrays_of_several_lengths(address: str, files: list[bytes], tmp_path: Path) -> None:
    wanted = expected(tmp_path, files)

    def ask(k: int) -> Any:
        data = np.frombuffer(files[k], np.uint8)[None]
        with grpc.InferenceServerClient(address) as client:
            return client.infer("arrays", [tensor(list(data.shape), "UINT8", data)]).as_numpy("OUTPUT_0")

    with ThreadPoolExecutor(8) as pool:
        for k, image in enumerate(pool.map(ask, range(16))):
            assert np.array_equal(image, wanted[k][None])


def test_files_and_a_broken_one(address: str, files: list[bytes], tmp_path: Path) -> None:
    """They share batches, and the broken one fails alone."""
    wanted = expected(tmp_path, files)

    def ask(batch: list[bytes]) -> Any:
        with grpc.InferenceServerClient(address) as client:
            asked = tensor([len(batch), 1], "BYTES", np.array(batch, object)[:, None])
            try:
                return client.infer("files", [asked]).as_numpy("OUTPUT_0")
            except InferenceServerException as error:
                return error

    batches = [files[:3], [b"no picture"], files[3:4], files[4:16], [files[0], b""]]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, batches * 3))
    for batch, answer in zip(batches * 3, answers, strict=True):
        if b"no picture" in batch or b"" in batch:
            assert "DecodeError" in str(answer)
        else:
            assert np.array_equal(answer, np.stack([wanted[files.index(file)] for file in batch]))


def test_one_request_in_several_responses(address: str, files: list[bytes], tmp_path: Path) -> None:
    wanted, answers = expected(tmp_path, files), queue.Queue[Any]()
    many = (files * 3)[:40]
    with grpc.InferenceServerClient(address) as client:
        client.start_stream(callback=lambda result, error: answers.put((result, error)))
        client.async_stream_infer("stream", [tensor([40], "BYTES", np.array(many, object))])
        images: list[Any] = []
        while len(images) < 3:
            result, error = answers.get(timeout=30)
            assert error is None
            images.append(result.as_numpy("OUTPUT_0"))
        client.stop_stream()
    assert [len(some) for some in images] == [16, 16, 8]
    assert np.array_equal(np.concatenate(images), np.stack((wanted * 3)[:40]))
