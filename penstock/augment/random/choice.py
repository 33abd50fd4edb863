"""``fn.random.choice``: rows of a tensor, drawn with replacement."""

from __future__ import annotations

from penstock.augment.random.base import RandomOp
from penstock.op import arg, op


@op("random.choice", kernel="random_choice", inputs=(1, 2))
class Choice(RandomOp):
    """Draws elements of a list, or rows of a tensor (slices along its first axis), each from all of them.

    Inputs: the list or tensor, or a whole number n that stands for 0 to n - 1; optionally, a tensor whose shape
    ``shape`` gets. Output: the input's type; ``shape``, followed by the shape of a row. It has the input's layout if
    ``shape`` has one element, and the layout of a row if there is no ``shape``.

    Errors: OperatorError if there is nothing to choose from, for a single number that is not whole, for probabilities
    that are not from 0 to 1, are too few or too many, or do not add up to 1.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.random.choice([10, 20, 30], p=[0.0, 1.0, 0.0], shape=[4])
        >>> pipeline().run()[0].at(0).tolist()
        [20, 20, 20, 20]
    """

    metadata_inputs = (1,)

    p = arg(
        None,
        "Probability of each element, adding up to 1, or one number for each of them. Default: all the same.",
        kind="numbers",
        per_sample=True,
    )
