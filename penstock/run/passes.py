"""How samples went through a group of operators that is meant to be one pass over the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Passes:
    """Samples of one group of operators.

    Attributes:
        together: how many went through all operators in one pass, or on a GPU in one kernel.
        apart: how many went operator by operator, by the operator that they do not fit and the reason. Results are the
            same, but they take longer.
    """

    together: int = 0
    apart: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All of them."""
        return self.together + sum(self.apart.values())

    def since(self, before: Passes) -> Passes:
        """Those that came since then."""
        apart = {why: n - before.apart.get(why, 0) for why, n in self.apart.items()}
        return Passes(self.together - before.together, {why: n for why, n in apart.items() if n})

    def __str__(self) -> str:
        if not self.apart:
            return f"{self.together} samples in one pass"
        reasons = [f"{n} operator by operator ({operator}: {why})" for (operator, why), n in self.apart.items()]
        return "; ".join([f"{self.together} of {self.total} samples in one pass", *reasons])
