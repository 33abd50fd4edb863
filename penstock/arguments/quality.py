"""How sounds are resampled: an argument of the decoder and of `audio_resample`."""

from __future__ import annotations

from penstock.op import Op, arg


class ResampleQualityArgs(Op):
    """How many neighbours make a sample."""

    quality = arg(
        50.0,
        "From 0 to 100: how many samples to each side make one of a resampled signal. 0 is 3, 50 is 16, 100 is 64.",
    )

    def prepare(self) -> None:
        super().prepare()
        if not 0 <= self.quality <= 100:
            raise self.wrong("quality", "expected 0 to 100")
