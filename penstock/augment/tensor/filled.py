"""What operators that fill a tensor with a value have in common."""

from __future__ import annotations

from penstock.op import Op, arg, fixed
from penstock.types.convert import NUMBERS


class FilledArgs(Op):
    """What the kernel reads."""

    shape = layout = dtype = value = fixed(None)


class FilledShapeArgs(FilledArgs):
    """Shape and layout of a tensor made from nothing."""

    shape = arg(None, "The output's shape.", kind="integers", per_sample=True)
    layout = arg(None, "The output's layout.", kind="layout")


class FilledLikeArgs(FilledArgs):
    """A tensor like another one."""

    metadata_inputs = (0,)

    dtype = arg(None, "Type of the output. Default: the input's.", kind="dtype", choices=NUMBERS)
