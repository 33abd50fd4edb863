"""Addresses of objects: which are any, and their parts."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from penstock.errors import ReadError

SCHEMES = ("s3", "gs", "az", "http", "https")
_STARTS = tuple(f"{scheme}://" for scheme in SCHEMES)


class Address(NamedTuple):
    """An object, or a folder of them.

    Attributes:
        root: what a client is made for: ``"s3://bucket"``, or a web server, with the address's query if it has one.
        path: the object's name there, without a slash at its ends.
    """

    root: str
    path: str


def is_address(name: str) -> bool:
    """Whether the name is of an object store or a web server."""
    return name.startswith(_STARTS)


def any_address(names: bytes) -> bool:
    """Whether one of these names is, each of which is ended by a zero byte."""
    starts = [start.encode() for start in _STARTS]
    return names.startswith(tuple(starts)) or any(b"\0" + start in names for start in starts)


def parsed(name: str) -> Address:
    """The parts of an address. ReadError where one is missing."""
    scheme, _, rest = name.partition("://")
    place, _, path = rest.partition("/")
    root = f"{scheme}://{place}"
    if scheme in ("http", "https"):  # names are as browsers have them; elsewhere they are what they are
        parts = urlsplit(name)
        path = unquote(parts.path).lstrip("/")
        root = f"{scheme}://{parts.netloc}" + (f"?{parts.query}" if parts.query else "")
        place = parts.netloc
    if not place:
        raise ReadError(f"the address {name} names no {'server' if scheme.startswith('http') else 'bucket'}")
    return Address(root, path.rstrip("/"))
