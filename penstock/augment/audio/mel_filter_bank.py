"""``fn.mel_filter_bank``: spectra in bands that are as wide as they sound."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg, op


@op("mel_filter_bank", devices=["cpu", "gpu"])
class MelFilterBank(Op):
    """Sums up the bins of a spectrum in triangular bands, whose middles are equally far apart on the mel scale.

    A band begins in the middle of the one below and ends in the middle of the one above. The input's bins are taken to
    be those of a transform: from 0 to half the sample rate.

    Input: FLOAT of any shape, of which one axis has the bins: ``f`` in its layout; without a layout, the last but one,
    or the only one. Output: FLOAT, the same layout, with ``nfilter`` bands on that axis.

    Errors: ArgumentError for no bands, a rate that is not positive, and frequencies that are negative or in the wrong
    order; OperatorError for other types, and layouts without ``f``.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     spectrum = np.ones((257, 3), np.float32)
        ...     return fn.mel_filter_bank(spectrum, nfilter=80, sample_rate=16000.0)
        >>> pipeline().run()[0].at(0).shape
        (80, 3)
    """

    nfilter = arg(128, "Number of bands.", aka=["n_mels"])
    sample_rate = arg(44100.0, "Samples per second of the signal that the spectrum is of.", aka=["sr"])
    freq_low = arg(0.0, "Where the lowest band begins, in Hz.", aka=["fmin", "f_min"])
    freq_high = arg(0.0, "Where the highest band ends, in Hz; 0: half the sample rate.", aka=["fmax", "f_max"])
    normalize = arg(True, "Bands have the area 1 over frequencies in Hz; else the height 1.", aka=["norm"])
    mel_formula = arg(
        "slaney", 'The mel scale: "slaney", linear up to 1000 Hz; or "htk".', choices=("slaney", "htk"), aka=["htk"]
    )

    def prepare(self) -> None:
        if not 1 <= self.nfilter <= 1 << 24:
            raise self.wrong("nfilter", "expected 1 or more")
        if not 0 < self.sample_rate < float("inf"):
            raise self.wrong("sample_rate", "expected a positive number")
        if not 0 <= self.freq_low < self._highest() < float("inf"):
            raise self.wrong("freq_low", f"expected 0 to the upper end, freq_high={self._highest():g}")

    def _highest(self) -> float:
        return float(self.freq_high if self.freq_high > 0 else self.sample_rate / 2)

    def kernel_arguments(self) -> dict[str, Any]:
        return {**super().kernel_arguments(), "freq_high": self._highest()}
