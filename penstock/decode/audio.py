"""``fn.decoders.audio``: sounds out of files."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.arguments.quality import ResampleQualityArgs
from penstock.op import arg, op


@op("decoders.audio", kernel="decode_audio", legacy=["audio_decoder"])
class Audio(ResampleQualityArgs, OnErrorArgs):
    """Decodes sounds, whatever a file's name says: WAV, FLAC, Ogg (Vorbis, Opus), MP3, AIFF, AU, CAF and what else
    libsndfile knows.

    That library is loaded when the first sound comes: the system's, or else the one that
    ``pip install penstock[audio]`` brings. MP3 needs its version 1.1.

    Samples are those that it decodes; as FLOAT full scale is 1. Then channels are mixed to one, by their mean, if
    ``downmix`` asks for it, and the sound is resampled as `audio_resample` does it, if ``sample_rate`` is another one
    than the file's. For that all is computed in FLOAT, and rounded to integers in the end. Files of floats become
    integers by full scale, too. (DALI rounds these to 0 and 1, and has no MP3. Where ``sample_rate`` is negative, it
    says that to be the rate.)

    Input: the bytes of a file, uint8 of shape ``(size,)``. Outputs: the samples, of type ``dtype``, of shape
    ``(samples, channels)``, with ``downmix`` ``(samples,)``; and how many of them make a second, a FLOAT.

    Errors: DecodeError for files that are no sound, broken or cut off, and for sounds of more samples, of all channels
    together, than pixels are allowed (`penstock.backend.set_max_decoded_pixels`). A WAV file may end early, since
    programs write its header before they know the length: what is there is decoded, as DALI does it. OperatorError
    where libsndfile is missing: it says what to install.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=sounds)
        ...     return fn.decoders.audio(files, downmix=True, sample_rate=16000.0)
        >>> sound, rate = pipeline().run()
        >>> sound.dtype, rate.as_array().tolist()
        (DALIDataType.FLOAT, [16000.0, 16000.0])
    """

    stage = "decode"
    setup_reads = (0,)

    sample_rate = arg(
        0.0, "Samples for a second of the result; 0 or less: as in the file.", per_sample=True, aka=["rate", "sr"]
    )
    downmix = arg(False, "Mix all channels to one.", aka=["mono"])
    dtype = arg(types.FLOAT, "Type of the samples.", choices=(types.FLOAT, types.INT16, types.INT32))

    def num_outputs(self) -> int:
        return 2
