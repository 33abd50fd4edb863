"""``fn.to_decibels``: powers on a logarithmic scale."""

from __future__ import annotations

import math

from penstock.op import Op, arg, op


@op("to_decibels", devices=["cpu", "gpu"])
class ToDecibels(Op):
    """Makes decibels of powers or magnitudes: ``multiplier * log10(x / reference)``.

    Ratios are limited from below, so that the result is no less than ``cutoff_db``. What is no number becomes that,
    too. Logarithms are exact to about two units in the last place.

    Input: FLOAT of any shape and layout. Output: the same.

    Errors: ArgumentError for arguments that are infinite or no numbers; OperatorError for other types.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.to_decibels(np.float32([100, 1, 0]), cutoff_db=-80)
        >>> pipeline().run()[0].at(0).round(3).tolist()
        [0.0, -20.0, -80.0]
    """

    multiplier = arg(10.0, "10.0 for powers, 20.0 for magnitudes.")
    reference = arg(0.0, "What 0 dB is; 0: the largest number of the sample, or 1 if none is positive.", aka=["ref"])
    cutoff_db = arg(-200.0, "The least result.", aka=["top_db", "amin"])

    def prepare(self) -> None:
        for name in ("multiplier", "reference", "cutoff_db"):
            if not math.isfinite(getattr(self, name)):
                raise self.wrong(name, "expected a finite number")
