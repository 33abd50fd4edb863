"""Why names of DALI's are refused, and what to use instead."""

from __future__ import annotations

REASONS: dict[str, str] = {}


def reason(name: str) -> str | None:
    """Why a module, or a name of a module, is not supported: what is said of it, or of what it lies in."""
    while name:
        if name in REASONS:
            return REASONS[name]
        name = name.rpartition(".")[0]
    return None
