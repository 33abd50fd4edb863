"""``fn.transforms``: affine transforms, made and put together; for `warp_affine` and `coord_transform`."""

from __future__ import annotations

from typing import Any

from penstock.op import REQUIRED, Op, arg, op


def center() -> Any:
    return arg(None, "The point that stays where it is; default: the origin.", kind="numbers", per_sample=True)


class TransformArgs(Op):
    """What all of them have."""

    reverse_order = arg(False, "Whether the new transform comes before the input, not after it.")


@op("transforms.translation", inputs=(0, 1), legacy=["transform_translation"])
class Translation(TransformArgs):
    """Makes a translation, or adds one to a transform.

    Input: optionally a transform, FLOAT of shape ``(n, n + 1)``, which comes first. Output: one of the same kind, n
    being the number of axes (1 to 6); its last column is the offset. Arguments per frame (layout F...) give a transform
    for each frame.

    Of all transforms with an input: infinities and not-a-number reach those elements only that are computed from them.
    DALI multiplies the offset of the transform that comes last by the zeros of the other's last row, too, which makes
    whole rows not-a-number.

    Errors: OperatorError where the axes of input and arguments differ.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.transforms.translation(offset=[5, -3])
        >>> pipeline().run()[0].at(0).tolist()
        [[1.0, 0.0, 5.0], [0.0, 1.0, -3.0]]
    """

    offset = arg(REQUIRED, "How far along each axis.", kind="numbers", per_sample=True)


@op("transforms.scale", inputs=(0, 1))
class Scale(TransformArgs):
    """Makes a scaling, or adds one to a transform.

    Input, output and infinities: as `transforms.translation`'s. One factor without an input and without ``ndim`` is a
    transform of one axis.

    Errors: OperatorError where the axes of input and arguments differ.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.transforms.scale(scale=[2, 4], center=[1, 1])
        >>> pipeline().run()[0].at(0).tolist()
        [[2.0, 0.0, -1.0], [0.0, 4.0, -3.0]]
    """

    scale = arg(REQUIRED, "The factor of each axis, or one for all.", kind="numbers", per_sample=True)
    center = center()
    ndim = arg(None, "How many axes, where there is one factor for all and no input.", kind="integer")

    def prepare(self) -> None:
        super().prepare()
        if self.ndim is not None and self.ndim > 6:
            raise self.wrong("ndim", "expected 1 to 6, or less for what the other arguments tell")


@op("transforms.rotation", inputs=(0, 1))
class Rotation(TransformArgs):
    """Makes a rotation, or adds one to a transform: of the plane, or with ``axis`` of space.

    Input, output and infinities: as `transforms.translation`'s, of two or three axes.

    Errors: OperatorError where the axes of input and arguments differ, and for an axis without a direction (DALI then
    makes a matrix that is not a number).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.transforms.rotation(angle=90, center=[2, 1])
        >>> pipeline().run()[0].at(0).round(3).tolist()
        [[-0.0, -1.0, 3.0], [1.0, -0.0, -1.0]]
    """

    angle = arg(REQUIRED, "Degrees, from the first axis towards the second.", kind="number", per_sample=True)
    axis = arg(
        None, "Of space: the direction (x, y, z) turned about, of any length but 0.", kind="numbers", per_sample=True
    )
    center = center()


@op("transforms.shear", inputs=(0, 1))
class Shear(TransformArgs):
    """Makes a shear, or adds one to a transform: each axis gets shares of the others added.

    Two numbers are ``[xy, yx]``: x gets ``xy * y`` added. Six are those of space: ``[xy, xz, yx, yz, zx, zy]``.

    Input, output and infinities: as `transforms.translation`'s, of two or three axes.

    Errors: ArgumentError unless one of ``shear`` and ``angles`` is given; OperatorError for other numbers of values,
    for angles beyond 90 degrees and where the axes of input and arguments differ.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.transforms.shear(shear=[0.5, 0])
        >>> pipeline().run()[0].at(0).tolist()
        [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0]]
    """

    shear = arg(None, "The shares: 2 numbers, or 6.", kind="numbers", per_sample=True)
    angles = arg(None, "Instead: degrees, whose tangents are the shares, from -90 to 90.", kind="numbers",
                 per_sample=True)  # fmt: skip
    center = center()

    def prepare(self) -> None:
        super().prepare()
        if len(self.given & {"shear", "angles"}) != 1:
            raise self.wrong("shear", "give either shear or angles")


@op("transforms.crop", inputs=(0, 1))
class Crop(TransformArgs):
    """Makes a transform that maps one box to another, or adds one to a transform.

    Input, output and infinities: as `transforms.translation`'s. Each argument is one number for all axes, or one for
    each. A box without an extent is mapped by an infinite factor, which leaves zeros of the input zero.

    Errors: OperatorError where the axes of input and arguments differ.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.transforms.crop(from_start=[1, 2], from_end=[3, 3], to_end=4)
        >>> pipeline().run()[0].at(0).tolist()
        [[2.0, 0.0, -2.0], [0.0, 4.0, -8.0]]
    """

    from_start = arg([0.0], "Where the box that is mapped begins.", per_sample=True)
    from_end = arg([1.0], "Where it ends.", per_sample=True)
    to_start = arg([0.0], "Where the box that it becomes begins.", per_sample=True)
    to_end = arg([1.0], "Where that ends.", per_sample=True)
    absolute = arg(False, "Whether begin and end change places where the end is less, so that nothing is mirrored.")


@op("transforms.combine", inputs=(2, 99))
class Combine(Op):
    """Combines transforms to one that does what they do one after the other.

    Inputs: transforms, FLOAT of shape ``(n, n + 1)`` each. Output: one of the same kind; the first input comes first.
    Infinities and not-a-number reach those elements only that are computed from them; DALI multiplies them by the zeros
    of the matrices' last row, too, which makes whole rows not-a-number.

    Errors: OperatorError for other shapes and types, and where the numbers of axes differ.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     double = fn.transforms.scale(scale=[2, 2])
        ...     move = fn.transforms.translation(offset=[1, 0])
        ...     return fn.transforms.combine(double, move), fn.transforms.combine(move, double)
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[2.0, 0.0, 1.0], [0.0, 2.0, 0.0]], [[2.0, 0.0, 2.0], [0.0, 2.0, 0.0]]]
    """

    reverse_order = arg(False, "Whether the last input comes first.")
