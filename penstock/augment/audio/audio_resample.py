"""``fn.audio_resample``: signals at another rate."""

from __future__ import annotations

from penstock import types
from penstock.arguments.quality import ResampleQualityArgs
from penstock.op import arg, op


@op("audio_resample", devices=["cpu", "gpu"], legacy=["experimental.audio_resample"])
class AudioResample(ResampleQualityArgs):
    """Resamples signals: the rate is changed by the factor ``scale``, or from ``in_rate`` to ``out_rate``, or so that
    there are ``out_length`` samples.

    Each sample is a sum of its neighbours, weighted by a sinc under a Hann window. The window is as wide for lower
    rates, so that what the new rate cannot hold comes back at other frequencies: filter it out before, as with DALI.

    Input: samples, of shape ``(samples,)`` or ``(samples, channels)``, FLOAT or integers of 8 to 32 bits. Output: the
    same axes and layout, of type ``dtype``, with ``ceil(samples * scale)`` samples. Full scale of a type becomes full
    scale of the other, FLOAT's is 1; the zero of unsigned integers is in their middle.

    (DALI has places in the signal in floats, which are off by up to 1/20000 of a sample. Ours are doubles.)

    Errors: ArgumentError unless the result's length is given in just one way; OperatorError for other types and
    shapes, and for rates, factors and lengths that are negative.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.audio_resample(np.ones(200, np.float32), in_rate=16000.0, out_rate=22050.0)
        >>> pipeline().run()[0].at(0).shape
        (276,)
    """

    dtype = arg(
        None,
        "Type of the output; unless given, the input's.",
        kind="dtype",
        choices=(
            types.FLOAT, types.UINT8, types.INT8, types.UINT16, types.INT16, types.UINT32, types.INT32,
        ),
    )  # fmt: skip
    in_rate = arg(None, "Rate of the input, in any unit.", kind="number", per_sample=True, aka=["orig_freq", "orig_sr"])
    out_rate = arg(
        None, "Rate of the output, in the same unit.", kind="number", per_sample=True, aka=["new_freq", "target_sr"]
    )
    scale = arg(None, "The factor.", kind="number", per_sample=True)
    out_length = arg(None, "Samples of the output.", kind="integer", per_sample=True)

    def prepare(self) -> None:
        super().prepare()
        rates = self.given & {"in_rate", "out_rate"}
        if len(rates) == 1:
            missing = ({"in_rate", "out_rate"} - rates).pop()
            raise self.wrong(missing, "in_rate and out_rate are to be given together")
        ways = [name for name in ("in_rate", "scale", "out_length") if name in self.given]
        if len(ways) != 1:
            given = f"got {' and '.join(ways)}" if ways else "got none"
            raise self.wrong("scale", f"expected just one of in_rate with out_rate, scale, and out_length; {given}")
