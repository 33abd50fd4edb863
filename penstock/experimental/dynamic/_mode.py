"""When operators run."""

from __future__ import annotations

import enum

from penstock.experimental.dynamic._entered import Entered


class EvalMode(Entered, enum.Enum):
    """When operators run; ``with EvalMode.sync_cpu:`` sets it for a block, on one thread.

    - ``deferred``, ``eager``: when their results are asked for, all that lead to these in one go, fused as in a
      pipeline. What is wrong with arguments is an error at once, what is wrong with data when it is computed; it names
      the line of the call.
    - ``sync_cpu``, ``sync_full``: before the call returns; a debugger then stops where the error is made.

    ``default`` is ``eager``. Results are the same in all of them.

    >>> import penstock.experimental.dynamic as ndd
    >>> with ndd.EvalMode.sync_full:
    ...     print(ndd.EvalMode.current())
    EvalMode.sync_full
    """

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4
    default = 2

    @staticmethod
    def current() -> EvalMode:
        """This thread's."""
        return EvalMode._innermost() or EvalMode.default

    @property
    def waits(self) -> bool:
        """Whether calls compute their results before they return."""
        return self.value >= EvalMode.sync_cpu.value
