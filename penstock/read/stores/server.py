"""The thread that answers what the native library asks of object stores.

It sleeps until the native library wakes it by a descriptor, takes all that is asked for, and keeps up to
``PENSTOCK_STORE_REQUESTS`` requests under way. Bytes stay where obstore has them until their last reader is done: they
are copied once, by the reader's thread, to where they are wanted, and no reader's thread ever needs the GIL.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes as c
import os
import random
import re
import threading
from typing import Any

import numpy as np

from penstock import _settings
from penstock.errors import PenstockError, ReadError
from penstock.machine import native
from penstock.read.stores import clients
from penstock.read.stores.addresses import is_address, parsed

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 15.0  # seconds before another try: doubled each time, and a random part of that

_lock = threading.Lock()
_process: int | None = None  # that the thread is of
_kept: Any = (None, None)  # the cache's folder and limit


def listen_for(name: str) -> None:
    """Starts the thread, if this is an address. Raises ReadError where obstore is missing."""
    if is_address(name):
        clients.library()
        listen()


def listen() -> None:
    """Starts the thread, if there is none yet."""
    global _process
    with _lock:
        _keep_on_disk()
        if _process is not None:  # a forked process has no such thread, which the native library says
            return
        descriptor = native.quick().ps_stores_open()
        if descriptor < 0:
            raise native.failure()
        server = _Server(descriptor)
        _process = os.getpid()
        threading.Thread(target=server.run, name="penstock-stores", daemon=True).start()
        atexit.register(native.quick().ps_stores_close)


def _keep_on_disk() -> None:
    global _kept
    folder, limit = wanted = _settings.STORE_CACHE.value(), _settings.STORE_CACHE_BYTES.value()
    if wanted == _kept:
        return
    _kept = wanted
    if native.quick().ps_stores_cache(os.fsencode(os.path.abspath(folder)) if folder else None, limit) < 0:
        raise native.failure()


class _CutOffError(Exception):
    pass


class _Server:
    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._native = native.quick()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._held: dict[int, Any] = {}  # bytes that somebody may still read
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        self._loop.add_reader(self._descriptor, self._awake)
        self._awake()
        self._loop.run_forever()

    def _awake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._descriptor, 8)
        while (gone := self._native.ps_stores_released()) >= 0:
            self._held.pop(gone, None)
            if task := self._tasks.pop(gone, None):
                task.cancel()
        self._begin()

    def _begin(self) -> None:
        request, most = native.Request(), _settings.STORE_REQUESTS.value()
        while len(self._tasks) < most and self._native.ps_stores_take(c.byref(request)) > 0:
            name = os.fsdecode(request.name)
            work = self._answer(request.id, name, request.begin, request.bytes)
            self._tasks[request.id] = self._loop.create_task(work)

    async def _answer(self, number: int, name: str, begin: int, count: int) -> None:
        try:
            data, meta = await _fetch(name, begin, count)
            array = np.frombuffer(data, np.uint8)
            self._held[number] = array
            pointer = array.__array_interface__["data"][0] if len(array) else 0
            told = (len(array), meta["size"], clients.tag_of(meta))
            if not self._native.ps_stores_answer(number, pointer, *told):
                self._held.pop(number, None)
        except FileNotFoundError:
            self._native.ps_stores_refuse(number, b"", 1)
        except Exception as error:
            text = str(error) if isinstance(error, PenstockError) else clients.reason(error)
            self._native.ps_stores_refuse(number, f"cannot be read: {text}".encode(errors="replace"), 0)
        finally:
            self._tasks.pop(number, None)
            self._begin()


async def _fetch(name: str, begin: int, count: int) -> tuple[Any, Any]:
    """Bytes of an object, and what is known of it. Of requests, obstore tries those again that fail; here, answers that
    are cut off.
    """
    obstore, address = clients.library(), parsed(name)
    client = clients.client(address.root)
    if count == 0:
        return b"", await obstore.head_async(client, address.path)
    tries = clients.retries()
    for number in range(tries + 1):
        try:
            return await _get(obstore, client, address.path, begin, count)
        except _CutOffError as error:
            if number == tries:
                raise ReadError(str(error)) from error
        wait = min(_FIRST_WAIT * 2**number, _LONGEST_WAIT)
        await asyncio.sleep(wait * random.uniform(0.5, 1))
    raise AssertionError


async def _get(obstore: Any, client: Any, path: str, begin: int, count: int) -> tuple[Any, Any]:
    options = None if count < 0 else {"range": (begin, begin + count)}
    try:
        found = await obstore.get_async(client, path, options=options)
    except obstore.exceptions.GenericError as error:
        if re.search(r"Requested .* got ", str(error)):
            raise _CutOffError(f"its answer was cut off: {clients.reason(error)}") from error
        if count < 0:
            raise
        meta = await obstore.head_async(client, path)
        if meta["size"] > begin:
            raise
        return b"", meta  # servers refuse what lies behind the end
    meta = found.meta
    wanted = meta["size"] if count < 0 else max(min(begin + count, meta["size"]) - begin, 0)
    try:
        data = await found.bytes_async()
    except Exception as error:
        raise _CutOffError(f"its answer was cut off: {clients.reason(error)}") from error
    if len(data) != wanted or found.range[0] != max(begin, 0):
        raise _CutOffError(f"its answer has {len(data)} bytes, not {wanted}")
    return data, meta
