"""Bytes of objects, and what is known of them. Of requests, obstore tries those again that fail; here, answers that are
cut off.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.errors import ReadError
from penstock.read.stores import clients
from penstock.read.stores.addresses import parsed

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 15.0  # seconds before another try: doubled each time, and in part random

T = TypeVar("T")


class CutOffError(Exception):
    """An answer is not whole."""


def until_whole(work: Callable[[], T]) -> T:
    """What it gives, when it no longer raises CutOffError; the last of those as a ReadError."""
    tries = clients.settings.retries
    for number in range(tries + 1):
        try:
            return work()
        except CutOffError as error:
            if number == tries:
                raise ReadError(str(error)) from error
        time.sleep(min(_FIRST_WAIT * 2**number, _LONGEST_WAIT) * random.uniform(0.5, 1))
    raise AssertionError


def fetched(name: str, begin: int, count: int) -> tuple[Any, Any]:
    """So many bytes of an object, -1: all, and what is known of it."""
    obstore, address = clients.library(), parsed(name)
    client = clients.client(address.root)
    if count == 0:
        return b"", obstore.head(client, address.path)
    return until_whole(lambda: _get(obstore, client, address.path, begin, count))


def version_of(name: str) -> list[int | str]:
    """The size of an object, and what changes with its contents. Raises ReadError."""
    clients.configure()
    meta = _told(name, 0)[1]
    return [int(meta["size"]), clients.tag_of(meta).decode()]


def head_of(name: str, most: int) -> bytes:
    """The first bytes of an object. Raises ReadError."""
    clients.configure()
    return bytes(_told(name, most)[0])


def _told(name: str, count: int) -> tuple[Any, Any]:
    try:
        return fetched(name, 0, count)
    except FileNotFoundError as error:
        raise ReadError(f"the file {name} cannot be opened: No such file or directory") from error
    except Exception as error:
        text = str(error) if isinstance(error, ReadError) else clients.reason(error)
        raise ReadError(f"the file {name} cannot be read: {text}") from error


def _get(obstore: Any, client: Any, path: str, begin: int, count: int) -> tuple[Any, Any]:
    try:
        found = obstore.get(client, path, options=None if count < 0 else {"range": (begin, begin + count)})
    except obstore.exceptions.GenericError as error:
        if re.search(r"Requested .* got ", str(error)):
            raise CutOffError(f"its answer was cut off: {clients.reason(error)}") from error
        if count < 0:
            raise
        meta = obstore.head(client, path)
        if meta["size"] > begin:
            raise
        return b"", meta  # servers refuse what lies behind the end
    meta = found.meta
    wanted = meta["size"] if count < 0 else max(min(begin + count, meta["size"]) - begin, 0)
    try:
        data = found.bytes()
    except Exception as error:
        raise CutOffError(f"its answer was cut off: {clients.reason(error)}") from error
    if len(data) != wanted or found.range[0] != max(begin, 0):
        raise CutOffError(f"its answer has {len(data)} bytes, not {wanted}")
    return data, meta
