"""Texts changed by chance: JSON by its structure and by its bytes, and index files with the sums put right."""

from __future__ import annotations

import json
from random import Random
from typing import Any

# Numbers at which limits lie, and what is no number at all.
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 7, 12, 13, 64, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**62,
    2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 0.0, -0.0, 0.5, -1.5, 1e-300, 1e18, 1e300, float("inf"),
    float("-inf"), float("nan"),
]  # fmt: skip
STRINGS = [
    "",
    "x",
    "cpu",
    "gpu",
    "mixed",
    "HWC",
    "CHW",
    "FHWC",
    "HWCHWCHWCHWCHWC",
    "a\0b",
    "\ud800",
    "\udcff",
    "é" * 40,
    "/",
]
OTHERS: list[Any] = [None, True, False, [], {}, [[]], [None], {"": 0}, [0] * 40]
Path = list[Any]


def places(value: Any, path: Path | None = None) -> list[tuple[Any, Any]]:
    """All (container, key) in a document."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else []
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


def _other(random: Random, value: Any, all_places: list[tuple[Any, Any]]) -> Any:
    """Something in place of a value: near it, at a limit, of another type, or from elsewhere in the document."""
    kind = random.randrange(6)
    if kind == 0:
        container, key = random.choice(all_places)
        return json.loads(json.dumps(container[key]))
    if kind == 1:
        return json.loads(json.dumps(random.choice(OTHERS)))  # a copy, for it may be changed next
    if isinstance(value, bool):
        return not value
    if isinstance(value, int) and kind < 5:
        return value + random.choice([-2, -1, 1, 1, 2, 10])
    if isinstance(value, float) and kind < 5:
        return value * random.choice([-1, 0, 0.5, 2, 100])
    if isinstance(value, str) and value and kind < 4:
        at = random.randrange(len(value))
        return value[:at] + random.choice(["", value[at] * 3, "?", "/"]) + value[at + 1 :]
    if isinstance(value, list) and value and kind < 4:
        return value[: random.randrange(len(value))]
    return random.choice(STRINGS if isinstance(value, str) else NUMBERS)


def changed(document: Any, random: Random) -> Any:
    """The document with one to three changes of its structure."""
    document = json.loads(json.dumps(document))
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        found = places(document)
        if not found:
            return document
        container, key = random.choice(found)
        kind = random.randrange(8)
        if kind == 0:
            del container[key]
        elif kind == 1 and isinstance(container, list):
            container.insert(random.randrange(len(container) + 1), container[key])
        elif kind == 1:
            container[random.choice([k for c, k in found if isinstance(k, str)])] = container[key]
        elif kind == 2:
            other, place = random.choice(found)
            container[key], other[place] = json.loads(json.dumps(other[place])), json.loads(json.dumps(container[key]))
        elif kind == 3 and isinstance(container, dict):
            container[random.choice([k for c, k in found if isinstance(k, str)])] = container.pop(key)
        else:
            container[key] = _other(random, container[key], found)
    return document


def broken(text: bytes, random: Random) -> bytes:
    """The text with one to four changes of its bytes."""
    data = bytearray(text)
    for _ in range(random.randint(1, 4)):
        if not data:
            break
        at, some = random.randrange(len(data)), random.choice([1, 1, 2, 5, 50])
        kind = random.randrange(6)
        if kind == 0:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[at] = random.choice(b'0123456789-.eE"[]{},:x\\ntf\0\xff')
        elif kind == 2:
            del data[at : at + some]
        elif kind == 3:
            data[at:at] = data[at : at + some]
        elif kind == 4:
            data[at:at] = random.choice([b"9" * some, b"[" * some * 100, b"null", b"-", b"1e", b'"'])
        else:
            del data[at:]
    return bytes(data)


def bomb(random: Random) -> bytes:
    """Deeply nested, or with a very long number."""
    n = random.choice([100, 1000, 10_000, 100_000])
    return random.choice(
        [b"[" * n + b"]" * n, b'{"a":' * n + b"1" + b"}" * n, b"9" * n, b'{"penstock": ' + b"9" * n + b"}"]
    )


def mutant(text: bytes, random: Random) -> bytes:
    """A changed text."""
    kind = random.random()
    if kind < 0.002:
        return bomb(random)
    if kind < 0.25:
        return broken(text, random)
    return json.dumps(changed(json.loads(text), random)).encode()


_MASK, _ODD = 2**64 - 1, 0x9E3779B97F4A7C15


def content_hash(*pieces: bytes) -> int:
    """As native/decode/jpeg/content_hash.h computes it: each piece is filled up with zeros."""
    lanes = [1, 2, 3, 4]
    padded = b"".join(piece + bytes(-len(piece) % 32) for piece in pieces)
    for at in range(0, len(padded), 8):
        lane = lanes[at // 8 % 4]
        word = int.from_bytes(padded[at : at + 8], "little")
        lanes[at // 8 % 4] = (((lane << 29 | lane >> 35) & _MASK) ^ word) * _ODD & _MASK

    def mixed(x: int) -> int:
        x = (x ^ x >> 32) * 0xD6E8FEB86659FD93 & _MASK
        return (x ^ x >> 29) * _ODD & _MASK ^ x >> 32

    found = mixed(sum(map(len, pieces)))
    for lane in lanes:
        found = mixed(found * _ODD & _MASK ^ lane)
    return found


def summed(index: bytes) -> bytes:
    """An index file with the sums of its head and of all records it leads to put right, as far as they are there."""
    data = bytearray(index)

    def number(at: int, size: int = 8) -> int:
        return int.from_bytes(data[at : at + size], "little")

    if len(data) < 56:
        return index
    data[48:56] = content_hash(bytes(data[:48])).to_bytes(8, "little")
    entries, table = number(32), number(40)
    for i in range(min(entries, 100)):
        at = number(table + 16 * i + 8)
        size = 48 + number(at + 32, 4) * 16 + number(at + 36, 4) * 4
        if at + size <= len(data):
            pieces = bytes(data[at + 8 : at + 48]), bytes(data[at + 48 : at + size])
            data[at : at + 8] = content_hash(*pieces).to_bytes(8, "little")
    return bytes(data)


def changed_index(index: bytes, random: Random) -> bytes:
    """An index file with changed bytes or numbers, most of them with sums that fit again."""
    if random.random() < 0.3:
        data = bytearray(broken(index, random))
    else:
        data = bytearray(index)
        for _ in range(random.randint(1, 3)):
            size = random.choice([1, 4, 4, 8])
            at = random.randrange(max(len(data) // size, 1)) * size
            old = int.from_bytes(data[at : at + size], "little")
            number = random.choice(
                [0, 1, old + 1, old - 1, old + 8, old * 2, 2**31, 2**32 - 1, 2**63, random.getrandbits(64)]
            )
            data[at : at + size] = (number & (2 ** (8 * size) - 1)).to_bytes(size, "little")[: len(data) - at]
    return summed(bytes(data)) if random.random() < 0.8 else bytes(data)
