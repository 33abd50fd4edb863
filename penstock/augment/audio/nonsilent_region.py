"""``fn.nonsilent_region``: where a signal is not silent."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("nonsilent_region", devices=["cpu", "gpu"])
class NonsilentRegion(Op):
    """Finds where a signal begins that is not silent, and how long it is: what to cut out with `slice`.

    A sample is loud if the mean square of the window that ends with it is not less than the threshold, ``cutoff_db``
    below the reference. The region begins with the window of the first loud sample, and ends with the last one. Before
    the signal there are zeros. If no sample is loud, both numbers are 0.

    Input: FLOAT or integers, of one axis. Outputs: begin and length, INT32 of shape ``()``.

    Sums are of doubles. (DALI's are of floats, in which what was loud leaves a trace: there the region may end later.)

    Errors: ArgumentError for a ``window_length`` below 1 and a negative ``reference_power``; OperatorError for other
    types, and more than one axis.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     sound = np.float32([0, 0, 0, 1, -1, 1, 0, 0])
        ...     return tuple(fn.nonsilent_region(sound, window_length=1))
        >>> [int(found.at(0)) for found in pipeline().run()]
        [3, 3]
    """

    cutoff_db = arg(-60.0, "The threshold, in dB from the reference.", aka=["top_db"])
    reference_power = arg(0.0, "The mean square that is 0 dB; 0: the largest of the signal.", aka=["ref"])
    window_length = arg(2048, "Samples of a window; no more than the signal has.", aka=["frame_length"])
    reset_interval = arg(8192, "How many samples a window moves on until it is summed up anew.",
                         unused="sums are exact enough")  # fmt: skip

    def num_outputs(self) -> int:
        return 2

    def prepare(self) -> None:
        if not 1 <= self.window_length <= 1 << 31:
            raise self.wrong("window_length", "expected 1 or more")
        if not 0 <= self.reference_power < float("inf"):
            raise self.wrong("reference_power", "expected a positive number, or 0")
