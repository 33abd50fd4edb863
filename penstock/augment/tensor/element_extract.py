"""``fn.element_extract``: some frames of a sequence."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("element_extract", devices=["cpu", "gpu"])
class ElementExtract(Op):
    """Takes elements out of a sequence, frames of a video say; each is an output.

    Input: a tensor of any type with one axis or more; its layout, if it has one, begins with "F".
    Outputs: for each number in ``element_map`` the element at that place along the first axis, without that axis.
    A list of outputs, or where there is one number, that output.

    Errors: ArgumentError if ``element_map`` is empty or has negative numbers; OperatorError if a sequence is too short,
    or its layout is not a sequence's.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     video = types.Constant(np.zeros((8, 4, 6, 3), np.uint8), layout="FHWC")
        ...     first, last = fn.element_extract(video, element_map=[0, 7])
        ...     return first, last
        >>> first, last = pipeline().run()
        >>> first.at(0).shape, first.layout()
        ((4, 6, 3), 'HWC')
    """

    element_map = arg(REQUIRED, "The elements' places, from 0. One may be there several times.", kind="integers")

    def prepare(self) -> None:
        if not self.element_map or min(self.element_map) < 0:
            raise self.wrong("element_map", "expected one or more numbers from 0")

    def num_outputs(self) -> int:
        return len(self.element_map)
