"""``fn.batch_permutation``: random indices of a batch's samples."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("batch_permutation", inputs=0)
class BatchPermutation(Op):
    """Draws a permutation of the batch: which sample each one becomes, as ``fn.permute_batch`` takes it.

    Any permutation, and with ``no_fixed_points`` any of those that move all samples, is as likely as another.

    No input. Output: INT32, a single number for each sample, from 0 to the number of samples in the batch less one. The
    numbers depend on the seed, the operator, the batch's first sample, its epoch and the number of samples: other batch
    sizes give other permutations.

    Errors: none of its own.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.batch_permutation(), fn.batch_permutation(no_fixed_points=True)
        >>> any_order, moved = (output.as_array() for output in pipeline().run())
        >>> sorted(any_order.tolist()), bool((moved != np.arange(4)).all())
        ([0, 1, 2, 3], True)
    """

    random = True

    allow_repetitions = arg(
        False, "Whether each number is drawn by itself, so that samples may come several times, or not at all."
    )
    no_fixed_points = arg(
        False, "Whether no sample may stay where it is; a batch of a single sample is left as it is even so."
    )
