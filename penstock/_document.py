"""Texts from outside, as JSON: parsed, and taken apart field by field.

Such a text may have been changed by hand or by chance. Whatever is not as expected is an ArgumentError that says where
in the text that is, and what it should have been.
"""

from __future__ import annotations

import json
import reprlib
from typing import Any

from penstock.errors import ArgumentError

_INT64 = 2**63
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def short(value: Any) -> str:
    """As errors show it."""
    return _SHORT.repr(value)


class Field:
    """A value of a document, and where it is: ``deserialize: operators[3].inputs[0]``."""

    def __init__(self, value: Any, what: str, path: str = ""):
        self.value = value
        self.what = what  # whose text it is, as errors begin
        self.path = path

    def wrong(self, expected: str) -> ArgumentError:
        """The error that this value is not as expected."""
        where = self.path or "the text"
        return ArgumentError(f"{self.what}: {where} is {short(self.value)}: expected {expected}")

    def fields(self) -> dict[str, Field]:
        """Those of an object, by name."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return {name: self._at(value, f".{name}" if self.path else name) for name, value in self.value.items()}

    def fields_of(self, required: frozenset[str], others: frozenset[str] = frozenset()) -> dict[str, Field]:
        """Those of an object that has all of the first, and maybe some of the others."""
        found = self.fields()
        for name in sorted(required - set(found)):
            raise self.wrong(f"an object with {name!r}")
        for name in found:
            if name not in required and name not in others:
                known = ", ".join(sorted(required | others)) or "nothing"
                raise ArgumentError(f"{self.what}: {self.path or 'the text'} has {short(name)}, expected {known}")
        return found

    def items(self, count: int | None = None) -> list[Field]:
        """Those of a list, which has ``count`` if that is given."""
        if not isinstance(self.value, list) or count not in (None, len(self.value)):
            raise self.wrong("a list" if count is None else f"a list of {count}")
        return [self._at(value, f"[{i}]") for i, value in enumerate(self.value)]

    def whole(self, least: int = -_INT64, most: int = _INT64 - 1) -> int:
        """A whole number within these limits."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong("a whole number")
        if not least <= self.value <= most:
            raise self.wrong(f"a whole number from {least} to {most}")
        return self.value

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def text(self) -> str:
        """A string, which can be a file's name."""
        if not isinstance(self.value, str) or "\0" in self.value:
            raise self.wrong("a string")
        try:
            self.value.encode(errors="surrogateescape")
        except UnicodeEncodeError:
            raise self.wrong("a string of whole characters") from None
        return self.value

    def _at(self, value: Any, step: str) -> Field:
        return Field(value, self.what, self.path + step)


def parse(text: str | bytes | None, what: str, expected: str) -> Field:
    """The document; ``expected`` says what it should have been where it is no JSON at all."""
    if not isinstance(text, (str, bytes)):
        raise ArgumentError(f"{what}: {short(text)} is not {expected}")
    try:
        return Field(json.loads(text, object_pairs_hook=_each_once), what)
    except (ValueError, RecursionError) as e:
        raise ArgumentError(f"{what}: {short(text)} is not {expected}: {e}") from e


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a name twice")
    return found
