"""``fn.decoders.numpy``: the arrays in NumPy's files."""

from __future__ import annotations

from penstock.arguments.on_error import OnErrorArgs
from penstock.op import arg, op
from penstock.types.convert import NUMBERS


@op("decoders.numpy", kernel="decode_numpy")
class Numpy(OnErrorArgs):
    """Decodes the bytes of a ``.npy`` file.

    Input: the bytes, uint8 of shape ``(size,)``. Output: the array, of the file's shape and type, or of ``dtype``:
    then floats are rounded half away from zero, and what does not fit saturates. It has no layout.

    Errors: DecodeError for bytes that are no such file, or of another length than it tells; OperatorError for arrays of
    complex numbers, texts, objects and records.

    Unlike DALI it takes versions 2 and 3 of the format as well, and numbers whose bytes are the other way round.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> np.save(file, np.float32([[1.5, 2], [300, 4]]))
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.decoders.numpy(np.frombuffer(file.getvalue(), np.uint8), dtype=types.UINT8)
        >>> pipeline().run()[0].at(0).tolist()
        [[2, 2], [255, 4]]
    """

    stage = "decode"
    setup_reads = (0,)
    mixes = True

    dtype = arg(None, "Type of the output; default: the file's.", kind="dtype", choices=NUMBERS)
