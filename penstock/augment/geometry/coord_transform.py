"""``fn.coord_transform``: points under an affine map."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, op


@op("coord_transform", devices=["cpu", "gpu"])
class CoordTransform(Op):
    """Transforms points: each becomes ``M @ point + T``, in float32.

    Input: UINT8, UINT16, INT16, INT32 or FLOAT (without any points, whatever type), with at least two axes; the last
    one holds the coordinates of a point. A matrix may change how many there are. Output: the same layout, of type
    ``dtype``; integers are rounded half away from zero and saturate. Without points, there are as many coordinates as
    with them (DALI has none).

    Errors: ArgumentError for ``MT`` together with ``M`` or ``T``; OperatorError for other types, and for numbers of
    values that do not fit the coordinates.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     points = types.Constant(np.float32([[1, 2], [3, 4]]))
        ...     return fn.coord_transform(points, M=[0, 1, 1, 0], T=[10, 20]), fn.coord_transform(points, MT=[1, 1, 5])
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[12.0, 21.0], [14.0, 23.0]], [[8.0], [12.0]]]
    """

    M = arg(
        None,
        "The matrix, row by row, as many columns as points have coordinates; one number: that times the identity. "
        "Default: the identity.",
        kind="numbers",
        per_sample=True,
    )
    T = arg(None, "Added at last: one number, or one for each row of the matrix.", kind="numbers", per_sample=True)
    MT = arg(None, "Both at once: the matrix with T as its last column.", kind="numbers", per_sample=True)
    dtype = arg(types.FLOAT, "Type of the output: FLOAT, or the input's.")

    def prepare(self) -> None:
        super().prepare()
        if "MT" in self.given and self.given & {"M", "T"}:
            raise self.wrong("MT", "cannot be given together with M or T")
