"""``fn.spectrogram``: which frequencies a signal has, and when."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg, op


@op("spectrogram", devices=["cpu", "gpu"])
class Spectrogram(Op):
    """Cuts a signal into windows and gives the power of each frequency in each of them.

    Windows begin ``window_step`` samples apart, are multiplied by ``window_fn`` and transformed with zeros behind
    them, to ``nfft`` numbers in all. Frequencies go from 0 to half the sample rate, in ``nfft // 2 + 1`` bins.

    A transform may have any length up to 2**24; those without a prime factor above 31 are faster. It is computed in
    floats, with factors that were rounded from doubles; its error is about 1e-7 of the largest bin.

    Input: a signal of one channel, FLOAT of shape ``(samples,)``; axes of extent 1 may stand before or behind. Output:
    FLOAT, ``(bins, windows)`` with the layout ``"ft"``, or ``(windows, bins)`` with ``"tf"``.

    Errors: ArgumentError for lengths below 1, ``nfft`` below ``window_length``, another ``power`` and a ``window_fn``
    of another length; OperatorError for other types, several channels, empty signals, and without ``center_windows``
    for those that are shorter than a window.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     tone = np.sin(np.arange(4000, dtype=np.float32) * (2 * np.pi * 10 / 64))
        ...     return fn.spectrogram(tone, nfft=64, window_length=64, window_step=32)
        >>> found = pipeline().run()[0].at(0)
        >>> found.shape, int(found[:, 50].argmax())
        ((33, 126), 10)
    """

    nfft = arg(None, "Length of the transform; unless given, that of a window.", kind="integer", aka=["n_fft"])
    window_length = arg(512, "Samples of a window.", aka=["win_length"])
    window_step = arg(256, "Samples from one window to the next.", aka=["hop_length"])
    window_fn = arg(None, "Factors of a window's samples; unless given, a Hann window.", kind="numbers", aka=["window"])
    power = arg(2, "1: magnitudes; 2: their squares.")
    center_windows = arg(
        True,
        "Windows are centered on multiples of the step; else the first one begins with the signal.",
        aka=["center"],
    )
    reflect_padding = arg(
        True, "Windows that reach beyond the signal see it reflected, without its last sample; else zeros."
    )
    layout = arg("ft", 'Axes of the output: "ft" or "tf".', choices=("ft", "tf"))

    def prepare(self) -> None:
        if self.power not in (1, 2):
            raise self.wrong("power", "expected 1 or 2")
        for name in ("window_length", "window_step"):
            if not 1 <= getattr(self, name) <= 1 << 24:
                raise self.wrong(name, f"expected 1 to {1 << 24}")
        if self.nfft is None:
            self.nfft = self.window_length
        if not self.window_length <= self.nfft <= 1 << 24:
            raise self.wrong("nfft", f"expected window_length={self.window_length} to {1 << 24}")
        if self.window_fn is not None and len(self.window_fn) != self.window_length:
            raise self.wrong("window_fn", f"{len(self.window_fn)} values, expected window_length={self.window_length}")

    def kernel_arguments(self) -> dict[str, Any]:
        return {**super().kernel_arguments(), "nfft": self.nfft}
