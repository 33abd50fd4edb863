"""``fn.power_spectrum``: which frequencies an axis has."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg, op


@op("power_spectrum")
class PowerSpectrum(Op):
    """Gives the power of each frequency of an axis, from 0 to half the sample rate: ``nfft // 2 + 1`` of them.

    A transform may have any length up to 2**24; those without a prime factor above 31 are faster.

    Input: FLOAT of any shape with at least one axis. Output: FLOAT, the same layout, with the bins on ``axis``.

    Errors: ArgumentError for another ``power``, and an ``nfft`` that is too large; OperatorError for other types, an
    ``axis`` that is not there, and one without elements.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.power_spectrum(np.float32([1, -1, 1, -1]))
        >>> pipeline().run()[0].at(0).tolist()
        [0.0, 0.0, 16.0]
    """

    axis = arg(-1, "The axis that is transformed; negative numbers count from the last one.", aka=["dim"])
    nfft = arg(
        None,
        "Length of the transform: zeros are added to the axis, or what lies behind is left out. Unless given, and "
        "if it is not positive, the axis's own.",
        kind="integer",
        aka=["n_fft"],
    )
    power = arg(2, "1: magnitudes; 2: their squares.")

    def prepare(self) -> None:
        if self.power not in (1, 2):
            raise self.wrong("power", "expected 1 or 2")
        if self.nfft is not None and self.nfft > 1 << 24:
            raise self.wrong("nfft", f"expected up to {1 << 24}")

    def kernel_arguments(self) -> dict[str, Any]:
        return {**super().kernel_arguments(), "nfft": self.nfft or 0}
