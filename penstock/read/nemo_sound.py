"""Parts of sounds: the operator behind `fn.readers.nemo_asr`."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.arguments.quality import ResampleQualityArgs
from penstock.op import arg, op


@op("_readers.nemo_sound", kernel="nemo_sound", inputs=2)
class NemoSound(ResampleQualityArgs, OnErrorArgs):
    """Decodes a part of a sound.

    Inputs: the bytes of a file, uint8 of shape ``(size,)``; where the part begins and how long it is, in seconds,
    FLOAT64 of shape ``(2,)``: less than nothing is the file's beginning, and all that follows. Outputs: the samples;
    and how many of the file's samples make a second, FLOAT.
    """

    stage = "decode"
    setup_reads = (0, 1)

    sample_rate = arg(-1.0, "Samples for a second of the result; 0 or less: as in the file.")
    downmix = arg(True, "Mix all channels to one.")
    dtype = arg(types.FLOAT, "Type of the samples.", choices=(types.FLOAT, types.INT16, types.INT32))

    def num_outputs(self) -> int:
        return 2
