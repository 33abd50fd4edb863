"""``fn.decoders.inflate``: compressed tensors."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.op import REQUIRED, arg, op
from penstock.types.convert import NUMBERS


@op("decoders.inflate", kernel="inflate", devices=["cpu", "gpu"], legacy=["experimental.inflate"])
class Inflate(OnErrorArgs):
    """Inflates tensors that were compressed as LZ4 blocks.

    Input: compressed bytes, uint8 of shape ``(size,)``: one block, or with ``chunk_offsets`` or ``chunk_sizes``
    several, which have the same shape when they are inflated. Output: a tensor of ``shape`` and ``dtype``; several
    chunks make one more axis before the others.

    Errors: ArgumentError for other algorithms; OperatorError for chunks that are not in the input, and for layouts that
    do not fit the shape; DecodeError for blocks that are broken or have another number of bytes than the shape, naming
    the sample and its file. For that a batch on a GPU is waited for, when its blocks have been inflated.

    DALI has it on GPUs only, and fills broken blocks with zeros.

    Example:
        >>> block = np.uint8([0x1A, 7, 1, 0, 0x50, 1, 2, 3, 4, 5])  # 7, that 14 times more, then 1 to 5
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.decoders.inflate(block, shape=[4, 5])
        >>> pipeline().run()[0].at(0)[-1].tolist()
        [1, 2, 3, 4, 5]
    """

    stage = "decode"

    shape = arg(REQUIRED, "Shape of the output, or of each chunk of it.", kind="integers", per_sample=True)
    dtype = arg(types.UINT8, "Type of the output.", choices=NUMBERS)
    chunk_offsets = arg(
        None, "Where each chunk begins in the input; default: where the last one ends.", kind="integers",
        per_sample=True, only_given=True,
    )  # fmt: skip
    chunk_sizes = arg(
        None, "Bytes of each chunk in the input; default: as far as the next one.", kind="integers", per_sample=True,
        only_given=True,
    )  # fmt: skip
    algorithm = arg("LZ4", "How the input was compressed: 'LZ4', in any case.", to_kernel=False)
    layout = arg("", "Layout of the output, or of each chunk of it.", kind="layout")
    sequence_axis_name = arg("F", "Name of the axis of chunks, where there is a `layout`.", kind="layout")
    check_output_size = arg(
        False, "Check how many bytes there are before they are inflated.", unused="all writing is checked"
    )

    def prepare(self) -> None:
        super().prepare()
        if self.algorithm.upper() != "LZ4":
            raise self.wrong("algorithm", "expected 'LZ4'")
        if len(self.sequence_axis_name) != 1:
            raise self.wrong("sequence_axis_name", "expected one letter")
