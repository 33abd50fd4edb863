"""A window by its start and its end."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg


class SliceWindowArgs(Op):
    """A window by start and end or size, along some axes (native/ops/arguments/slice_window.h).

    Instead of the arguments, two more inputs may be given, anchor and shape, with one value per axis: whole numbers
    count elements, floats are shares of the extent unless ``normalized_anchor`` or ``normalized_shape`` is False.
    """

    setup_reads = (1, 2)
    cpu_inputs = (1, 2)

    start = arg(None, "First elements, one for each axis.", kind="integers", per_sample=True, aka=["begin", "anchor"])
    end = arg(None, "Elements behind the last ones.", kind="integers", per_sample=True, aka=["stop"])
    shape = arg(None, "Numbers of elements.", kind="integers", per_sample=True)
    rel_start = arg(None, "First elements, as shares of the extents.", kind="numbers", per_sample=True)
    rel_end = arg(None, "Elements behind the last ones, as shares of the extents.", kind="numbers", per_sample=True)
    rel_shape = arg(None, "Numbers of elements, as shares of the extents.", kind="numbers", per_sample=True)
    axes = arg(
        [1, 0], "The axes by number, in the order of the other arguments; none: all.", per_sample=True, only_given=True
    )
    axis_names = arg(
        "WH",
        "The axes by their names in the layout (without one: HW, HWC, DHWC), unless `axes` is given.",
        kind="layout",
    )
    normalized_anchor = arg(True, "Whether an input `anchor` of floats is a share of the extents.")
    normalized_shape = arg(True, "Whether an input `shape` of floats is a share of the extents.")

    def prepare(self) -> None:
        super().prepare()
        for group in (("start", "rel_start"), ("end", "rel_end", "shape", "rel_shape"), ("axes", "axis_names")):
            both = [name for name in group if name in self.given]
            if len(both) > 1:
                raise self.wrong(both[0], f"cannot be given together with {' and '.join(both[1:])}")

    def kernel_arguments(self) -> dict[str, Any]:
        found = super().kernel_arguments()
        if "axes" in self.given:
            found["axis_names"] = None
        return found
