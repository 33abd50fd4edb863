"""What becomes of samples that cannot be read or decoded."""

from __future__ import annotations

from penstock.op import Op, arg


class OnErrorArgs(Op):
    """Base of operators that may meet broken files."""

    on_error = arg(
        "raise",
        "What becomes of a broken file: 'raise' an exception; 'skip' it, so that the samples behind it move up and the "
        "epoch is shorter; or 'replace' it by another sample of the same part. At the end of the epoch a warning "
        "counts and names the files, as `Pipeline.broken_samples` does at any time.",
        choices=("raise", "skip", "replace"),
        to_kernel=False,
    )
