"""Windows that are drawn."""

from __future__ import annotations

from penstock.op import Op, arg


class RandomCropArgs(Op):
    """How random windows are drawn."""

    random = True

    random_area = arg(
        [0.08, 1.0],
        "Least and largest area of the window, as shares of the picture's; 0: one pixel.",
        aka=["scale", "area"],
    )
    random_aspect_ratio = arg(
        [3 / 4, 4 / 3],
        "Least and largest width / height of the window. Those of 0 and below stand for windows one pixel wide, ranges "
        "from there up for windows one pixel high.",
        aka=["ratio", "aspect_ratio"],
    )
    num_attempts = arg(10, "How often a window may be drawn that does not fit.", aka=["attempts", "max_attempts"])

    def prepare(self) -> None:
        super().prepare()
        for name in ("random_area", "random_aspect_ratio"):
            values = getattr(self, name)
            if len(values) not in (1, 2) or not values[0] <= values[-1]:
                raise self.wrong(name, "expected the least and the largest value")
