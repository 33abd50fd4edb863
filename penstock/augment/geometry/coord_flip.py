"""``fn.coord_flip``: points and vectors mirrored."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("coord_flip", devices=["cpu", "gpu"])
class CoordFlip(Op):
    """Mirrors points: along each axis that is flipped, a coordinate x becomes ``2 * center - x``.

    With the default centers these are points in shares of a picture's width, height and depth, from 0 to 1, and they
    move as ``fn.flip`` moves the pixels; with all centers 0, vectors.

    Input: FLOAT of shape ``(points, coordinates)``, of up to three coordinates. Output: the same shape, type and
    layout.

    Errors: ArgumentError for a ``layout`` of other letters than x, y and z, or with one of them twice (DALI takes the
    first one); OperatorError for other types and shapes, and where ``layout`` lacks a coordinate that the points have.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     points = types.Constant(np.float32([[0.25, 0.5], [1, 0]]))
        ...     return fn.coord_flip(points), fn.coord_flip(points, flip_x=0, flip_y=1, center_y=0.0)
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[0.75, 0.5], [0.0, 0.0]], [[0.25, -0.5], [1.0, 0.0]]]
    """

    layout = arg(
        "", "What the coordinates are, as letters x, y and z. Default: as many of 'xyz' as there are.", kind="layout"
    )
    flip_x = arg(1, "Whether to flip left to right: 0 or another number.", per_sample=True)
    flip_y = arg(0, "Whether to flip top to bottom: 0 or another number.", per_sample=True)
    flip_z = arg(0, "Whether to flip front to back: 0 or another number.", per_sample=True)
    center_x = arg(0.5, "Where x stays the same.", per_sample=True)
    center_y = arg(0.5, "Where y stays the same.", per_sample=True)
    center_z = arg(0.5, "Where z stays the same.", per_sample=True)

    def prepare(self) -> None:
        if not set(self.layout) <= set("xyz") or len(set(self.layout)) < len(self.layout):
            raise self.wrong("layout", "expected the letters x, y and z, each once at most")
