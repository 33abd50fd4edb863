"""Checkpoints: where readers and random generators are, together, as a small file of JSON.

>>> import penstock.experimental.dynamic as ndd
>>> kept = ndd.checkpoint.Checkpoint()
>>> rng = ndd.random.RNG(seed=3)
>>> kept.register(rng, "numbers")
'numbers'
>>> kept.collect()
>>> text, number = kept.serialize(), rng()
>>> other = ndd.checkpoint.Checkpoint()
>>> other.deserialize(text)
>>> again = ndd.random.RNG(seed=4)
>>> _ = other.register(again, "numbers")
>>> again() == number
True
"""

from __future__ import annotations

import glob
import json
import os
import re
from typing import Any

from penstock.errors import ArgumentError, ArgumentTypeError, GraphError

_VERSION = 1
_PLACE = re.compile(r"\{seq(:[^}]*)?\}")


class Checkpoint:
    """The states of objects with ``get_state`` and ``set_state``, by name: readers and generators."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets all objects and states."""
        self._objects: dict[str, Any] = {}
        self._states: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._waiting: set[str] = set()
        self._complete = self._loaded = False

    @property
    def names(self) -> list[str]:
        """Of the registered objects."""
        return list(self._objects)

    @property
    def is_complete(self) -> bool:
        """Whether the states are those of the last `collect`."""
        return self._complete

    @property
    def is_loaded(self) -> bool:
        """Whether the states are those of a file or a text."""
        return self._loaded

    def register(self, op: Any, name: str | None = None) -> str:
        """Adds an object, and returns its name; one that was loaded under that name is given its state at once.

        Without a name it has the one that it was registered by before, or the next number.
        """
        if not (hasattr(op, "get_state") and hasattr(op, "set_state")):
            raise ArgumentTypeError(f"Checkpoint.register: {op!r}: expected a reader or an RNG")
        if name is None:
            known = (key for key, one in self._objects.items() if one is op)
            name = next(known, None) or f"__op_{sum(key.startswith('__op_') for key in self._objects)}"
        elif name.startswith("__"):
            raise ArgumentError(f"Checkpoint.register: name={name!r}: names with two underscores in front are taken")
        self._objects[name] = op
        self._give(name)
        return name

    def collect(self) -> None:
        """Asks all objects for their states. GraphError where there is a state of an object that is not registered."""
        missing = set(self._states) - set(self._objects)
        if missing:
            raise GraphError(f"Checkpoint.collect: there are states, but no objects, of {sorted(missing)}")
        self._states = {name: str(one.get_state()) for name, one in self._objects.items()}
        self._kinds = {name: type(one).__name__ for name, one in self._objects.items()}
        self._waiting.clear()
        self._complete, self._loaded = True, False

    def restore(self) -> None:
        """Gives all objects their states. GraphError unless states and objects belong together."""
        if self._states and set(self._states) != set(self._objects):
            raise GraphError(
                f"Checkpoint.restore: states of {sorted(self._states)}, but objects {sorted(self._objects)}"
            )
        for name in list(self._waiting):
            self._give(name)

    def _give(self, name: str) -> None:
        if name not in self._waiting or name not in self._objects:
            return
        kind = self._kinds.get(name)
        if kind and kind != type(self._objects[name]).__name__:
            raise ArgumentTypeError(f"Checkpoint: {name!r} is the state of a {kind}, not of {self._objects[name]!r}")
        self._objects[name].set_state(self._states[name])
        self._waiting.discard(name)

    def get_state(self, name: str) -> str:
        """The state under a name; KeyError where there is none."""
        return self._states[name]

    def set_state(self, name: str, value: Any, op_type: Any = None) -> None:
        """Sets the state of an object, which it is given at once, or when it is registered."""
        self._states[name] = str(value)
        if op_type is not None:
            self._kinds[name] = op_type if isinstance(op_type, str) else op_type.__name__
        self._waiting.add(name)
        self._give(name)

    def serialize(self) -> str:
        """All states as JSON. GraphError where there are none."""
        if not self._states:
            raise GraphError("Checkpoint.serialize: there are no states: collect() first")
        return json.dumps({"version": _VERSION, "states": self._states, "kinds": self._kinds})

    def deserialize(self, data: str) -> None:
        """Takes the states of a text that `serialize` gave. ArgumentError for another one."""
        try:
            found = json.loads(data)
            version, states, kinds = found["version"], dict(found["states"]), dict(found["kinds"])
        except (ValueError, KeyError, TypeError) as e:
            raise ArgumentError("Checkpoint.deserialize: expected what serialize() gave") from e
        if version != _VERSION:
            raise ArgumentError(f"Checkpoint.deserialize: version {version}, but this library reads {_VERSION}")
        self._states, self._kinds, self._waiting = states, kinds, set(states)
        self._complete, self._loaded = False, True
        for name in list(states):
            self._give(name)

    def save(self, filename: str) -> str:
        """Writes the states to a file, and returns its name: ``{seq}`` in it is replaced by the next number."""
        name = filename
        if _PLACE.search(filename):
            name = filename.format(seq=max((number for number, _ in _numbered(filename)), default=-1) + 1)
        with open(name, "w", encoding="utf-8") as file:
            file.write(self.serialize())
        return name

    def load(self, filename: str) -> str:
        """Reads a file that `save` wrote, with ``{seq}`` the last one, and returns its name."""
        name = filename
        if _PLACE.search(filename):
            found = _numbered(filename)
            if not found:
                raise FileNotFoundError(f"there is no checkpoint {filename}")
            name = max(found)[1]
        with open(name, encoding="utf-8") as file:
            self.deserialize(file.read())
        return name


def _numbered(pattern: str) -> list[tuple[int, str]]:
    """The files of this pattern, with their numbers."""
    place = _PLACE.search(pattern)
    assert place is not None
    before, after = pattern[: place.start()], pattern[place.end() :]
    names = glob.glob(f"{glob.escape(before)}*{glob.escape(after)}")
    numbers = [(name[len(before) : len(name) - len(after) or None], name) for name in map(os.fspath, names)]
    return [(int(number), name) for number, name in numbers if number.isdecimal()]


def current() -> Checkpoint:
    """The one of this thread's `EvalContext`."""
    from penstock.experimental.dynamic._context import EvalContext

    found: Checkpoint = EvalContext.current().checkpoint
    return found
