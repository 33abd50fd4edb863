"""Settings: environment variables, each read when it is needed, and checked whenever a pipeline is built.

Whatever has a value that means nothing is an ArgumentError which names the variable. An empty value stands for none.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import ArgumentError

_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}
_MOST = (1 << 63) - 1


@dataclass(frozen=True)
class Setting:
    """One environment variable.

    Attributes:
        read: makes its value out of the text; ValueError where that means nothing.
        expected: the same in words.
        default: the value where the variable is not set.
    """

    name: str
    read: Callable[[str], Any]
    expected: str
    default: Any = None

    def value(self) -> Any:
        """What the environment says now. Raises ArgumentError."""
        text = os.environ.get(self.name, "")
        if not text:
            return self.default
        try:
            return self.read(text)
        except ValueError:
            raise ArgumentError(f"environment variable {self.name}={text!r}: expected {self.expected}") from None

    def is_set(self) -> bool:
        """Whether the environment has it."""
        return bool(os.environ.get(self.name))


def _amount(text: str) -> int:
    match = re.fullmatch(r"([0-9]+)([KMG]?)", text)
    number = int(match[1]) << _UNITS[match[2]] if match else 0
    if not 1 <= number <= _MOST:
        raise ValueError
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError
    return seconds


def _positive_seconds(text: str) -> float:
    seconds = _seconds(text)
    if not seconds:
        raise ValueError
    return seconds


def _count(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= 1 << 20:
            raise ValueError
        return int(text)

    return read


def _switch(text: str) -> bool:
    known = {"0": False, "off": False, "no": False, "false": False, "1": True, "on": True, "yes": True, "true": True}
    if text.lower() not in known:
        raise ValueError
    return known[text.lower()]


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError
        return text

    return read


_BYTES = "a number of bytes, such as 8000000000 or 8G"
DEVICE_MEMORY = Setting("PENSTOCK_DEVICE_MEMORY", _amount, _BYTES)  # read by native/cuda when a GPU is used
PINNED_MEMORY = Setting("PENSTOCK_PINNED_MEMORY", _amount, _BYTES)  # likewise
GDS = Setting("PENSTOCK_GDS", _one_of("auto", "on", "off"), "one of 'auto', 'on', 'off'", "auto")
FUSE = Setting("PENSTOCK_FUSE", _switch, "0 or 1", True)
JPEG = Setting(
    "PENSTOCK_JPEG", _one_of("auto", "cuda", "hardware", "cpu"), "one of 'auto', 'cuda', 'hardware', 'cpu'", "auto"
)
MAX_FILE_BYTES = Setting("PENSTOCK_MAX_FILE_BYTES", _amount, _BYTES)  # read by native code when a file is
MAX_PIXELS = Setting("PENSTOCK_MAX_PIXELS", _amount, "a number of pixels from 1 on, such as 100000000 or 100M", 1 << 29)
READ_TIMEOUT = Setting("PENSTOCK_READ_TIMEOUT", _seconds, "a number of seconds, such as 60 (0: no limit)", 300.0)

STORE_CACHE = Setting("PENSTOCK_STORE_CACHE", str, "a folder")
STORE_CACHE_BYTES = Setting("PENSTOCK_STORE_CACHE_BYTES", _amount, _BYTES, 16 << 30)
STORE_REQUESTS = Setting("PENSTOCK_STORE_REQUESTS", _count(1), "a number from 1 on", 64)
STORE_RETRIES = Setting("PENSTOCK_STORE_RETRIES", _count(0), "a number from 0 on", 8)
STORE_TIMEOUT = Setting("PENSTOCK_STORE_TIMEOUT", _positive_seconds, "a number of seconds above 0, such as 30", 30.0)

CHECKED = (
    DEVICE_MEMORY, PINNED_MEMORY, FUSE, GDS, JPEG, MAX_FILE_BYTES, MAX_PIXELS, READ_TIMEOUT, STORE_CACHE_BYTES,
    STORE_REQUESTS, STORE_RETRIES, STORE_TIMEOUT,
)  # fmt: skip


def check() -> None:
    """Raises ArgumentError for the first setting whose value means nothing."""
    for setting in CHECKED:
        setting.value()
