"""What came of a case in one library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Output:
    """One output of the pipeline, sample by sample."""

    dtype: int  # DALI's number
    layout: str
    arrays: tuple[Array, ...]


@dataclass(frozen=True)
class Outcome:
    """Outputs, or an exception, or the end of the process."""

    outputs: tuple[Output, ...] = ()
    classes: tuple[str, ...] = ()  # Python's own among the exception's
    error: str = ""  # the name of its own class
    message: str = ""
    own: bool = False  # whether it is one of those that the library raises on purpose
    died: str = ""  # how

    @property
    def ran(self) -> bool:
        return not self.classes and not self.died

    def __str__(self) -> str:
        if self.died:
            return self.died
        if self.classes:
            lines = [line for line in self.message.splitlines() if line.strip()] or [""]
            return f"{self.error}: {next((line for line in lines if 'ritical' not in line), lines[0])[:300]}"
        return ", ".join(f"{o.dtype} {o.layout!r} {[a.shape for a in o.arrays]}" for o in self.outputs)
