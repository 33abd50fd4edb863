"""The threads that answer what the native library asks of object stores: one for each request that may be under way.

They wait for requests in the native library, and for bytes in obstore, in both without the GIL. Bytes stay where
obstore has them until their last reader is done: they are copied once, by a reader's thread, to where they are wanted,
and no reader's thread ever needs the GIL.
"""

from __future__ import annotations

import atexit
import ctypes as c
import os
import threading
import time
from typing import Any

import numpy as np

from penstock import _settings
from penstock.errors import PenstockError
from penstock.machine import native
from penstock.read.stores import clients, fetch
from penstock.read.stores.addresses import is_address

_GRACE = 2.0  # seconds that the process's end waits for requests that are under way

_lock = threading.Lock()
_server: _Server | None = None  # a forked process has it, but not its threads: the native library says so then
_kept: Any = (None, None)  # the cache's folder and limit


def listen_for(name: str) -> None:
    """`listen`, if this is an address. Raises ReadError where obstore is missing."""
    if is_address(name):
        clients.library()
        listen()


def listen() -> None:
    """Answers requests from now on."""
    global _server
    clients.configure()
    with _lock:
        _keep_on_disk()
        if _server is None:
            if native.quick().ps_stores_open() < 0:
                raise native.failure()
            _server = _Server()
            atexit.register(_server.close)


def _keep_on_disk() -> None:
    global _kept
    folder, limit = wanted = _settings.STORE_CACHE.value(), _settings.STORE_CACHE_BYTES.value()
    if wanted == _kept:
        return
    if native.quick().ps_stores_cache(os.fsencode(os.path.abspath(folder)) if folder else None, limit) < 0:
        raise native.failure()
    _kept = wanted


class _Server:
    def __init__(self) -> None:
        self._blocking, self._native = native.blocking(), native.quick()
        self._held: dict[int, Any] = {}  # bytes that somebody may still read
        self._turn = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._idle = self._active = 0
        self._add_thread()

    def close(self) -> None:
        """Ends the threads: one that came back while Python ends would end the process."""
        self._native.ps_stores_close()
        until = time.monotonic() + _GRACE
        for one in self._threads:
            one.join(max(until - time.monotonic(), 0))

    def _add_thread(self) -> None:
        name = f"penstock-store-{len(self._threads)}"
        self._idle += 1
        self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))
        self._threads[-1].start()

    def _run(self) -> None:
        request = native.Request()
        while (state := self._blocking.ps_stores_take(c.byref(request))) >= 0:
            while (gone := self._native.ps_stores_released()) >= 0:
                self._held.pop(gone, None)
            if state:
                self._begin()
                try:
                    self._answer(request.id, os.fsdecode(request.name), request.begin, request.bytes)
                finally:
                    self._end()

    def _begin(self) -> None:
        with self._turn:
            self._idle -= 1
            most = clients.settings.requests
            if not self._idle and len(self._threads) < most:
                self._add_thread()
            while self._active >= most:  # there may be more threads, of when more were allowed
                self._turn.wait()
            self._active += 1

    def _end(self) -> None:
        with self._turn:
            self._idle += 1
            self._active -= 1
            self._turn.notify()

    def _answer(self, number: int, name: str, begin: int, count: int) -> None:
        try:
            data, meta = fetch.fetched(name, begin, count)
            array = np.frombuffer(data, np.uint8)
            pointer = array.__array_interface__["data"][0] if len(array) else 0
            self._held[number] = array
            if not self._native.ps_stores_answer(number, pointer, len(array), meta["size"], clients.tag_of(meta)):
                self._held.pop(number, None)
        except FileNotFoundError:
            self._native.ps_stores_refuse(number, b"", 1)
        except Exception as error:
            text = str(error) if isinstance(error, PenstockError) else clients.reason(error)
            self._native.ps_stores_refuse(number, f"cannot be read: {text}".encode(errors="replace"), 0)
