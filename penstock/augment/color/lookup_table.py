"""``fn.lookup_table``: each value replaced by another."""

from __future__ import annotations

from penstock import types
from penstock.arguments.dtype import OldDtypeArgs
from penstock.op import arg, op

_LARGEST_KEY = 65535


@op("lookup_table", contract="pixel", devices=("cpu", "gpu"))
class LookupTable(OldDtypeArgs):
    """Replaces each value by the one that a table has for it.

    Where the input is ``keys[i]``, the output is ``values[i]``; of equal keys the last one counts. Whatever is no key
    becomes ``default_value``. The values are floats, converted to ``dtype`` as by ``fn.cast``.

    Input: a tensor of any shape and layout, of any type of integers. Output: the same shape and layout, of ``dtype``.

    Errors: ArgumentError for keys below 0 or above 65535, and if ``keys`` and ``values`` differ in number;
    OperatorError for inputs that are no integers.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.lookup_table(np.uint8([1, 2, 3, 200]), keys=[1, 3], values=[0.5, 1.5], default_value=-1)
        >>> pipeline().run()[0].at(0).tolist()
        [0.5, -1.0, 1.5, -1.0]
    """

    keys = arg([], "Values of the input that the table has, from 0 to 65535.", kind="integers")
    values = arg([], "What becomes of each key.", kind="numbers")
    default_value = arg(0.0, "What becomes of all other values.")
    dtype = arg(types.FLOAT, "Type of the output.")

    def prepare(self) -> None:
        super().prepare()
        if len(self.keys) != len(self.values):
            raise self.wrong("keys", f"expected as many keys as values, which are {len(self.values)}")
        if any(not 0 <= key <= _LARGEST_KEY for key in self.keys):
            raise self.wrong("keys", f"expected numbers from 0 to {_LARGEST_KEY}")
