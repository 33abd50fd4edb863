"""How a reader's samples came into a GPU's memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reads:
    """Samples of one reader.

    Attributes:
        straight: how many cuFile read there.
        copied: how many were read into the host's memory and copied, by the reason.
    """

    straight: int = 0
    copied: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All of them."""
        return self.straight + sum(self.copied.values())

    def since(self, before: Reads) -> Reads:
        """Those that came since then."""
        copied = {why: n - before.copied.get(why, 0) for why, n in self.copied.items()}
        return Reads(self.straight - before.straight, {why: n for why, n in copied.items() if n})

    def __str__(self) -> str:
        if not self.copied:
            return f"{self.straight} samples by cuFile"
        reasons = [f"{n} through the host's memory ({why})" for why, n in self.copied.items()]
        return "; ".join([f"{self.straight} of {self.total} samples by cuFile", *reasons])
