"""What all random operators share."""

from __future__ import annotations

from penstock.op import Op, arg


class RandomOp(Op):
    """Base of operators that draw random numbers.

    The numbers depend on the seed, the operator, the epoch and the sample alone: not on batches, threads, machines or
    devices.
    """

    random = True
    metadata_inputs = (0,)

    shape = arg(
        None,
        "The output's shape. Default: that of the input that gives it, or else a single number.",
        kind="integers",
        per_sample=True,
        aka=["size"],
    )
