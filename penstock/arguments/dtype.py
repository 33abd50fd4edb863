"""The type of what an operator makes, by the names that it has and had."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg


class OldDtypeArgs(Op):
    """The name that ``dtype`` had before."""

    dtype: Any  # declared by subclasses
    output_dtype = arg(None, "The old name of `dtype`.", kind="dtype", deprecated="use dtype", to_kernel=False)

    def prepare(self) -> None:
        super().prepare()
        if self.output_dtype is not None:
            if "dtype" in self.given:
                raise self.twice("output_dtype", "dtype")
            self.dtype = self.output_dtype


class OutputTypeArgs(OldDtypeArgs):
    """The type of the output, with the names that it had before."""

    dtype = arg(None, "Type of the output; default: the input's.", kind="dtype", aka=["type", "output_type"])
    image_type = arg(
        None,
        "Formerly: the colour space.",
        kind="image_type",
        unused="nothing depends on it",
        deprecated="leave it out",
    )
