"""``fn._conditional.merge``: samples of two branches as one batch."""

from __future__ import annotations

from penstock.augment.conditional.predicate import Predicate
from penstock.op import op


@op("_conditional.merge", kernel="merge", devices=["cpu", "gpu"], inputs=2)
class Merge(Predicate):
    """Puts the samples of two branches together again, see `fn._conditional.split`.

    Inputs: the samples for which ``predicate`` is true, and those for which it is false; of one of them that has more
    samples, such as the whole batch, it takes these. Both are of one type, number of axes and layout. Output: a copy,
    of all samples that the predicate has, in their order.

    Errors: GraphError if an input is of another branch (split and merge need the same node as predicate);
    InputError if types, numbers of axes or layouts differ.

    Example:
        >>> @pipeline_def(batch_size=3, num_threads=1, device_id=None)
        ... def pipeline():
        ...     x = fn.external_source(lambda: np.int32([3, -1, 4]))
        ...     return fn._conditional.merge(x, types.Constant(0), predicate=x > 0)
        >>> pipeline().run()[0].as_array().tolist()
        [3, 0, 4]
    """

    merges = True
