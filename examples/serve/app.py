"""A web service that decodes pictures that people upload, and prepares them for a network.

    uvicorn --factory examples.serve.app:service
    curl --data-binary @photo.jpg http://127.0.0.1:8000/prepare -o tensor.npy

POST /prepare takes the bytes of one picture and gives a NumPy file, FLOAT of shape (3, 224, 224). Uploads that come at
the same time go through the pipeline together. Nobody can make the service do more than its limits say: what is too
large is answered with 413, what is no picture (or a broken one) with 422, and what is too much at a time with 503.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response

from penstock import backend, fn, pipeline_def, types
from penstock.errors import OperatorError
from penstock.plugin.served import Served

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


@dataclass(frozen=True)
class Limits:
    """What an upload may have, and how many may be under way."""

    file_bytes: int = 10 << 20
    pixels: int = 50_000_000
    waiting: int = 256
    seconds: float = 30  # to send a file in


@pipeline_def(batch_size=32, num_threads=4, device_id=None)
def prepared() -> Any:
    """The picture upright, its middle scaled to 224x224, normalized."""
    files = fn.external_source(name="file", dtype=types.UINT8, ndim=1, no_copy=True)
    images = fn.decoders.image(files, output_type=types.RGB)
    images = fn.resize(images, resize_shorter=256)
    return fn.crop_mirror_normalize(images, crop=(224, 224), dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD)


class Batches:
    """Puts uploads that wait at the same time into one batch, and runs it on a thread."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._queue: asyncio.Queue[tuple[bytes, asyncio.Future[Any]]] = asyncio.Queue()

    async def ask(self, file: bytes) -> Any:
        """What the pipeline makes of a file; raises what it does."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((file, future))
        return await future

    async def work(self) -> None:
        """Answers for as long as the service runs."""
        while True:
            asked = [await self._queue.get()]
            while not self._queue.empty() and len(asked) < 32:
                asked.append(self._queue.get_nowait())
            requests = [{"file": np.array([file], object)} for file, _ in asked]
            try:
                answers = await asyncio.to_thread(self._served.answer, requests)
            except Exception as failure:  # of the service's own
                answers = [failure] * len(asked)
            for (_, future), answer in zip(asked, answers, strict=True):
                if future.done():  # whoever asked has gone
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer[0][0])


async def upload(request: Request, limits: Limits) -> bytes:
    """The body of a request, of which no more is kept than a file may have."""
    too_large = HTTPException(413, f"a file may have {limits.file_bytes} bytes")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limits.file_bytes:
        raise too_large
    file = bytearray()
    async for part in request.stream():
        file += part
        if len(file) > limits.file_bytes:
            raise too_large
    return bytes(file)


def service(limits: Limits | None = None) -> FastAPI:
    """The application."""
    bounds = limits or Limits()

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        backend.set_max_decoded_pixels(bounds.pixels)  # of a header, before any memory is taken for them
        served = Served(prepared())
        app.state.batches, app.state.under_way = Batches(served), 0
        worker = asyncio.create_task(app.state.batches.work())
        yield
        worker.cancel()
        served.close()

    app = FastAPI(title="prepared pictures", lifespan=running)

    @app.post("/prepare")  # type: ignore[untyped-decorator]  # mypy runs without FastAPI
    async def prepare(request: Request) -> Response:
        state = request.app.state
        if state.under_way >= bounds.waiting:
            raise HTTPException(503, "too many uploads: come again later", {"retry-after": "1"})
        state.under_way += 1
        try:
            return await _answer(request, state.batches, bounds)
        finally:
            state.under_way -= 1

    return app


async def _answer(request: Request, batches: Batches, limits: Limits) -> Response:
    try:
        file = await asyncio.wait_for(upload(request, limits), limits.seconds)
    except asyncio.TimeoutError:
        raise HTTPException(408, f"a file is to come within {limits.seconds:.0f} seconds") from None
    if not file:
        raise HTTPException(422, "there is no file in the request")
    try:
        tensor = await batches.ask(file)
    except OperatorError as error:
        text = str(error).partition("\n")[0]  # and not the lines of code behind it
        raise HTTPException(413 if "PENSTOCK_MAX_PIXELS" in text else 422, text) from None
    array = io.BytesIO()
    np.save(array, tensor)
    return Response(array.getvalue(), media_type="application/x-npy")
