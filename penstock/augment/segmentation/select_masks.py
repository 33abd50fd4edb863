"""``fn.segmentation.select_masks``: the polygons of some masks."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("segmentation.select_masks", kernel="segmentation_select_masks", inputs=3)
class SelectMasks(Op):
    """Keeps the polygons of some masks, in the order in which these are named, and the vertices that they need.

    Inputs: ``mask_ids``, INT32, a list of masks; ``polygons``, INT32 of shape ``(polygons, 3)``: a mask, the polygon's
    first vertex, and the first one behind it; ``vertices``, of any type, of shape ``(vertices, coordinates)``. Outputs:
    polygons and vertices, as the inputs have them, without layouts.

    A mask may have several polygons; they are all kept, in their order. (DALI keeps the last one of each mask.)

    Errors: OperatorError for other types and shapes, for masks that have no polygon or are named twice, and for
    polygons of these masks whose vertices are not there.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     polygons = np.int32([[7, 0, 2], [8, 2, 3], [9, 3, 5]])
        ...     vertices = np.float32([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]])
        ...     return tuple(fn.segmentation.select_masks(np.int32([9, 8]), polygons, vertices))
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[9, 0, 2], [8, 2, 3]], [[3.0, 3.0], [4.0, 4.0], [2.0, 2.0]]]
    """

    setup_reads = (0, 1)

    reindex_masks = arg(False, "Whether masks are called by their places in `mask_ids` then.")

    def num_outputs(self) -> int:
        return 2
