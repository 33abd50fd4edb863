"""``fn._conditional.split``: samples that take one branch or the other."""

from __future__ import annotations

from penstock.augment.conditional.predicate import Predicate
from penstock.op import arg, op


@op("_conditional.split", kernel="split", devices=["cpu", "gpu"])
class Split(Predicate):
    """Divides a batch by a truth value per sample.

    What is made of one of the outputs exists for its samples only: operators run on these alone, as on a smaller batch,
    and what else they read may be of the whole batch, of which they take these samples. Random numbers are those that
    the same samples would have in the whole batch. `fn._conditional.merge` makes a batch of both branches again.

    Input: any tensor. Outputs, a list: the samples for which ``predicate`` is true, and those for which it is false, in
    their order. Nothing is copied.

    Errors: GraphError where an operator reads from both branches; OperatorError if the predicate is no BOOL, or not one
    value.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     x = fn.external_source(lambda: np.int32([3, -1, 4, -5]))
        ...     p = x > 0
        ...     positive, negative = fn._conditional.split(x, predicate=p)
        ...     return positive, fn._conditional.merge(positive * 10, -negative, predicate=p)
        >>> positive, merged = pipeline().run()
        >>> positive.as_array().tolist(), merged.as_array().tolist()
        ([3, 4], [30, 1, 40, 5])
    """

    alias = True
    splits = True

    if_stmt = arg(False, "", name="_if_stmt", unused="only messages of DALI's depend on it")

    def num_outputs(self) -> int:
        return 2
