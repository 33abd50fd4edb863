"""Frames of a sequence from their files: the operator behind `fn.readers.sequence`."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.op import arg, op


@op("_readers.sequence_frames", kernel="sequence_frames", inputs=2)
class SequenceFrames(OnErrorArgs):
    """Decodes pictures of one size.

    Inputs: the bytes of their files, one behind the other, uint8 of shape ``(size,)``; how many bytes each has, int64.
    Output: the pictures, uint8 of shape ``(frames, height, width, channels)``, layout FHWC.
    """

    stage = "decode"
    setup_reads = (0, 1)

    image_type = arg(types.RGB, "Colours of the output.")
