"""``fn.tensor_resize``: tensors of other extents."""

from __future__ import annotations

from penstock.arguments.resample import ExtentArgs, ResampleArgs
from penstock.op import arg, op


@op(
    "tensor_resize",
    contract="sampler",
    devices=["cpu", "gpu"],
    legacy=["experimental.tensor_resize"],
)
class TensorResize(ExtentArgs, ResampleArgs):
    """Resizes tensors along any axes, as `resize` does pictures.

    Input: uint8, int16, uint16 or float32, of one axis at least. Axes which keep their extent count for nothing; of the
    others three may be resized, next to each other or with one between that stays.

    Output: the same axes and layout, of the same type, or float32 with ``dtype=types.FLOAT``. Integers are rounded to
    the nearest and saturate.

    Positions are in elements; the centre of the first one is at 0.5. Extents are at least 1; an empty axis stays empty.

    Errors: ArgumentError unless exactly one of ``sizes`` and ``scales`` is given; OperatorError for other types, axes
    that are not there or named twice, and axes too far apart.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.tensor_resize(np.float32([[0, 4], [8, 12]]), scales=[2], axes=[1])
        >>> pipeline().run()[0].at(0).tolist()
        [[0.0, 1.0, 3.0, 4.0], [8.0, 9.0, 11.0, 12.0]]
    """

    sizes = arg(
        None,
        "Extents of the output, one for each of the axes, or one for all. 0: not given. Below 0: mirrored along that "
        "axis. Fractions are allowed, see `subpixel_scale`.",
        kind="numbers",
        per_sample=True,
        only_given=True,
    )
    scales = arg(
        None,
        "Instead of sizes: factors of the input's extents (whatever the region is).",
        kind="numbers",
        per_sample=True,
        only_given=True,
    )
    axes = arg(
        None, "The axes that sizes, scales, limits and regions are of; negative: from the end. All by default.",
        kind="integers",
    )  # fmt: skip
    axis_names = arg(None, "Instead of `axes`: their letters in the layout.", kind="layout")
    alignment = arg(
        [0.5],
        "Which point of the region keeps its place when an extent is rounded, as a share of the region: 0 its begin, "
        "1 its end; one for each of the axes, or one for all of them. Where it is given, it is 0 for the others.",
        per_sample=True,
        only_given=True,
    )
    size_rounding = arg(
        "round", "How extents become whole: to the nearest, down or up.", choices=["round", "truncate", "ceil"]
    )

    def prepare(self) -> None:
        super().prepare()
        if len({"sizes", "scales"} & self.given) != 1:
            raise self.wrong("sizes", "give either sizes or scales")
        if {"axes", "axis_names"} <= self.given:
            raise self.wrong("axes", "cannot be given together with axis_names")
        if "scales" in self.given and self.mode in ("not_larger", "not_smaller"):
            raise self.wrong("mode", "cannot be given together with scales")
