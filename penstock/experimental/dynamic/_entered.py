"""What a ``with`` block makes its thread's: a device, a mode, a context."""

from __future__ import annotations

import threading
from typing import Any, ClassVar, TypeVar

_Self = TypeVar("_Self", bound="Entered")


class Entered:
    """Base of classes whose objects are a thread's inside of ``with``. Each such class goes by itself."""

    _within: ClassVar[threading.local]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if Entered in cls.__bases__:
            cls._within = threading.local()

    @classmethod
    def _innermost(cls: type[_Self]) -> _Self | None:
        """That of this thread's innermost block; None: there is none."""
        stack = getattr(cls._within, "stack", None)
        return stack[-1] if stack else None

    def __enter__(self: _Self) -> _Self:
        if not hasattr(self._within, "stack"):
            self._within.stack = []
        self._within.stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._within.stack.pop()
