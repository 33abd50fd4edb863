"""Small files that are read as a whole in Python: lists, manifests, annotations."""

from __future__ import annotations

import ctypes as c
import os

from penstock.machine import native
from penstock.read.index import has_scheme
from penstock.read.stores.server import listen_for


def contents(name: str) -> bytes:
    """The bytes of a file of the disk or of any storage. Raises OSError, of which ReadError is one."""
    if not has_scheme(name):
        with open(name, "rb") as file:
            return file.read()
    listen_for(name)
    data, count = c.c_void_p(), c.c_int64()
    handle = native.blocking().ps_contents_read(os.fsencode(name), c.byref(data), c.byref(count))
    if not handle:
        raise native.failure()
    try:
        return c.string_at(data, count.value) if count.value else b""
    finally:
        native.quick().ps_contents_destroy(handle)


def problem(error: OSError) -> str:
    """What the system, or the storage, says about a file."""
    return error.strerror or str(error)
