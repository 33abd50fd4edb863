"""What `cat` and `stack` have in common."""

from __future__ import annotations

from penstock.op import Op, arg

MOST_INPUTS = 999  # DALI's


class JoinArgs(Op):
    """Along which axis."""

    axis = arg(0, "The axis; negative numbers count from the end.")
    axis_name = arg("", "Its letter in the layout.")

    def prepare(self) -> None:
        if "axis_name" in self.given and len(self.axis_name) != 1:
            raise self.wrong("axis_name", "expected one letter")
