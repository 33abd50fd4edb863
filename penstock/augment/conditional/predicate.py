"""The argument of conditionals' operators."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg


class Predicate(Op):
    """Base of what goes by a truth value per sample."""

    predicate = arg(
        REQUIRED, "A node with one BOOL per sample, without axes.", kind="boolean", per_sample=True, aka=["condition"]
    )

    def prepare(self) -> None:
        if "predicate" not in self.tensors:
            raise self.wrong("predicate", "expected a node with one truth value per sample")
