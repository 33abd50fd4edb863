"""``fn.permute_batch``: the samples of a batch in another order."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("permute_batch", devices=["cpu", "gpu"])
class PermuteBatch(Op):
    """Puts the samples of a batch into another order; samples may be left out, and others come several times.

    Nothing is copied: outputs show the memory of the samples that they are.

    Input: a tensor of any shape, layout and type. Output: sample ``i`` is the input's sample ``indices[i]``.

    Errors: OperatorError if an index is no number of a sample, or if there are not as many as samples.

    Example:
        >>> @pipeline_def(batch_size=3, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = fn.external_source(source=lambda: np.int32([[10], [20], [30]]))
        ...     return fn.permute_batch(numbers, indices=[2, 0, 0])
        >>> [sample.item() for sample in pipeline().run()[0].as_array()]
        [30, 10, 10]
    """

    alias = True
    batchwise = True

    indices = arg(
        REQUIRED,
        "Which sample of the input each one of the output is, from 0: a list as long as the batch, or a node with one "
        "index per sample.",
        kind="integers",
        per_sample=True,
    )
