"""What lies in a folder of an object store."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from penstock import _settings
from penstock.errors import ReadError
from penstock.machine import native
from penstock.read.at_once import at_once
from penstock.read.stores import clients, fetch, server
from penstock.read.stores.addresses import parsed

_AT_ONCE = 32  # folders that are listed

T = TypeVar("T")


def folders(
    root: str, wanted: Callable[[bytes], bool], match: Callable[[bytes], bool], own: bool
) -> list[tuple[bytes, list[bytes]]]:
    """The sub-folders that are wanted, sorted, each with the names of its files that match, sorted; with ``own`` also
    the folder's own files, as those of ``b"."``. Raises ReadError.
    """
    server.listen_for(root)
    obstore, address = clients.library(), parsed(root)
    if address.root.startswith("http"):
        raise ReadError("web servers do not list folders: give names (file_list, files)")
    client = clients.client(address.root)
    try:
        top = _whole(lambda: obstore.list_with_delimiter(client, address.path or None))
        names = {os.fsencode(path.rpartition("/")[2]): path for path in top["common_prefixes"]}
        chosen = sorted(name for name in names if wanted(name))
        work = [partial(_files, client, address.root, names[name], match) for name in chosen]
        files = at_once(_whole, work, _AT_ONCE)
        found = list(zip(chosen, files, strict=True))
    except ReadError:
        raise
    except Exception as error:
        raise ReadError(clients.reason(error)) from error
    if own:
        found.append((b".", _matching(top["objects"], address.root, address.path, match)))
    return sorted(found)


def _whole(work: Callable[[], T]) -> T:
    """A list; again, where its text breaks off."""

    def once() -> T:
        try:
            return work()
        except Exception as error:
            if "list response" in str(error):
                raise fetch.CutOffError(f"the list was cut off: {clients.reason(error)}") from error
            raise

    return fetch.until_whole(once)


def _files(client: Any, root: str, folder: str, match: Callable[[bytes], bool]) -> list[bytes]:
    found: list[bytes] = []
    for some in clients.library().list(client, folder):
        found += _matching(some, root, folder, match)
    return sorted(found)


def _matching(objects: Any, root: str, folder: str, match: Callable[[bytes], bool]) -> list[bytes]:
    """The names in the folder; deeper ones are none, nor is the folder's own mark."""
    kept = _settings.STORE_CACHE.value() is not None
    begin = len(folder) + 1 if folder else 0
    found = []
    for one in objects:
        path = one["path"]
        name = os.fsencode(path[begin:])
        if not name or b"/" in name or not match(name):
            continue
        found.append(name)
        if kept:  # what the cache has of an older one is not used then
            address = os.fsencode(f"{root}/{path}")
            native.quick().ps_stores_note(address, one["size"], clients.tag_of(one))
    return sorted(found)
