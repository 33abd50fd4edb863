"""``fn.grid_mask``: squares of a grid made black."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("grid_mask", contract="pixel", devices=("cpu", "gpu"))
class GridMask(Op):
    """Makes squares of pictures black that lie in a grid: GridMask, https://arxiv.org/abs/2001.04086.

    The grid has a square in each of its tiles, which is ``ratio`` as wide as the tile; it is turned about the first
    pixel by ``angle`` and then moved by ``shift_x`` and ``shift_y``.

    Input: a tensor of any numeric type. Of two or three axes the first two are height and width, whatever the layout
    says (so a CHW picture is seen as DALI sees it, with as many rows as channels); of more, those that the layout names
    so (FHWC without one). Output: the same shape, layout and type.

    Errors: OperatorError for less than two axes, for more without height and width next to each other, and for a
    ``tile`` below 1.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.grid_mask(types.Constant(np.uint8([[[1], [2], [3]], [[4], [5], [6]]])), tile=2, ratio=0.5)
        >>> pipeline().run()[0].at(0)[..., 0].tolist()
        [[0, 2, 0], [4, 5, 6]]
    """

    tile = arg(100, "Width of a tile in pixels: of a black square and what is between it and the next.",
               per_sample=True)  # fmt: skip
    ratio = arg(0.5, "Width of the black squares, as a share of the tile's.", per_sample=True)
    angle = arg(0.0, "By how much the grid is turned, in radians.", per_sample=True)
    shift_x = arg(0.0, "By how many pixels the grid is moved to the right.", per_sample=True)
    shift_y = arg(0.0, "By how many pixels the grid is moved down.", per_sample=True)
