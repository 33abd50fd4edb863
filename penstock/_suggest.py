"""What a mistyped or misremembered name was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

_NOT_ALIKE = 0.75  # of difflib's ratio


def suggestion(name: str, known: Iterable[str], aka: Mapping[str, Sequence[str]] | None = None) -> str:
    """``" Did you mean 'random_shuffle'?"``, to be put behind a sentence; nothing where no name is like it.

    ``aka``: for known names, what else people call them.

    >>> suggestion("shuffel", ["random_shuffle", "shard_id"])
    " Did you mean 'random_shuffle'?"
    >>> suggestion("width", ["resize_x", "resize_y"], {"resize_x": ["width"]})
    " Did you mean 'resize_x'?"
    """
    found = _meant(name, list(known), aka or {})
    return f" Did you mean {' or '.join(map(repr, found))}?" if found else ""


def _meant(name: str, known: list[str], aka: Mapping[str, Sequence[str]]) -> list[str]:
    plain = _plain(name)
    same = [k for k in known if _plain(k) == plain or _words(k) == _words(name)]
    called = [k for k in known if plain in map(_plain, aka.get(k, ()))]
    if same or called:
        return same or called
    scores = {k: _likeness(plain, k) for k in known}
    scores |= {k: max([scores[k], *(_likeness(plain, other) for other in aka.get(k, ()))]) for k in known}
    best = max(scores.values(), default=0.0)
    return [k for k in known if scores[k] == best][:2] if best >= _NOT_ALIKE else []


def _plain(name: str) -> str:
    """Without what people vary: case, underscores and a group in front."""
    return name.rpartition(".")[2].replace("_", "").replace("-", "").lower()


def _words(name: str) -> frozenset[str]:
    return frozenset(name.replace(".", "_").lower().split("_"))


def _likeness(plain: str, known: str) -> float:
    """1 for the same; a word of several that is the whole of the other name counts, too."""
    matcher = difflib.SequenceMatcher(None, plain, "", autojunk=False)
    parts = [_plain(known), *(word for word in known.lower().split("_") if len(word) > 3)]
    scores = []
    for i, part in enumerate(parts):
        matcher.set_seq2(part)
        scores.append(matcher.ratio() - (0.1 if i else 0.0))  # the whole name rather than a word of it
    if len(plain) > 3 and _plain(known).startswith(plain):
        scores.append(0.9)
    return max(scores)
